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
