/** Starts a contestant and waits for its first answer, polling often enough for a precision of a millisecond. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Contestant, Place } from '../scenario.ts'
import { Child } from './child.ts'
import type { Processors } from './processors.ts'

const lookMilliseconds = 1
const patienceMilliseconds = 120_000

interface StartedServer {
  readonly child: Child
  /** From just before the process is spawned to just after its first answer is read. */
  readonly firstAnswerMilliseconds: number
}

export async function startServer(
  contestant: Contestant,
  place: Place,
  processors: Processors,
): Promise<StartedServer> {
  const given = contestant.command(place)
  const child = new Child({ ...given, command: processors.forServer(given.command) })
  try {
    while (performance.now() - child.startedAt < patienceMilliseconds) {
      child.assertRunning()
      if (await answers(contestant, place)) {
        return { child, firstAnswerMilliseconds: performance.now() - child.startedAt }
      }
      await sleep(lookMilliseconds)
    }
    throw new Error(`${contestant.name} gave no answer in ${patienceMilliseconds} ms`)
  } catch (error) {
    await child.stop()
    throw error
  }
}

async function answers(contestant: Contestant, place: Place): Promise<boolean> {
  try {
    return await contestant.ask(place)
  } catch {
    // Nothing listens yet, or not everything is ready: that is what it waits for.
    return false
  }
}
