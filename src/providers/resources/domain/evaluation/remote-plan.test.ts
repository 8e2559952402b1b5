/**
 * A plan that its thread has forgotten is created again. If that fails, whoever asks is told, and nothing else
 * happens.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { TemplateRefusal } from '#template/plan.ts'
import type { ExpandQuestion, Question, ShownPlan } from './questions.ts'
import { remotePlan } from './remote-plan.ts'
import type { TemplateThreads, Thread } from './template-threads.ts'

const nodeOf = (key: string): object => ({ key, dependsOn: [] })

test('a plan that is gone is made again in the question itself, where others had it made if they had', async () => {
  const [first, second] = [{}, {}] as unknown as [Thread, Thread]
  const sent: (readonly [boolean, Thread | undefined])[] = []
  // Threads that have forgotten the plan. With real ones that takes many plans.
  const threads = {
    async ask(late: Extract<Question, { kind: 'late' }>, _payer: unknown, thread?: Thread) {
      sent.push([late.again !== undefined, thread])
      await turn()
      const { of, again } = late
      if ('node' in of && of.node === 'broken' && again !== undefined) {
        throw new TemplateRefusal([{ line: 0, column: 0, path: '', message: 'too long' }])
      }
      const isKnown = again !== undefined || thread === second
      const answer = isKnown ? { kind: 'body', body: { body: {}, securePaths: [] } } : gone
      return { answer, thread: thread ?? second }
    },
  } as unknown as TemplateThreads
  const gone = { kind: 'gone' }
  const plan = remotePlan(
    threads,
    { kind: 'expand', plan: 1 } as ExpandQuestion,
    { principalId: 'p', accepted: true },
    {
      plan: { nodes: [nodeOf('broken'), nodeOf('a')], outputs: [] } as unknown as ShownPlan,
      thread: first,
    },
  )
  const [broken, node] = plan.nodes
  await assert.rejects(async () => broken?.late(new Map()), /too long/)
  assert.deepEqual(sent.splice(0), [
    [false, first],
    [true, undefined],
  ])
  assert.ok('value' in ((await node?.late(new Map())) ?? {}))
  assert.ok('value' in ((await node?.late(new Map())) ?? {}))
  assert.deepEqual(sent, [
    [false, first],
    [true, undefined],
    [false, second],
  ])
})

test('nodes that are wanted at once share what one answer brings, and a small plan gives its bodies twice', async () => {
  const keys = Array.from({ length: 100 }, (_, at) => `n${at}`)
  let questions = 0
  const threads = {
    async ask({ of }: Extract<Question, { kind: 'late' }>) {
      questions++
      await turn()
      const at = 'node' in of ? keys.indexOf(of.node) : -1
      const bodyOf = (key: string) => ({ kind: 'body', body: { body: key, securePaths: [] } })
      const ahead = keys.slice(at + 1, at + 21).map(bodyOf)
      return { answer: { ...bodyOf(keys[at] ?? ''), ahead }, thread: {} }
    },
  } as unknown as TemplateThreads
  const nodes = keys.map(nodeOf)
  const questionsOf = async (characters: number): Promise<readonly number[]> => {
    const plan = remotePlan(
      threads,
      { kind: 'expand', plan: 1 } as ExpandQuestion,
      { principalId: 'p', accepted: true },
      {
        plan: { nodes, outputs: [], characters } as unknown as ShownPlan,
        thread: {} as Thread,
      },
    )
    const each: number[] = []
    for (let round = 0; round < 3; round++) {
      questions = 0
      const bodies = await Promise.all(plan.nodes.map((node) => node.late(new Map())))
      assert.deepEqual(
        bodies.map((one) => ('value' in one ? one.value.body : one)),
        keys,
      )
      each.push(questions)
    }
    return each
  }
  // For the preview and for the execution; nothing is kept longer.
  assert.deepEqual(await questionsOf(1000), [5, 0, 5])
  assert.deepEqual(await questionsOf(4 * 1024 * 1024), [5, 5, 5])
})
