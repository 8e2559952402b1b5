/** A plan that its thread forgets is made again; when that fails, whoever asks is told, and nothing else happens. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { TemplateRefusal } from '#template/plan.ts'
import type { ExpandQuestion, Question, ShownPlan } from './questions.ts'
import { remotePlan } from './remote-plan.ts'
import type { TemplateThreads, Thread } from './template-threads.ts'

test('a plan is not made again when nobody would wait for it', async () => {
  let makings = 0
  // Threads that always have forgotten the plan: with real ones that takes many plans and seconds.
  const threads = {
    async ask({ kind }: Question) {
      if (kind === 'late') return { answer: { kind: 'gone' }, thread: {} }
      makings++
      await turn()
      if (makings < 3) return { answer: { ok: true, value: {} }, thread: {} }
      throw new TemplateRefusal([{ line: 0, column: 0, path: '', message: 'too long' }])
    },
  } as unknown as TemplateThreads
  const plan = remotePlan(
    threads,
    { kind: 'expand', plan: 1 } as ExpandQuestion,
    { principalId: 'p', accepted: true },
    {
      plan: { nodes: [{ key: 'a' }], outputs: [] } as unknown as ShownPlan,
      thread: {} as Thread,
    },
  )
  const [node] = plan.nodes
  // The runner fails a test that leaves a rejection unhandled.
  await assert.rejects(async () => node?.late(new Map()), /forgotten faster than it is made/)
  await turn()
  await turn()
  assert.equal(makings, 2)
  await assert.rejects(async () => node?.late(new Map()), /too long/)
})

test('nodes that are asked for at once share what one answer brings', async () => {
  const keys = Array.from({ length: 100 }, (_, at) => `n${at}`)
  let questions = 0
  const threads = {
    async ask({ of }: Extract<Question, { kind: 'late' }>) {
      questions++
      await turn()
      const at = 'node' in of ? keys.indexOf(of.node) : -1
      const bodyOf = (key: string) => ({ kind: 'body', body: { body: key, securePaths: [] } })
      const ahead = new Map(keys.slice(at + 1, at + 21).map((key) => [key, bodyOf(key)]))
      return { answer: { ...bodyOf(keys[at] ?? ''), ahead }, thread: {} }
    },
  } as unknown as TemplateThreads
  const plan = remotePlan(
    threads,
    { kind: 'expand', plan: 1 } as ExpandQuestion,
    { principalId: 'p', accepted: true },
    {
      plan: { nodes: keys.map((key) => ({ key })), outputs: [] } as unknown as ShownPlan,
      thread: {} as Thread,
    },
  )
  const bodies = await Promise.all(plan.nodes.map((node) => node.late(new Map())))
  assert.deepEqual(
    bodies.map((one) => ('value' in one ? one.value.body : one)),
    keys,
  )
  assert.equal(questions, 5)
})
