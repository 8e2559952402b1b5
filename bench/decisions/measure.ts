/**
 * Runs every decider over every size, one after the other in this process, and compares their answers: figures for
 * different answers cannot be compared.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { DecideResults, DecideRow } from '../harness/results.ts'
import type { DecideScenario } from '../scenario.ts'
import { type Decider, makeWorld } from './fixture.ts'

export async function measureDecisions(
  name: string,
  scenario: DecideScenario,
  progress: (text: string) => void,
): Promise<DecideResults> {
  const rows: DecideRow[] = []
  for (const size of scenario.sizes) {
    const fixture = makeWorld(size, Math.max(...scenario.deciders.map((one) => one.asks(size))))
    let reference: readonly boolean[] | undefined
    for (const decider of scenario.deciders) {
      progress(`${name}: ${decider.name} at ${size}`)
      const { row, answers } = await measureOne(decider, size, fixture)
      reference ??= answers
      const differs = answers.findIndex((answer, at) => answer !== reference?.[at])
      if (differs >= 0) {
        const question = JSON.stringify(fixture.questions[differs])
        throw new Error(`${decider.name} answers otherwise at ${size}: ${question}`)
      }
      rows.push(row)
    }
  }
  return {
    kind: 'decide',
    name,
    title: scenario.title,
    about: scenario.about,
    notes: scenario.deciders.map(({ name: contestant, note }) => ({ contestant, note })),
    rows,
  }
}

async function measureOne(
  decider: Decider,
  size: number,
  fixture: ReturnType<typeof makeWorld>,
): Promise<{ readonly row: DecideRow; readonly answers: readonly boolean[] }> {
  const questions = fixture.questions.slice(0, decider.asks(size))
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const opened = performance.now()
  const decide = await decider.open(fixture)
  const readyMilliseconds = performance.now() - opened
  collectGarbage()
  const bytes = (process.memoryUsage().heapUsed - before) / size
  const answers: boolean[] = []
  const nanoseconds: number[] = []
  let total = 0
  for (const question of questions) {
    const start = process.hrtime.bigint()
    const answer = decide(question)
    const allowed = typeof answer === 'boolean' ? answer : await answer
    const took = Number(process.hrtime.bigint() - start)
    answers.push(allowed)
    nanoseconds.push(took)
    total += took
  }
  nanoseconds.sort((a, b) => a - b)
  const at = (share: number): number =>
    (nanoseconds[Math.min(nanoseconds.length - 1, Math.floor(nanoseconds.length * share))] ?? 0) /
    1000
  return {
    answers,
    row: {
      contestant: decider.name,
      assignments: size,
      asked: questions.length,
      allowedShare: answers.filter(Boolean).length / answers.length,
      decisionsPerSecond: (questions.length / total) * 1e9,
      p50Microseconds: at(0.5),
      p99Microseconds: at(0.99),
      readyMilliseconds,
      bytesPerAssignment: bytes,
    },
  }
}

/** The garbage collector, requested at run time so that the command needs no flag. */
const collectGarbage: () => void = (() => {
  setFlagsFromString('--expose-gc')
  // A new context has the function that the flag exposes.
  return runInNewContext('gc') as () => void
})()
