/**
 * Derives the runs of a group from its observations: which began, continue, or ended and when. It reports them to
 * the meter before it records them; repeating a report changes nothing.
 */

import { runKeyOf, type UsageMeter, type UsageRun } from '#kernel/usage.ts'
import type { Subject } from '#plane/declare/reconciled.ts'
import {
  allContainers,
  type ContainerGroup,
  defaultRequests,
} from '../../resources/container-groups/model.ts'
import type { Observed } from './observation.ts'

type GroupSubject = Subject<ContainerGroup, Observed>

/** The runs that an observation says something about, given the previous one. */
function runsOf(subject: GroupSubject, observed: Observed, now: number): readonly UsageRun[] {
  const held = heldBy(subject.model)
  const run = (name: string, startedAt: number, seenAt: number, endedAt?: number): UsageRun => ({
    series: `${subject.token}|${name}`,
    resourceId: subject.id.text,
    startedAt,
    seenAt: Math.max(startedAt, seenAt),
    ...(endedAt === undefined ? {} : { endedAt: Math.max(startedAt, endedAt) }),
    held: held.get(name) ?? held.get('') ?? {},
  })
  const runs: UsageRun[] = []
  const goesOn = new Set<string>()
  for (const { name, state, previous } of observed.seen.parts) {
    if (state.kind === 'running') {
      runs.push(run(name, state.startedAt, now))
      goesOn.add(`${name}|${state.startedAt}`)
    } else if (state.kind === 'terminated') {
      runs.push(run(name, state.startedAt, state.finishedAt, state.finishedAt))
      goesOn.add(`${name}|${state.startedAt}`)
    }
    if (previous?.startedAt !== undefined) {
      // Also a run that began and ended between two observations.
      runs.push(run(name, previous.startedAt, previous.finishedAt, previous.finishedAt))
      goesOn.add(`${name}|${previous.startedAt}`)
    }
    const before = runningBefore(subject, name)
    const startedAt = 'startedAt' in state ? state.startedAt : undefined
    if (before === undefined || goesOn.has(`${name}|${before}`)) continue
    // There were other runs since. It ended when the engine says, or at the latest when the next known run began.
    const endedAt = previous?.startedAt ?? previous?.finishedAt ?? startedAt ?? now
    runs.push(run(name, before, endedAt, endedAt))
    goesOn.add(`${name}|${before}`)
  }
  for (const { name } of subject.last?.seen.parts ?? []) {
    const before = runningBefore(subject, name)
    if (before === undefined || goesOn.has(`${name}|${before}`)) continue
    // It no longer exists: stopped, deleted or lost, a moment ago.
    runs.push(run(name, before, now, now))
  }
  return runs
}

function runningBefore({ last }: GroupSubject, name: string): number | undefined {
  const state = last?.seen.parts.find((part) => part.name === name)?.state
  return state?.kind === 'running' ? state.startedAt : undefined
}

/** By container: what it requests is what it is charged for. */
function heldBy(model: ContainerGroup): ReadonlyMap<string, Readonly<Record<string, number>>> {
  return new Map(
    allContainers(model).map(({ name, properties }) => {
      const { cpu, memoryInGB } = { ...defaultRequests, ...properties.resources?.requests }
      return [
        name,
        { 'containerGroups/cpu': Number(cpu), 'containerGroups/memory': Number(memoryInGB) },
      ]
    }),
  )
}

const reportEveryMilliseconds = 60_000
const rememberedMax = 100_000

/** Reports news to the meter: starts and ends at once, running ones once a minute. */
export function createUsageReporter(meter: UsageMeter | undefined) {
  const reportedAt = new Map<string, number>()
  return async (subject: GroupSubject, observed: Observed, now: number): Promise<void> => {
    if (meter === undefined) return
    const news = runsOf(subject, observed, now).filter((run) => {
      const { endedAt, seenAt } = run
      const reported = reportedAt.get(runKeyOf(run))
      if (reported === undefined) return true
      return endedAt === undefined
        ? seenAt - reported >= reportEveryMilliseconds
        : reported !== endedAt
    })
    if (news.length === 0) return
    await meter.note(news)
    if (reportedAt.size > rememberedMax) reportedAt.clear()
    for (const run of news) reportedAt.set(runKeyOf(run), run.endedAt ?? run.seenAt)
  }
}
