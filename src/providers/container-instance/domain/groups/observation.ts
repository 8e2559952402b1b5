/**
 * What is stored of a group's containers: the last observation, and their history. A pure reduction: the same
 * observation twice changes nothing, so an unchanged group costs no write.
 */

import type {
  ContainerState,
  ObservedContainer,
  ObservedGroup,
} from '#engines/containers/engine.ts'
import type { Failure } from '../engine-failure.ts'
import { addEvent, eventOf, type GroupEvent, type NewEvent } from './events.ts'

/** An `ObservedGroup` as JSON. */
export interface Seen extends Omit<ObservedGroup, 'imagesPresent' | 'hash' | 'address'> {
  readonly hash?: string
  readonly address?: string
  /** Only requested while something is still to be created. */
  readonly imagesMissing: readonly string[]
}

/** A failed step, until the user writes again. */
export interface FailedStep extends Failure {
  /** The step that failed: only that one is held back. */
  readonly step: string
  readonly generation: number
  readonly count: number
  readonly firstAt: number
  readonly at: number
}

/** One container across its runs. */
export interface ContainerRecord {
  readonly hash: string
  readonly state: ContainerState | { readonly kind: 'absent' }
  readonly startedAt?: number
  readonly restartCount: number
  readonly previous?: {
    readonly startedAt?: number
    readonly finishedAt: number
    readonly exitCode?: number
  }
  /** The run whose liveness probe failed and which must be ended. */
  readonly unhealthyRun?: number
  readonly ready?: boolean
  readonly events: readonly GroupEvent[]
}

export interface Observed {
  readonly generation: number
  readonly seen: Seen
  readonly parts: Readonly<Record<string, ContainerRecord>>
  readonly events: readonly GroupEvent[]
  readonly trouble?: FailedStep
  /** The containers of this hash have ended, and nothing restarts them. */
  readonly finished?: string
  /** The containers of this hash disappeared, and nothing recreates them. */
  readonly lost?: string
}

/** The result of the probes of one run. */
export interface ProbeVerdict {
  readonly startedAt: number
  readonly failedLiveness?: string
  readonly failedReadiness?: string
  readonly ready?: boolean
}

export interface Look {
  readonly generation: number
  /** The hash of the desired spec; undefined while deleting. */
  readonly hash: string | undefined
  readonly restart: 'always' | 'on-failure' | 'never'
  readonly stopping: boolean
  readonly parts: readonly {
    readonly name: string
    readonly init: boolean
    readonly image: string
  }[]
  readonly seen: Seen
  readonly trouble: FailedStep | undefined
  /** False when nothing really runs. */
  readonly runsPrograms: boolean
  /** The exit code of the run that ended at about that time, if the engine reported it. */
  exitCodeAt(part: string, finishedAt: number): number | undefined
  verdict(part: string): ProbeVerdict | undefined
  readonly now: number
  readonly eventsMax: number
}

export function reduceObservations(last: Observed | undefined, look: Look): Observed {
  const { seen, hash, generation } = look
  if (hash === undefined) {
    return {
      generation,
      seen,
      parts: last?.parts ?? {},
      events: last?.events ?? [],
      ...withFailedStep(last, look),
    }
  }
  const parts = Object.fromEntries(
    look.parts.map((part) => [
      part.name,
      reduceContainer(last?.parts[part.name], part, { last, look, hash }),
    ]),
  )
  const failed = withFailedStep(last, look)
  const started = Object.values(last?.parts ?? {}).some(
    (part) => part.hash === hash && part.startedAt !== undefined,
  )
  const gone = started && seen.sandbox !== 'up' && !look.stopping
  const finished = last?.finished === hash || isFinished(parts, look)
  const lost = !finished && (last?.lost === hash || (gone && look.restart === 'never'))
  const events: NewEvent[] = []
  if (last === undefined && !look.runsPrograms) {
    events.push({
      name: 'Simulated',
      message: 'No container engine was found when this server started: nothing really runs.',
      type: 'Normal',
      at: look.now,
    })
  }
  if (gone && !finished && last?.seen.sandbox === 'up') {
    events.push({
      name: 'Failed',
      message: lost
        ? 'The engine lost the containers; the restart policy does not run them again.'
        : 'The engine lost the containers; they are made again.',
      type: 'Warning',
      at: look.now,
    })
  }
  for (const { port, protocol, address, hostPort } of seen.published) {
    const known = last?.seen.published.some((one) => one.hostPort === hostPort)
    if (hostPort === port || known) continue
    events.push({
      name: 'PortMapped',
      message: `Port ${port}/${protocol.toUpperCase()} was taken on the host; it is reachable at ${address}:${hostPort}.`,
      type: 'Normal',
      at: look.now,
    })
  }
  const news = failed.trouble
  if (news !== undefined && (last?.trouble?.at !== news.at || last.trouble.step !== news.step)) {
    events.push({ name: eventOf(news.code), message: news.message, type: 'Warning', at: news.at })
  }
  return {
    generation,
    seen,
    parts,
    events: events.reduce((all, one) => addEvent(all, one, look.eventsMax), last?.events ?? []),
    ...failed,
    ...(finished ? { finished: hash } : {}),
    ...(lost ? { lost: hash } : {}),
  }
}

function withFailedStep(
  last: Observed | undefined,
  { trouble, generation }: Look,
): { readonly trouble?: FailedStep } {
  const kept = last?.trouble?.generation === generation ? last.trouble : undefined
  const now = trouble?.generation === generation ? trouble : kept
  return now === undefined ? {} : { trouble: now }
}

