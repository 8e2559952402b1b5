/**
 * The import law: which area may import which. The table below is the one in ARCHITECTURE.md; a broken rule
 * is explained in a sentence. Relative imports stay inside an area; across areas they begin with `#`.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { areaOf, importsOf, sourceFiles } from './source.ts'

const enginePorts = [
  'engines/containers',
  'engines/databases',
  'engines/copy',
  'engines/repositories',
]

/** What an area may import besides itself. `node:` and packages are rows of their own. */
const law: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  outbound: ['kernel'],
  stores: ['kernel'],
  'stores/sqlite': ['kernel', 'stores'],
  'stores/postgres': ['kernel', 'stores'],
  'engines/containers': ['kernel', 'outbound'],
  'engines/databases': ['kernel', 'outbound'],
  'engines/copy': ['kernel', 'outbound'],
  'engines/repositories': ['kernel', 'outbound'],
  template: ['kernel'],
  activity: ['kernel', 'stores'],
  plane: ['kernel', 'stores', 'activity'],
  providers: ['kernel', 'plane', ...enginePorts],
  // Providers that own tables reach them through the relational port.
  'providers/billing': ['kernel', 'plane', 'stores'],
  'providers/resource-health': ['kernel', 'plane', 'stores'],
  'providers/data-share': ['kernel', 'plane', 'stores', 'engines/copy'],
  'providers/resources': ['kernel', 'plane', 'template'],
  // The audit trail is read there, from the store.
  'providers/insights': ['kernel', 'plane', 'stores', 'activity'],
  business: ['kernel', 'stores', 'activity'],
  identity: ['kernel', 'outbound', 'stores', 'activity'],
  http: ['kernel', 'activity', 'plane', 'identity', 'business'],
  client: ['kernel'],
  cli: ['kernel', 'client', 'config', 'template'],
  config: ['kernel', 'outbound'],
  installation: ['kernel', 'stores'],
  log: ['kernel'],
  main: ['*'],
  // What `package.json` exports: the composition root as a function.
  index: ['*'],
}

/** Imports that a rule forbids and one place needs, each with its reason. */
const exceptions: readonly { readonly from: RegExp; readonly to: RegExp; readonly why: string }[] =
  [
    {
      from: /^src\/cli\/commands\/serve\.ts$/,
      to: /main\.ts$/,
      why: 'the one command that is the server',
    },
    {
      from: /^src\/providers\/index\.ts$/,
      to: /stores\/store\.ts$/,
      why: 'it lists the tables of the providers that own some',
    },
    {
      from: /^src\/providers\/index\.ts$/,
      to: /template\/language\.ts$/,
      why: 'it gives deployments their language',
    },
  ]

const files = sourceFiles('src')

function ruleOf(area: string): readonly string[] | undefined {
  return law[area] ?? law[area.split('/')[0] ?? '']
}

function broken(from: string, specifier: string): string | undefined {
  const area = areaOf(from)
  // A provider may have a row of its own.
  const provider = /^src\/(providers\/[a-z-]+)\//.exec(from)?.[1]
  const allowed = law[provider ?? area] ?? ruleOf(area)
  if (allowed === undefined) return `${from}: the area '${area}' has no row in the import law`
  if (allowed.includes('*')) return undefined
  if (exceptions.some((one) => one.from.test(from) && one.to.test(specifier))) return undefined
  const engineFault = brokenEngineRule(from, specifier)
  if (engineFault !== undefined) return engineFault
  if (specifier.startsWith('.') || specifier.startsWith('#')) {
    const target = areaOf(resolve(from, specifier))
    if (target === area || allowed.includes(target)) {
      const crosses = target.split('/')[0] !== area.split('/')[0]
      const outside = !specifier.startsWith('#') && crosses && target !== 'config'
      return outside
        ? `${from} crosses into ${target} by a relative path; write #${target}/…`
        : undefined
    }
    // A provider never imports another; its own folder is part of its area.
    return `${from} (${area}) may not import ${specifier} (${target}): ${area} may import ${allowed.join(', ') || 'nothing'}`
  }
  if (area === 'kernel' && specifier !== 'typebox') {
    return `${from}: the kernel imports nothing from outside but TypeBox, not ${specifier}`
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

/** `containers/docker` for a file of an engine's implementation: a folder below the engine's port. */
function implementationOf(path: string): string | undefined {
  return /^src\/engines\/([a-z]+\/[a-z-]+)\//.exec(path)?.[1]
}

/** An implementation is named by `main` alone, and does not see the others of its kind. */
function brokenEngineRule(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.') && !specifier.startsWith('#')) return undefined
  const named = implementationOf(resolve(from, specifier))
  if (named === undefined) return undefined
  const own = implementationOf(from)
  if (!from.startsWith('src/engines/')) {
    return `${from} names ${named}: an implementation is named by main alone; use the port of the engine`
  }
  // The connectors of copies are parts of one implementation, which the process that copies puts together.
  if (own === undefined || own === named || from.startsWith('src/engines/copy/')) return undefined
  return `${from} (${own}) names ${named}: implementations of an engine do not see each other`
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith('#')) return `src/${specifier.slice(1)}`
  return new URL(specifier, `file:///${from}`).pathname.slice(1)
}

describe('the import law', () => {
  for (const file of files) {
    test(file.path, () => {
      // Tests and test support may reach further: they start things for real.
      if (file.isTest) return
      const faults = importsOf(file.text).flatMap((specifier) => broken(file.path, specifier) ?? [])
      assert.deepEqual(faults, [])
    })
  }

  test('providers do not import one another', () => {
    for (const file of files) {
      const own = /^src\/providers\/([a-z-]+)\//.exec(file.path)?.[1]
      if (own === undefined || file.isTest) continue
      for (const specifier of importsOf(file.text)) {
        const other = /^src\/providers\/([a-z-]+)\//.exec(resolve(file.path, specifier))?.[1]
        assert.ok(
          other === undefined || other === own,
          `${file.path} imports the provider '${other}': ask the plane for the resource instead`,
        )
      }
    }
  })

  test('known-bad examples are caught', () => {
    assert.ok(broken('src/kernel/x.ts', 'node:fs'))
    assert.ok(broken('src/kernel/x.ts', '#plane/define.ts'))
    assert.ok(broken('src/plane/x.ts', '#providers/index.ts'))
    assert.ok(broken('src/providers/authorization/x.ts', '#stores/store.ts'))
    assert.ok(broken('src/http/x.ts', '../plane/plane.ts'))
    assert.ok(broken('src/cli/x.ts', '#http/server.ts'))
    assert.match(
      broken('src/providers/container-instance/x.ts', '#engines/containers/docker/client.ts') ?? '',
      /named by main alone/,
    )
    assert.match(
      broken('src/engines/containers/docker/x.ts', '../kubernetes/client.ts') ?? '',
      /do not see each other/,
    )
    assert.equal(broken('src/http/x.ts', '#plane/plane.ts'), undefined)
    assert.equal(broken('src/main/x.ts', '#engines/containers/docker/client.ts'), undefined)
    assert.equal(broken('src/engines/containers/docker/x.ts', '../engine.ts'), undefined)
  })
})
