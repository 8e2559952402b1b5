/**
 * Measures what container groups use. Every process asks the engine itself and keeps the last hours in memory, so
 * that measuring writes nothing and works the same with several replicas (decision 0192).
 */

import type { ContainerEngine, GroupStats } from '#engines/containers/engine.ts'
import type { Metric, MetricSeries, MetricSource, Minute } from '#kernel/metrics.ts'
import type { Clock, Timers } from '#kernel/ports.ts'
import { startRounds } from '#kernel/rounds.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { attempt } from '../engine-failure.ts'
import { groupToken } from './group-index.ts'

const minuteMilliseconds = 60_000
/** The minutes kept of each series. */
const minutesMax = 180
/** The series kept in sum; one container has two, and its group two more. Beyond, those of what has ended make room. */
const seriesMax = 4000
const pauseMilliseconds = 15_000
/** Measuring takes at most this part of the time, however many groups there are. */
const shareMax = 0.1
/** An engine that fails after so long is there, and gave no answer for one group. */
const silentMilliseconds = 5000
/** How long that group is left out: its program may hold the engine. */
const leftOutMilliseconds = 10 * minuteMilliseconds

const metrics: readonly Metric[] = [
  {
    name: 'CpuUsage',
    title: 'CPU Usage',
    description: 'CPU usage on all cores in millicores.',
    unit: 'Count',
    dimension: 'containerName',
    keptMinutes: minutesMax,
  },
  {
    name: 'MemoryUsage',
    title: 'Memory Usage',
    description: 'Total memory usage in bytes.',
    unit: 'Bytes',
    dimension: 'containerName',
    keptMinutes: minutesMax,
  },
  {
    name: 'NetworkBytesReceivedPerSecond',
    title: 'Network Bytes Received Per Second',
    description: 'The network bytes received per second.',
    unit: 'Bytes',
    keptMinutes: minutesMax,
  },
  {
    name: 'NetworkBytesTransmittedPerSecond',
    title: 'Network Bytes Transmitted Per Second',
    description: 'The network bytes transmitted per second.',
    unit: 'Bytes',
    keptMinutes: minutesMax,
  },
]

interface Dependencies {
  readonly engine: ContainerEngine
  readonly clock: Clock
  readonly timers: Timers
}

interface KeptSeries extends MetricSeries {
  readonly minutes: Minute[]
}

/** What is kept of one group. */
interface Kept {
  /** The last counts, from which rates are computed. */
  last: GroupStats
  readonly series: KeptSeries[]
}

interface EndedSeries {
  readonly kept: Kept
  readonly one: KeptSeries
  /** The series of its group. */
  readonly many: number
  readonly endedAt: number
}

export class GroupMetrics implements MetricSource {
  readonly #deps: Dependencies
  readonly #seriesMax: number
  /** By the engine's names of groups. */
  readonly #groups = new Map<string, Kept>()
  #seriesCount = 0
  /** When the round before this one began, and this one: what was measured in neither has ended. */
  #rounds = { before: Number.NEGATIVE_INFINITY, this: Number.NEGATIVE_INFINITY }
  /** Found once in a round, when it is wanted; the last one is the first to go. */
  #ended: EndedSeries[] | undefined
  /** Until when groups are left out. */
  readonly #leftOut = new Map<string, number>()
  /** The time of this round that gave no measurement: of such groups, and of an engine that is silent. */
  #inVain = 0

  constructor(deps: Dependencies, limits: { readonly seriesMax: number } = { seriesMax }) {
    this.#deps = deps
    this.#seriesMax = limits.seriesMax
  }

