/**
 * Which area may import which, read from the table of ARCHITECTURE.md. Describes a forbidden import in a sentence.
 * Only rules that a table cannot express (packages, implementations) are written here.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { areaOf } from './source.ts'

const root = join(import.meta.dirname, '../..')

/** The areas that an area may import besides itself; `*` means all. */
type ImportLaw = ReadonlyMap<string, readonly string[]>

/** Forbidden imports that one place needs, each with its reason. */
export const exceptions: readonly {
  readonly from: string
  readonly to: string
  readonly why: string
}[] = [
  {
    from: 'src/cli/commands/serve.ts',
    to: 'src/main.ts',
    why: 'the one command that is the server',
  },
  {
    from: 'src/providers/index.ts',
    to: 'src/stores/store.ts',
    why: 'it lists the tables of the providers that own some',
  },
]

export function readImportLaw(
  page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
): ImportLaw {
  const kinds = readdirSync(join(root, 'src/engines')).map((kind) => `engines/${kind}`)
  const expand = (name: string): readonly string[] =>
    name === 'engines/<kind>' ? kinds : [name === 'providers/<provider>' ? 'providers' : name]
  const law = new Map<string, readonly string[]>()
  const table = page.slice(page.indexOf('| area '), page.indexOf('\n\n', page.indexOf('| area ')))
  for (const line of table.split('\n').slice(2)) {
    const [, areas = '', grants = ''] = line.split('|')
    const granted = grants.trim() === 'everything' ? ['*'] : namesIn(grants).flatMap(expand)
    for (const area of namesIn(areas).flatMap(expand)) {
      // An implementation is part of its engine's area. The rule on implementations is below.
      if (area !== 'engines/<kind>/<implementation>') law.set(area, granted)
    }
  }
  return law
}

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

/** What is wrong with this import, or nothing. */
export function importFault(law: ImportLaw, from: string, specifier: string): string | undefined {
  const area = areaOf(from)
  const provider = providerOf(from)
  const allowed =
    (provider === undefined ? undefined : law.get(`providers/${provider}`)) ?? law.get(area)
  if (allowed === undefined) return `${from}: the area '${area}' has no row in ARCHITECTURE.md`
  if (allowed.includes('*')) return undefined
  const isLocal = specifier.startsWith('.') || specifier.startsWith('#')
  if (!isLocal) return packageFault(from, area, specifier)
  const path = resolveImport(from, specifier)
  if (exceptions.some((one) => one.from === from && one.to === path)) return undefined
  const target = areaOf(path)
  const fault = implementationFault(from, path) ?? providerFault(from, path)
  if (fault !== undefined) return fault
  if (target !== area && !allowed.includes(target)) {
    return `${from} (${area}) may not import ${specifier} (${target}): ${area} may import ${allowed.join(', ') || 'nothing'}`
  }
  const crosses = target.split('/')[0] !== area.split('/')[0]
  return crosses && !specifier.startsWith('#') && target !== 'config'
    ? `${from} crosses into ${target} by a relative path; write #${target}/…`
    : undefined
}

function packageFault(from: string, area: string, specifier: string): string | undefined {
  if (area === 'kernel' && specifier !== 'typebox') {
    return `${from}: the kernel imports nothing from outside but TypeBox, not ${specifier}`
  }
  if (area === 'query' && specifier !== 'kysely') {
    return `${from}: of packages the query layer knows Kysely alone, not ${specifier}`
  }
  if (area !== 'query' && specifier === 'kysely') {
    return `${from}: statements are composed by the area query, which alone knows Kysely`
  }
  if (area === 'template') {
    return `${from}: the template language is pure: no package and nothing of Node, so not ${specifier}`
  }
  if (area === 'client' && specifier.startsWith('node:')) {
    return `${from}: the client runs wherever fetch does, so it may not import ${specifier}`
  }
  if (area === 'stores' && ['pg', 'node:sqlite'].includes(specifier)) {
    return `${from}: the store port knows no driver; ${specifier} belongs to a dialect's folder`
  }
  return undefined
}

/** Only `main` may import an implementation, and implementations may not import each other. */
function implementationFault(from: string, path: string): string | undefined {
  const named = implementationOf(path)
  if (named === undefined) return undefined
  if (!from.startsWith('src/engines/')) {
    return `${from} names ${named}: an implementation is named by main alone; use the port of the engine`
  }
  // Copies have one implementation, composed of the connectors in these folders.
  if (path.startsWith('src/engines/copy/') && from.startsWith('src/engines/copy/')) return undefined
  const own = implementationOf(from)
  if (own === undefined) return `${from} names ${named}: a port does not know who implements it`
  return own === named
    ? undefined
    : `${from} (${own}) names ${named}: implementations of an engine do not see each other`
}

function providerFault(from: string, path: string): string | undefined {
  const own = providerOf(from)
  const other = providerOf(path)
  return own === undefined || other === undefined || own === other
    ? undefined
    : `${from} imports the provider '${other}': ask the plane for the resource instead`
}

/** `containers/docker` for a file of an engine's implementation, which is a folder below the engine's port. */
function implementationOf(path: string): string | undefined {
  return /^src\/engines\/([a-z]+\/[a-z-]+)\//.exec(path)?.[1]
}

function providerOf(path: string): string | undefined {
  return /^src\/providers\/([a-z-]+)\//.exec(path)?.[1]
}

export function resolveImport(from: string, specifier: string): string {
  if (specifier.startsWith('#')) return `src/${specifier.slice(1)}`
  return new URL(specifier, `file:///${from}`).pathname.slice(1)
}
