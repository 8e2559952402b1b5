/** The thread that evaluates templates: it answers one question after the other until it is ended. */

import { parentPort } from 'node:worker_threads'
import { writeExactIntegers } from '#kernel/exact-json.ts'
import { TemplateRefusal } from '#template/plan.ts'
import { Evaluations } from './evaluations.ts'
import type { Question, Release, Told } from './questions.ts'

writeExactIntegers()
const evaluations = new Evaluations(() => performance.now())

function told(question: Question): Told {
  try {
    return { kind: 'answer', answer: evaluations.answer(question) }
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
