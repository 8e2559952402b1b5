/** What expressions read: each answer in a turn of its own, and no more of them than an evaluation may hold. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Need } from '#template/plan.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'
import { type Asking, evaluateLate } from './answers.ts'

const needs = Array.from(
  { length: 40 },
  (_, at): Need => ({
    key: `need ${at}`,
    kind: 'reference',
    id: `${group}/providers/Vendor.Any/types/one`,
    apiVersion: '2021-01-01',
  }),
)

/** Requests all of them in one round. */
const late = {
  late: async (answers: ReadonlyMap<string, unknown>) =>
    answers.size === needs.length ? { value: answers.size } : { needs },
}

/** Answers every request, without a turn of the event loop. */
function answering(
  body: object,
  call: () => void = () => undefined,
  owner = 'one',
  paid?: Promise<void>,
): Asking {
  const caller = {
    async call() {
      call()
      return { status: 200, body }
    },
  }
  const plan = { nodes: [], paid: async () => paid }
  // Only what is read here exists.
  return { caller, principal: { id: owner }, plan } as unknown as Asking
}

test('between two answers the server does other work', async () => {
  const seen: number[] = []
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const answered = await evaluateLate(
    answering({ a: 1 }, () => seen.push(turns)),
    late,
  )
  isOver = true
  assert.equal(answered, needs.length)
  assert.equal(new Set(seen).size, needs.length, seen.join())
})

test('answers that are too large together are refused, after a few of them', async () => {
  let asked = 0
  const large = { text: 'x'.repeat(3_000_000) }
  await assert.rejects(
    evaluateLate(
      answering(large, () => {
        asked++
      }),
      late,
    ),
    /ask for resources of more than 8388608 characters/,
  )
  // The first one of them twice: it was let go of before there was room for all.
  assert.equal(asked, 4)
})

test('in the background a principal holds the large answers of one evaluation, all together those of a few', async () => {
  let [holding, most] = [0, 0]
  const holds: typeof late = {
    async late(answers) {
      if (answers.size < needs.length) return late.late(answers)
      most = Math.max(most, ++holding)
      for (let turns = 0; turns < 20; turns++) await new Promise((done) => setImmediate(done))
      holding--
      return late.late(answers)
    },
  }
  const mostOf = async (owners: readonly string[]): Promise<number> => {
    most = 0
    // Empty objects are few characters, and much memory.
    const body = { list: Array.from({ length: 1000 }, () => ({})) }
    const asking = (owner: string) => answering(body, undefined, owner)
    await Promise.all(owners.map((owner) => evaluateLate(asking(owner), holds)))
    return most
  }
  assert.equal(await mostOf(['one', 'one', 'one']), 1)
  assert.equal(await mostOf(['one', 'two', 'one', 'two']), 2)
  assert.equal(await mostOf(Array.from({ length: 12 }, (_, at) => `owner ${at}`)), 8)
})

test('in the background who owes evaluations holds no room of others meanwhile', async () => {
  const body = { list: Array.from({ length: 1000 }, () => ({})) }
  const paid = Promise.withResolvers<void>()
  const owing = Array.from({ length: 8 }, (_, at) =>
    evaluateLate(answering(body, undefined, `debtor ${at}`, paid.promise), late),
  )
  assert.equal(await evaluateLate(answering(body, undefined, 'another'), late), needs.length)
  paid.resolve()
  for (const found of await Promise.all(owing)) assert.equal(found, needs.length)
})

test('evaluations that share a room hold no more together', async () => {
  const room = { left: 3000 }
  const asking = { ...answering({ text: 'x'.repeat(20) }), room }
  assert.equal(await evaluateLate(asking, late), needs.length)
  await assert.rejects(evaluateLate(asking, late), /ask for resources/)
})

test('a template that refers to large resources again and again is refused', async () => {
  await using started = await startDeployments({ generic: true })
  const account = `${group}/providers/Vendor.Any/accounts/a`
  const body = { location: 'x', properties: { text: 'x'.repeat(3_000_000) } }
  await started.call('PUT', account, body, { version: '2021-01-01' })
  const reference = (at: number): string =>
    `string(reference('${account}', '2021-01-${String(at).padStart(2, '0')}'))`
  const value = `[length(concat(${[1, 2, 3, 4, 5].map(reference).join(', ')}))]`
  const resource = {
    type: 'Vendor.Any/others',
    apiVersion: '2021-01-01',
    name: 'o',
    location: 'x',
    properties: { value },
  }
  await assert.rejects(
    started.call('POST', `${group}/providers/Vendor.Resources/deployments/d/validate`, {
      properties: { mode: 'Incremental', template: templateFor([resource]) },
    }),
    /more than 8388608 characters/,
  )
})
