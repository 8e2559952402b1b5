/** The thread that evaluates templates: it answers one question after the other until it is ended. */

import { parentPort } from 'node:worker_threads'
import { writeExactIntegers } from '#kernel/exact-json.ts'
import { holesIn } from '#kernel/named-members.ts'
import { TemplateRefusal } from '#template/plan.ts'
import { Evaluations } from './evaluations.ts'
import type { Question, Release, Told } from './questions.ts'

writeExactIntegers()
const evaluations = new Evaluations(() => performance.now())

/** Each takes twelve bytes where the answer comes to. */
const holesMax = 1_000_000
const tooSparse: Told = {
  kind: 'refused',
  problems: [
    {
      line: 0,
      column: 0,
      path: 'template',
      message: `objects in it or in its parameters have members named by numbers, and ${holesMax} holes between them`,
    },
  ],
}

function told(question: Question): Told {
  try {
    const answer = evaluations.answer(question)
    return holesIn(answer) > holesMax ? tooSparse : { kind: 'answer', answer }
  } catch (error) {
    // Errors lose their class when they are sent, so they are sent as data.
    if (error instanceof TemplateRefusal) return { kind: 'refused', problems: error.problems }
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { kind: 'fault', message, stack }
  }
}

parentPort?.on('message', (question: Question | Release) => {
  if (question.kind === 'release') evaluations.release(question.plan)
  else parentPort?.postMessage(told(question))
})
parentPort?.postMessage({ kind: 'ready' } satisfies Told)
