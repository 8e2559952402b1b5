/**
 * Laws of deployments: deployed once or twice, with or without a stop of the server in between, nothing is left to
 * change.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '#plane/testing/start.ts'
import { fc } from '../../../../../tests/property.ts'
import { deltaOf } from '../../domain/deployments/delta.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

const path = `${group}/providers/Vendor.Resources/deployments/d`

interface Shape {
  readonly kind: 'vault' | 'secret' | 'nested' | 'loop' | 'late'
  readonly after: number
  readonly tag: string
}

const shapes = fc.array(
  fc.record<Shape>({
    kind: fc.constantFrom('vault', 'vault', 'secret', 'nested', 'loop', 'late'),
    after: fc.nat(9),
    tag: fc.stringMatching(/^[a-z]{0,4}$/),
  }),
  { minLength: 1, maxLength: 10 },
)

function templateOf(list: readonly Shape[]): object {
  const resources = list.map(({ kind, after, tag }, at) => {
    const dependsOn = after < at ? [nameOf(list[after]?.kind, after)] : []
    const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
    const tags = { tag }
    if (kind === 'vault') return { ...vault, name: nameOf(kind, at), tags, dependsOn }
    if (kind === 'nested') {
      const template = templateFor([{ ...vault, name: `in${at}`, tags }])
      const type = 'Vendor.Resources/deployments'
      const name = nameOf(kind, at)
      return { type, apiVersion: '2025-03-01', name, dependsOn, properties: { template } }
    }
    if (kind === 'loop') {
      const copy = { name: nameOf(kind, at), count: 3, mode: 'serial', batchSize: 2 }
      return { ...vault, name: `[format('in-loop-${at}-{0}', copyIndex())]`, tags, dependsOn, copy }
    }
    const other = after < at ? list[after]?.kind : undefined
    if (kind === 'late' && (other === 'vault' || other === 'late')) {
      const of = `[reference('${nameOf(other, after)}', '2026-01-01', 'Full').location]`
      return { ...vault, name: nameOf(kind, at), tags: { of } }
    }
    return {
      ...vault,
      name: nameOf(kind, at),
      tags: { secret: "[parameters('secret')]" },
      dependsOn,
    }
  })
  const template = templateFor(resources, { parameters: { secret: { type: 'securestring' } } })
  return {
    properties: {
      mode: 'Incremental',
      template,
      parameters: { secret: { value: 'of the tests' } },
    },
  }
}

function nameOf(kind: Shape['kind'] | undefined, at: number): string {
  return `${kind}-${at}`
}

test('whatever is deployed, once or again after a restart: what-if then says that nothing changes', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, fc.boolean(), fc.boolean(), async (list, twice, restarted) => {
      await using store = await memoryStore()
      const asked = templateOf(list)
      if (restarted) {
        await using asleep = await startDeployments({ store, asleep: true })
        await asleep.call('PUT', path, asked)
        // Whatever state it has when it is stopped.
        asleep.plane.reconciler.start()
      }
      await using started = await startDeployments({ store })
      await started.settle()
      if (!restarted || twice) await started.call('PUT', path, asked)
      await started.settle()
      const { body } = await started.call('POST', `${path}/whatIf`, asked)
      const { properties } = body as {
        readonly properties: { readonly changes: readonly { readonly changeType: string }[] }
      }
      const kinds = new Set(properties.changes.map((change) => change.changeType))
      kinds.delete('Ignore')
      assert.deepEqual([...kinds], ['NoChange'])
    }),
    { numRuns: 12 },
  )
})

test('a delta is empty exactly when the two are the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.deepEqual(deltaOf(a, structuredClone(a)), [])
      const same = JSON.stringify(a) === JSON.stringify(b)
      if (!same && deltaOf(a, b).length === 0) assert.deepEqual(sorted(a), sorted(b))
    }),
  )
})

/** The order of properties does not matter, and minus zero is zero. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value
  return new Map(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sorted(one)]),
  )
}
