/** Makes a provider, a resource type or a version: files from `templates.ts`, and a line in each table that lists it. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Names, providerFiles, resourceFiles, versionTest } from './templates.ts'

/** What was asked for cannot be made; the message says why. */
export class UsageError extends Error {}

interface Made {
  /** Files, from the root of the repository. */
  readonly made: readonly string[]
  /** What its author does now. */
  readonly next: string
}

const usage = `npm run new -- provider <Namespace>
npm run new -- resource <provider's folder> <types, in camel case> <version>
npm run new -- resource <provider's folder> <types of the parent>/<types> <version>
npm run new -- version <provider's folder> <types, in camel case> <version>`

export function makeNew(root: string, [what, ...words]: readonly string[]): Made {
  switch (what) {
    case 'provider':
      return makeProvider(root, words)
    case 'resource':
      return makeResource(root, words)
    case 'version':
      return makeVersion(root, words)
    default:
      throw new UsageError(usage)
  }
}

function makeProvider(root: string, [namespace]: readonly string[]): Made {
  if (namespace === undefined) throw new UsageError(usage)
  if (!/^[A-Z][A-Za-z]+$/.test(namespace)) {
    throw new UsageError(
      `${namespace}: a namespace has letters alone, the first in upper case, without the vendor word.`,
    )
  }
  const folder = kebab(namespace)
  const place = `src/providers/${folder}`
  if (existsSync(join(root, place))) throw new UsageError(`${place} is there already.`)
  const made = writeFiles(
    root,
    providerFiles({ namespace, folder, provider: `${camel(folder)}Provider` }),
  )
  const index = 'src/providers/index.ts'
  edit(root, index, (text) =>
    addTo(
      addImport(text, `import { ${camel(folder)}Provider } from './${folder}/provider.ts'`),
      /\n {2}const served: readonly Provider\[\] = \[\n/,
      `    ${camel(folder)}Provider(),\n`,
      index,
    ),
  )
  return {
    made: [...made, index],
    next: `Now a type: npm run new -- resource ${folder} <types> <version>. ${place}/README.md says what is done.`,
  }
}

function makeResource(root: string, words: readonly string[]): Made {
  const names = namesOf(root, words)
  const place = `src/providers/${names.folder}/resources/${names.type}`
  if (existsSync(join(root, place))) throw new UsageError(`${place} is there already.`)
  const made = writeFiles(root, resourceFiles(names))
  const provider = `src/providers/${names.folder}/provider.ts`
  edit(root, provider, (text) =>
    addTo(
      addImport(text, `import { ${names.types} } from './resources/${names.type}/resource.ts'`),
      /\btypes: \[/,
      `${names.types}(), `,
      provider,
    ),
  )
  return { made: [...made, provider], next: afterwards(names, true) }
}

function makeVersion(root: string, words: readonly string[]): Made {
  const names = namesOf(root, words)
  const place = `src/providers/${names.folder}/resources/${names.type}`
  const folder = join(root, place, 'versions')
  const resource = `${place}/resource.ts`
  if (!existsSync(join(root, resource))) {
    throw new UsageError(`${place} is not there; make the type first.`)
  }
  if (!existsSync(folder)) {
    throw new UsageError(`${resource} holds its versions itself: add ${names.date} there by hand.`)
  }
  const newest = readdirSync(folder)
    .filter((file) => /^\d{4}-\d{2}-\d{2}(?:-preview)?\.ts$/.test(file))
    .toSorted()
    .at(-1)
    ?.replace(/\.ts$/, '')
  if (newest === undefined) throw new UsageError(`${place}/versions has no version to begin with.`)
  const path = `${place}/versions/${names.date}.ts`
  if (existsSync(join(root, path))) throw new UsageError(`${path} is there already.`)
  const [before, after] = [constantOf(newest), constantOf(names.date)]
  const text = readFileSync(join(folder, `${newest}.ts`), 'utf8')
  if (!text.includes(before)) {
    throw new UsageError(
      `The versions of this type share one shape, and \`versions\` in ${resource} lists their dates. ` +
        `If ${names.date} has that shape, add it to that list; if not, write ${path} and add it beside the list.`,
    )
  }
  // A shape that is made by a function has a test of its own kind.
  const hasTest = text.includes(`export const ${before}`)
  const made = writeFiles(
    root,
    new Map([
      [path, text.replaceAll(before, after).replaceAll(newest, names.date)],
      ...(hasTest
        ? [[`${place}/versions/${names.date}.test.ts`, versionTest(names)] as const]
        : []),
    ]),
  )
  edit(root, resource, (source) => {
    const entry = new RegExp(`versions: \\[[^\\]]*?\\b${before}(\\([^)]*\\))?`)
    const call = entry.exec(source)?.[1] ?? ''
    return addTo(
      addImport(source, `import { ${after} } from './versions/${names.date}.ts'`),
      entry,
      `, ${after}${call}`,
      resource,
    )
  })
  return { made: [...made, resource], next: afterwards(names, hasTest) }
}

function afterwards({ folder, type, date }: Names, hasTest: boolean): string {
  const place = `src/providers/${folder}/resources/${type}/versions`
  return [
    hasTest
      ? `Write the shape of ${date} and its test (${place}/${date}.test.ts fails until then).`
      : `Write the shape of ${date} in ${place}/${date}.ts, and a test of it.`,
    'Then: npm run fix && npm run generate && npm run freeze, and a line in the README of the provider.',
  ].join('\n')
}

function namesOf(root: string, [folder, path, date]: readonly string[]): Names {
  if (folder === undefined || path === undefined || date === undefined) throw new UsageError(usage)
  const [types = '', ...parents] = path.split('/').reverse()
  if (!/^(?:[a-z][A-Za-z]+\/)*[a-z][A-Za-z]+$/.test(path)) {
    throw new UsageError(
      `${path}: types are written in camel case, not as their folder: ${camel(path)}.`,
    )
  }
  if (!/^\d{4}-\d{2}-\d{2}(?:-preview)?$/.test(date)) {
    throw new UsageError(`${date}: a version is a date, such as 2026-01-01 or 2026-01-01-preview.`)
  }
  const provider = join(root, 'src/providers', folder, 'provider.ts')
  if (!existsSync(provider)) throw new UsageError(`src/providers/${folder} is no provider.`)
  const namespace = /namespace: '(\w+)'/.exec(readFileSync(provider, 'utf8'))?.[1]
  if (namespace === undefined) throw new UsageError(`${provider} names no namespace.`)
  const isNested = parents.length > 0
  const type = kebab(types)
  return { folder, namespace, path, isNested, types, type, date, constant: constantOf(date) }
}

/** `2026-01-01-preview` as `v2026_01_01_preview`. */
function constantOf(date: string): string {
  return `v${date.replaceAll('-', '_')}`
}

function kebab(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}

function writeFiles(root: string, files: ReadonlyMap<string, string>): readonly string[] {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return [...files.keys()]
}

function edit(root: string, path: string, change: (text: string) => string): void {
  writeFileSync(join(root, path), change(readFileSync(join(root, path), 'utf8')))
}

/** After the last import; `npm run fix` puts it in order. */
function addImport(text: string, line: string): string {
  const last = [...text.matchAll(/^import [\s\S]*?from '[^']+'\n/gm)].at(-1)
  const at = last === undefined ? 0 : last.index + last[0].length
  return `${text.slice(0, at)}${line}\n${text.slice(at)}`
}

function addTo(text: string, before: RegExp, insertion: string, path: string): string {
  const found = before.exec(text)
  if (found === null)
    throw new UsageError(`${path} has another form than others: add ${insertion.trim()} by hand.`)
  const at = found.index + found[0].length
  return `${text.slice(0, at)}${insertion}${text.slice(at)}`
}
