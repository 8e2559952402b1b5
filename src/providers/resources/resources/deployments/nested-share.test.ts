/** A nest of deployments has a total limit: one that exceeds it fails clearly, and what-if says so before. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { nestResourcesMax, shareOfNested } from '../../domain/deployments/nested-share.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

const many = {
  type: 'Vendor.Secrets/vaults',
  apiVersion: '2026-01-01',
  location: 'local',
  name: "[format('v{0}', copyIndex())]",
  copy: { name: 'inner', count: 800 },
}

function nested(count: number): object {
  const template = templateFor([
    {
      type: 'Vendor.Resources/deployments',
      apiVersion: '2025-03-01',
      name: "[format('inner{0}', copyIndex())]",
      copy: { name: 'outer', count },
      properties: {
        mode: 'Incremental',
        expressionEvaluationOptions: { scope: 'inner' },
        template: templateFor([many]),
      },
    },
  ])
  return { properties: { mode: 'Incremental', template } }
}

test('a nest of more resources than there may be is refused before anything is written', async () => {
  await using started = await startDeployments()
  const path = `${group}/providers/Vendor.Resources/deployments/nest`
  for (const [method, to] of [
    ['POST', `${path}/whatIf`],
    ['POST', `${path}/validate`],
    ['PUT', path],
  ] as const) {
    await assert.rejects(
      started.call(method, to, nested(20)),
      (error) =>
        error instanceof ApiError &&
        error.code === 'NestedResourcesExceeded' &&
        /'inner0' has 800, and its share is 499/.test(error.message),
    )
  }
})

test('what is left beside its own is shared out evenly', () => {
  assert.equal(shareOfNested(nestResourcesMax, 20, 20), 499)
  assert.equal(shareOfNested(nestResourcesMax, 800, 800), 11)
  assert.equal(shareOfNested(499, 3, 1), 496)
  assert.equal(shareOfNested(5, 8, 2), 0)
  assert.equal(shareOfNested(nestResourcesMax, 8, 0), 0)
})