function reduceContainer(
  old: ContainerRecord | undefined,
  part: { readonly name: string; readonly image: string },
  {
    last,
    look,
    hash,
  }: { readonly last: Observed | undefined; readonly look: Look; readonly hash: string },
): ContainerRecord {
  const before: ContainerRecord =
    old?.hash === hash ? old : { hash, state: { kind: 'absent' }, restartCount: 0, events: [] }
  const events: NewEvent[] = []
  const note = (name: string, message: string, at: number, type: NewEvent['type'] = 'Normal') =>
    events.push({ name, message, at, type })
  const wasMissing = last?.seen.imagesMissing.includes(part.image) === true
  const isMissing = look.seen.imagesMissing.includes(part.image)
  if (isMissing && !wasMissing) note('Pulling', `pulling image "${part.image}"`, look.now)
  if (wasMissing && !isMissing && before.state.kind === 'absent') {
    note('Pulled', `Successfully pulled image "${part.image}"`, look.now)
  }
  const found = look.seen.parts.find((one) => one.name === part.name && one.hash === hash)
  if (found === undefined) {
    // What has ended stays known after the engine has removed it.
    const state = before.state.kind === 'terminated' ? before.state : { kind: 'absent' as const }
    return { ...before, state, events: joined(before, events, look) }
  }
  if (before.state.kind === 'absent') note('Created', 'Created container', look.now)
  const next = runOf(before, found, look)
  if (next.startedAt !== undefined && next.startedAt !== before.startedAt) {
    note('Started', 'Started container', next.startedAt)
  }
  const { state } = found
  if (state.kind === 'terminated' && !isSameEnd(before.state, state)) {
    if (state.exitCode !== 0) {
      const why = state.reason === 'OutOfMemory' ? ', probably out of memory' : ''
      note(
        'Failed',
        `Container ended with exit code ${state.exitCode}${why}`,
        state.finishedAt,
        'Warning',
      )
    }
  }
  if (state.kind === 'waiting' && before.state.kind !== 'waiting') {
    note('BackOff', 'Back-off restarting the container', look.now, 'Warning')
  }
  const probed = probesOf(next, look.verdict(part.name), note, look)
  return { ...probed, state, events: joined(before, events, look) }
}

function joined(
  before: ContainerRecord,
  events: readonly NewEvent[],
  { eventsMax }: Look,
): readonly GroupEvent[] {
  return events.reduce((all, one) => addEvent(all, one, eventsMax), before.events)
}

function isSameEnd(before: ContainerRecord['state'], now: ContainerState): boolean {
  return (
    before.kind === 'terminated' &&
    now.kind === 'terminated' &&
    before.finishedAt === now.finishedAt
  )
}

/** Start, restarts and previous run, updated by one observation. */
function runOf(before: ContainerRecord, found: ObservedContainer, look: Look): ContainerRecord {
  const startedAt =
    found.state.kind === 'running' || found.state.kind === 'terminated'
      ? found.state.startedAt
      : before.startedAt
  const again = before.startedAt !== undefined && startedAt !== before.startedAt
  const restartCount = Math.max(before.restartCount + (again ? 1 : 0), found.restartCount)
  const ended =
    found.previous ?? (again && before.state.kind === 'terminated' ? before.state : undefined)
  const { previous: _, ...rest } = before
  const previous = previousOf(before, { part: found.name, ended, again }, look)
  return {
    ...rest,
    ...(startedAt === undefined ? {} : { startedAt }),
    restartCount,
    ...(previous === undefined ? {} : { previous }),
  }
}

function previousOf(
  before: ContainerRecord,
  {
    part,
    ended,
    again,
  }: {
    readonly part: string
    readonly ended: { readonly finishedAt: number; readonly exitCode?: number } | undefined
    readonly again: boolean
  },
  look: Look,
): ContainerRecord['previous'] {
  if (ended === undefined) return before.previous
  if (!again && before.previous?.finishedAt === ended.finishedAt) return before.previous
  const earlier = before.state.kind === 'terminated' ? before.state.exitCode : undefined
  const exitCode = ended.exitCode ?? look.exitCodeAt(part, ended.finishedAt) ?? earlier
  return {
    ...(before.startedAt === undefined ? {} : { startedAt: before.startedAt }),
    finishedAt: ended.finishedAt,
    ...(exitCode === undefined ? {} : { exitCode }),
  }
}

function probesOf(
  part: ContainerRecord,
  verdict: ProbeVerdict | undefined,
  note: (name: string, message: string, at: number, type?: NewEvent['type']) => void,
  { now, restart }: Look,
): ContainerRecord {
  if (verdict === undefined || verdict.startedAt !== part.startedAt) return part
  let next = part
  if (verdict.failedLiveness !== undefined && part.unhealthyRun !== verdict.startedAt) {
    note('Unhealthy', `Liveness probe failed: ${verdict.failedLiveness}`, now, 'Warning')
    if (restart !== 'never') note('Killing', 'Killing container: its liveness probe failed', now)
    next = { ...next, unhealthyRun: verdict.startedAt }
  }
  if (verdict.ready !== undefined && verdict.ready !== part.ready) {
    if (!verdict.ready) {
      const message = `Readiness probe failed: ${verdict.failedReadiness ?? ''}`
      note('Unhealthy', message, now, 'Warning')
    }
    next = { ...next, ready: verdict.ready }
  }
  return next
}

/** Every container that is no init container has ended, and the policy does not restart it. */
function isFinished(parts: Readonly<Record<string, ContainerRecord>>, look: Look): boolean {
  if (look.restart === 'always' || look.stopping) return false
  return look.parts
    .filter(({ init }) => !init)
    .every(({ name }) => {
      const state = parts[name]?.state
      if (state?.kind !== 'terminated' || state.reason === 'CannotStart') return false
      return look.restart === 'never' || state.exitCode === 0
    })
}