  async metrics(): Promise<readonly Metric[]> {
    const described = await attempt(() => this.#deps.engine.describe())
    return described.ok && described.value.measures ? metrics : []
  }

  read(resource: Pick<Resource, 'id' | 'systemData'>): readonly MetricSeries[] {
    return this.#groups.get(groupToken(resource))?.series ?? []
  }

  /** Measures every group once, and pauses between rounds. Disposing waits for the running round. */
  start(): AsyncDisposable {
    const { clock, timers } = this.#deps
    return startRounds(timers, pauseMilliseconds, async (isStopped) => {
      const began = clock.now()
      await this.measure(isStopped)
      const took = Math.max(0, clock.now() - began - this.#inVain)
      return Math.max(pauseMilliseconds, took / shareMax)
    })
  }

  /** One round. A group that the engine cannot tell of is left out of it, and of those of some minutes where it gave no answer. */
  async measure(isStopped: () => boolean = () => false): Promise<void> {
    const { engine, clock } = this.#deps
    const began = clock.now()
    this.#forgetBefore(began - minutesMax * minuteMilliseconds)
    this.#rounds = { before: this.#rounds.this, this: began }
    this.#ended = undefined
    this.#inVain = 0
    for (const [group, until] of this.#leftOut) if (until <= began) this.#leftOut.delete(group)
    const described = await this.#ping()
    if (!described.ok || !described.value.measures) return
    const held = await attempt(() => engine.list())
    if (!held.ok) return
    for (const group of new Set(held.value.map((one) => one.group))) {
      if (isStopped()) return
      if (this.#leftOut.has(group)) continue
      const from = clock.now()
      const stats = await attempt(() => engine.stats(group))
      const now = clock.now()
      if (stats.ok) this.#note(group, stats.value, now)
      else if (now - from >= silentMilliseconds) {
        this.#inVain += now - from
        // An engine that gives nobody an answer is held by no group.
        if (!(await this.#ping()).ok) return
        const answered = clock.now()
        if (answered - now < silentMilliseconds) {
          this.#leftOut.set(group, answered + leftOutMilliseconds)
        }
      }
    }
  }

  /** Measures nothing, however long the engine takes. */
  async #ping() {
    const from = this.#deps.clock.now()
    const described = await attempt(() => this.#deps.engine.describe())
    this.#inVain += this.#deps.clock.now() - from
    return described
  }

  #note(group: string, stats: GroupStats, now: number): void {
    const known = this.#groups.get(group)
    const kept = known ?? { last: stats, series: [] }
    this.#groups.set(group, kept)
    for (const part of stats.running) {
      const before = known?.last.running.find(({ name }) => name === part.name)
      const nanoseconds = rateOf(before, part, (one) => one.cpuNanoseconds)
      const millicores = nanoseconds === undefined ? undefined : nanoseconds / 1e6
      this.#add(kept, { metric: 'CpuUsage', of: part.name }, now, millicores)
      this.#add(kept, { metric: 'MemoryUsage', of: part.name }, now, part.memoryBytes)
    }
    const { network } = stats
    if (network !== undefined) {
      const before = known?.last.network
      const received = rateOf(before, network, (one) => one.receivedBytes)
      const transmitted = rateOf(before, network, (one) => one.transmittedBytes)
      this.#add(kept, { metric: 'NetworkBytesReceivedPerSecond' }, now, received)
      this.#add(kept, { metric: 'NetworkBytesTransmittedPerSecond' }, now, transmitted)
    }
    kept.last = stats
  }

  #add(
    { series }: Kept,
    named: { readonly metric: string; readonly of?: string },
    now: number,
    value: number | undefined,
  ): void {
    if (value === undefined) return
    let found = series.find(({ metric, of }) => metric === named.metric && of === named.of)
    if (found === undefined) {
      if (this.#seriesCount >= this.#seriesMax && !this.#forgetEnded()) return
      found = { ...named, minutes: [] }
      series.push(found)
      this.#seriesCount += 1
    }
    const { minutes } = found
    const at = now - (now % minuteMilliseconds)
    const last = minutes.at(-1)
    if (last?.at !== at) {
      // A clock that was set back begins anew.
      if (last !== undefined && last.at > at) minutes.length = 0
      minutes.push({ at, count: 1, sum: value, least: value, most: value })
      return
    }
    minutes[minutes.length - 1] = {
      at,
      count: last.count + 1,
      sum: last.sum + value,
      least: Math.min(last.least, value),
      most: Math.max(last.most, value),
    }
  }

  /** Those of the group with most series first: whoever begins many containers under new names makes room with their own. */
  #forgetEnded(): boolean {
    this.#ended ??= [...this.#groups.values()]
      .flatMap((kept) => this.#endedIn(kept))
      .toSorted((a, b) => a.many - b.many || b.endedAt - a.endedAt)
    const found = this.#ended.pop()
    if (found === undefined) return false
    found.kept.series.splice(found.kept.series.indexOf(found.one), 1)
    this.#seriesCount -= 1
    return true
  }

  #endedIn(kept: Kept): EndedSeries[] {
    const many = kept.series.length
    return kept.series.flatMap((one) => {
      const endedAt = (one.minutes.at(-1)?.at ?? 0) + minuteMilliseconds
      return endedAt < this.#rounds.before ? [{ kept, one, many, endedAt }] : []
    })
  }

  #forgetBefore(moment: number): void {
    for (const [group, { series }] of this.#groups) {
      for (const { minutes } of series) {
        const kept = minutes.findIndex(({ at }) => at > moment)
        minutes.splice(0, kept === -1 ? minutes.length : kept)
      }
      const left = series.filter(({ minutes }) => minutes.length > 0)
      this.#seriesCount -= series.length - left.length
      series.splice(0, series.length, ...left)
      if (left.length === 0) this.#groups.delete(group)
    }
  }
}

/** What was added a second; undefined without an earlier count, and where counting began anew. */
function rateOf<T extends { readonly at: number }>(
  before: T | undefined,
  now: T,
  countOf: (one: T) => number,
): number | undefined {
  if (before === undefined || now.at <= before.at) return undefined
  const added = countOf(now) - countOf(before)
  return added < 0 ? undefined : (added * 1000) / (now.at - before.at)
}
