/** Requests that need many decisions, each of which takes long: by roles of thousands of actions, or by conditions. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { ApiError } from '#kernel/error.ts'
import { resourceGroupIdOf } from '#kernel/resource-id.ts'
import { turnsOf, useUpTurns } from '../../tests/turns.ts'
import type { Access } from './access.ts'
import { defineComputed } from './declare/computed.ts'
import { defineProvider } from './declare/provider.ts'
import { group, owner, startPlane, subscription } from './testing/start.ts'

const decisions = 100

/** As long as one that goes through thousands of patterns. */
const access: Access = {
  allows() {
    const end = performance.now() + 2
    while (performance.now() < end);
    return true
  },
}

test('others have turns while a move is decided on', async () => {
  await using t = await startPlane({ access })
  const from = resourceGroupIdOf(subscription, 'rg')
  const to = resourceGroupIdOf(subscription, 'other')
  const names = Array.from({ length: decisions }, (_, at) => `n${at}`)
  const resources = names.map((name) => `${group}/providers/Vendor.Sample/widgets/${name}`)
  const request = { from, to, resources, onlyValidate: true }
  const caller = { principal: owner, correlationId: '' }
  const move = () => t.plane.services.moveResources(request, caller)
  const { turns } = await turnsOf(() => assert.rejects(move, ApiError))
  assert.ok(turns >= decisions / 5, `${turns} turns`)
})

test('others have turns while a type asks for many rights at once', async () => {
  const type = 'Meeting/rights'
  const provider = defineProvider({
    namespace: 'Meeting',
    description: 'What asks for much.',
    types: [
      defineComputed({
        type,
        description: 'Rights.',
        scope: 'tenant',
        apiVersions: ['2024-01-01'],
        answer: Type.Object({}),
        source: {
          async list({ may, parent }) {
            const asked = Array.from({ length: decisions }, () => may(`${type}/read`, parent))
            const answers = await Promise.all(asked)
            return { items: answers.map(() => ({})) }
          },
        },
      }),
    ],
  })
  await using t = await startPlane({ access, providers: [provider] })
  const { turns } = await turnsOf(() => t.call('GET', '/providers/Vendor.Meeting/rights'))
  assert.ok(turns >= decisions / 10, `${turns} turns`)
})

test('a list that is open to all needs no decision where nothing above it may be missing', async () => {
  const actions: string[] = []
  const counting: Access = {
    allows({ action }) {
      actions.push(action)
      return true
    },
  }
  await using t = await startPlane({ access: counting })
  const { status } = await t.call('GET', '/providers/Vendor.Sample/operations')
  assert.deepEqual([status, actions], [200, []])
})

test('others have turns while work sends many requests that are refused', async (t) => {
  const refusing: Access = { allows: () => false }
  await using started = await startPlane({ access: refusing })
  const { caller } = started.plane.services
  const path = `${group}/providers/Vendor.Sample/widgets/one`
  const request = { path, version: '2024-01-01', principal: owner, correlationId: '' } as const
  useUpTurns(t)
  for (const more of [{ method: 'DELETE' }, { method: 'PUT', isOneOfMany: true }] as const) {
    const { turns } = await turnsOf(async () => {
      for (let at = 0; at < decisions; at++) {
        await assert.rejects(caller.call({ ...request, ...more }), ApiError)
      }
    })
    assert.ok(turns >= decisions / 2, `${more.method}: ${turns} turns`)
  }
})
