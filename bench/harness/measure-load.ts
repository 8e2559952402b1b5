/**
 * Puts the servers of a scenario under load in turns. All run side by side, and every round visits every case and
 * every server once, so that a slow minute of the machine affects all of them.
 */

import type { LoadResult, Requests } from '../load/job.ts'
import { startLoad } from '../load/start-load.ts'
import type { Contestant, LoadScenario, Place } from '../scenario.ts'
import type { Child } from './child.ts'
import { makePlace } from './place.ts'
import type { Processors } from './processors.ts'
import type { LoadResults, LoadRound, LoadRow } from './results.ts'
import { startServer } from './start-server.ts'
import { median, spread } from './statistics.ts'
import { firstWarmUp, laterWarmUp } from './warm-up.ts'

export interface Measuring {
  readonly dataFolder: string
  readonly processors: Processors
  readonly seconds: number
  readonly rounds: number
  /** Called with what is being done, for whoever waits. */
  progress(text: string): void
}

interface Standing {
  readonly contestant: Contestant
  readonly place: Place
  readonly child: Child
  readonly requests: Readonly<Record<string, Requests>>
  readonly rounds: Map<string, LoadRound[]>
  readonly residentBytes: Map<string, number | undefined>
}

export async function measureLoad(
  name: string,
  scenario: LoadScenario,
  measuring: Measuring,
): Promise<LoadResults> {
  await using stack = new AsyncDisposableStack()
  const standing: Standing[] = []
  for (const contestant of scenario.contestants) {
    measuring.progress(`${name}: starting ${contestant.name}`)
    const place = await makePlace(measuring.dataFolder, `${name}-${contestant.name}`)
    await contestant.prepare?.(place)
    const { child } = await start(contestant, place, scenario, measuring.processors)
    stack.use(child)
    const requests = (await contestant.requests?.(place)) ?? {}
    standing.push({
      contestant,
      place,
      child,
      requests,
      rounds: new Map(),
      residentBytes: new Map(),
    })
  }
  for (let round = 1; round <= measuring.rounds; round++) {
    for (const one of scenario.cases) {
      for (const server of standing) {
        await measureOnce(server, one, round, { name, scenario, measuring })
      }
    }
  }
  return {
    kind: 'load',
    floor: scenario.floor,
    name,
    title: scenario.title,
    about: scenario.about,
    notes: scenario.contestants.map(({ name, note }) => ({ contestant: name, note })),
    rows: rowsOf(scenario, standing),
  }
}

function start(
  contestant: Contestant,
  place: Place,
  { serversOnAll }: LoadScenario,
  processors: Processors,
): ReturnType<typeof startServer> {
  if (serversOnAll !== true) return startServer(contestant, place, processors)
  const everywhere: Processors = { ...processors, forServer: (command) => command }
  return processors.onAll(() => startServer(contestant, place, everywhere))
}

async function measureOnce(
  server: Standing,
  one: string,
  round: number,
  run: { readonly name: string; readonly scenario: LoadScenario; readonly measuring: Measuring },
): Promise<void> {
  const { contestant, place, child } = server
  const requests = server.requests[one]
  if (requests === undefined) return
  const { measuring } = run
  child.assertRunning()
  const result = await startLoad(measuring.processors, {
    host: '127.0.0.1',
    port: place.port,
    connections: run.scenario.connections,
    warmUp: round === 1 ? firstWarmUp : laterWarmUp,
    seconds: measuring.seconds,
    requests,
    serverPid: child.pid,
  })
  const figures = roundOf(result)
  const rounds = server.rounds.get(one) ?? []
  rounds.push(figures)
  server.rounds.set(one, rounds)
  server.residentBytes.set(one, child.figures()?.residentBytes)
  await child.settle()
  measuring.progress(
    `${run.name}: round ${round}, ${one}, ${contestant.name}: ` +
      `${Math.round(figures.requestsPerSecond)} req/s`,
  )
}

function roundOf(result: LoadResult): LoadRound {
  const { completed, seconds, serverCpuMicroseconds } = result
  return {
    requestsPerSecond: completed / seconds,
    cpuMicrosecondsPerRequest:
      serverCpuMicroseconds === undefined || completed === 0
        ? undefined
        : serverCpuMicroseconds / completed,
    p50Microseconds: result.p50Microseconds,
    p99Microseconds: result.p99Microseconds,
    generatorCpuShare: result.generatorCpuShare,
  }
}

function rowsOf(scenario: LoadScenario, standing: readonly Standing[]): readonly LoadRow[] {
  const rows: LoadRow[] = []
  for (const one of scenario.cases) {
    const floor = standing.find(({ contestant }) => contestant.name === scenario.floor)
    const floorRate = rateOf(floor?.rounds.get(one))
    const floorCpu = cpuOf(floor?.rounds.get(one))
    for (const server of standing) {
      const rounds = server.rounds.get(one)
      if (rounds === undefined) continue
      rows.push({
        case: one,
        contestant: server.contestant.name,
        rounds,
        requestsPerSecond: rateOf(rounds),
        spread: spread(rounds.map((round) => round.requestsPerSecond)),
        cpuMicrosecondsPerRequest: cpuOf(rounds),
        p50Microseconds: median(rounds.map((round) => round.p50Microseconds)),
        p99Microseconds: median(rounds.map((round) => round.p99Microseconds)),
        generatorCpuShare: median(rounds.map((round) => round.generatorCpuShare)),
        ratioToFloor: ratio(rateOf(rounds), floorRate),
        cpuRatioToFloor: ratio(floorCpu, cpuOf(rounds)),
        residentBytes: server.residentBytes.get(one),
      })
    }
  }
  return rows
}

function rateOf(rounds: readonly LoadRound[] = []): number | undefined {
  return median(rounds.map((round) => round.requestsPerSecond))
}

function cpuOf(rounds: readonly LoadRound[] = []): number | undefined {
  return median(rounds.map((round) => round.cpuMicrosecondsPerRequest))
}

function ratio(part: number | undefined, whole: number | undefined): number | undefined {
  return part === undefined || whole === undefined ? undefined : part / whole
}
