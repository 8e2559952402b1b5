/** Starts the servers of a scenario in turns, each alone: the time to the first answer, and the idle memory. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Place, StartScenario } from '../scenario.ts'
import type { Measuring } from './measure-load.ts'
import { makePlace } from './place.ts'
import type { StartResults } from './results.ts'
import { startServer } from './start-server.ts'
import { median } from './statistics.ts'

const idleMilliseconds = 2_000

export async function measureStart(
  name: string,
  scenario: StartScenario,
  measuring: Measuring,
): Promise<StartResults> {
  const entries = []
  for (const contestant of scenario.contestants) {
    const place: Place = await makePlace(measuring.dataFolder, `${name}-${contestant.name}`)
    measuring.progress(`${name}: preparing ${contestant.name}`)
    await contestant.prepare?.(place)
    const times: number[] = []
    const idle: (number | undefined)[] = []
    entries.push({ contestant, place, times, idle })
  }
  // The first start of each reads its files from disk. It is not counted.
  for (let round = 0; round <= measuring.rounds; round++) {
    for (const { contestant, place, times, idle } of entries) {
      await contestant.reset?.(place)
      const { child, firstAnswerMilliseconds } = await startServer(
        contestant,
        place,
        measuring.processors,
      )
      await using _ = child
      if (round === 0) continue
      times.push(firstAnswerMilliseconds)
      await sleep(idleMilliseconds)
      idle.push(child.figures()?.residentBytes)
      measuring.progress(
        `${name}: round ${round}, ${contestant.name}: ${Math.round(firstAnswerMilliseconds)} ms`,
      )
    }
  }
  return {
    kind: 'start',
    name,
    title: scenario.title,
    about: scenario.about,
    notes: scenario.contestants.map(({ name, note }) => ({ contestant: name, note })),
    rows: entries.map(({ contestant, times, idle }) => ({
      contestant: contestant.name,
      firstAnswerMilliseconds: times,
      medianMilliseconds: median(times),
      idleBytes: median(idle),
    })),
  }
}
