/**
 * The next step for a group: that of the engine area's `nextStep`, plus what only this type knows: stopped and
 * ended groups, failed probes, steps that failed before. Pure.
 */

import type { EngineDescription, ObservedGroup } from '#engines/containers/engine.ts'
import {
  type Circumstances,
  nextRestart,
  nextStep,
  restartPause,
  type Step,
} from '#engines/containers/next-step.ts'
import { backOff } from '#kernel/back-off.ts'
import type { Next, Subject } from '#plane/declare/reconciled.ts'
import { refuseContainer } from '../../errors.ts'
import { type ContainerGroup, hashOf } from '../../resources/container-groups/model.ts'
import type { Failure } from '../engine-failure.ts'
import { defaultContainerLimits } from '../limits.ts'
import { addEvent, eventOf } from './events.ts'
import type { FailedStep, Observed } from './observation.ts'
import { type GroupHostContext, impossibleReason, specOf } from './spec.ts'

export interface GroupStep {
  readonly step: Step
  /** Nothing of the group runs yet: host ports may be chosen again. */
  readonly fresh: boolean
}

export type GroupNext = Next<GroupStep, Observed>

/** Seconds between observations while an engine works; its events usually come first. */
const waitSeconds = 10
export const resyncSeconds = 600
/** A host port or a name that stays taken for so long will not become free. */
const busySecondsMax = 60
const registrySecondsMax = 600
/** A repository that cannot be fetched for so long counts as missing. */
const repositorySecondsMax = 120
const backoffSecondsMax = 60

export function nextGroupStep(
  subject: Pick<Subject<ContainerGroup, Observed>, 'desired' | 'state' | 'now'>,
  observed: Observed,
  engine: EngineDescription,
  around: GroupHostContext,
): GroupNext {
  const { desired, state, now } = subject
  const seen = groupOf(observed)
  if (desired === undefined) {
    return follow(nextStep('absent', undefined, seen, { engine, now }), observed, { state, now })
  }
  // A later PUT tries again; until then the remains stay for inspection.
  if (state === 'Failed') return { kind: 'wait', seconds: resyncSeconds }
  if (desired.intent === 'stopped') {
    return follow(nextStep('stopped', undefined, seen, { engine, now }), observed, { state, now })
  }
  const failure = impossibleReason(desired, around, engine)
  if (failure !== undefined) {
    return { kind: 'fail', ...pick(failure), observed: withFailure(observed, failure, now) }
  }
  const hash = hashOf(desired)
  const untouched = observed.seen.hash === hash || observed.seen.hash === undefined
  if (untouched && (observed.finished === hash || observed.lost === hash)) {
    return settled(observed, state, undefined)
  }
  const spec = specOf(desired, around)
  const ill = spec.restart === 'never' ? undefined : illContainer(observed, engine)
  const circumstances: Circumstances = {
    engine,
    now,
    restartsOf: (part) => observed.parts[part]?.restartCount ?? 0,
  }
  if (ill !== undefined && ill.at <= now) return follow(ill.step, observed, { state, now })
  const step = nextStep('running', spec, seen, circumstances)
  const restartAt = earlier(ill?.at, nextRestart(spec, seen, circumstances))
  return follow(step, observed, { state, now, restartAt })
}

/** The user then reads in the group's events why nothing was tried. */
function withFailure(observed: Observed, { code, message }: Failure, at: number): Observed {
  const event = { name: eventOf(code), message, type: 'Warning', at } as const
  return { ...observed, events: addEvent(observed.events, event, defaultContainerLimits.eventsMax) }
}

function pick({ code, message }: { readonly code: string; readonly message: string }) {
  return { code, message }
}

/**
 * A running container whose liveness probe failed (facts 4.4: `Never` takes precedence over the probe), and when it is
 * restarted: one that fails soon after each start would be started without an end.
 */
function illContainer(
  observed: Observed,
  engine: EngineDescription,
): { readonly step: Step; readonly at: number } | undefined {
  if (engine.probesByItself) return undefined
  const [first] = observed.seen.parts
    .flatMap(({ name, state }) => {
      const record = observed.parts[name]
      if (state.kind !== 'running' || record?.unhealthyRun !== state.startedAt) return []
      const { startedAt } = state
      const at = startedAt + backOff(restartPause, record.restartCount) * 1000
      return [{ step: { kind: 'restart', part: name, startedAt } as const, at }]
    })
    .toSorted((left, right) => left.at - right.at)
  return first
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function follow(
  step: Step,
  observed: Observed,
  {
    state,
    now,
    restartAt,
  }: { readonly state: string; readonly now: number; readonly restartAt?: number | undefined },
): GroupNext {
  // Past it by a second, so that it has come at the next observation.
  const again =
    restartAt === undefined ? undefined : Math.max(1, Math.floor((restartAt - now) / 1000) + 1)
  switch (step.kind) {
    case 'settled':
      return settled(observed, state, again)
    case 'wait':
      return {
        kind: 'wait',
        seconds: Math.min(waitSeconds, again ?? waitSeconds),
        ...working(state),
      }
    case 'stuck': {
      const { image, reason } = step
      if (image !== undefined) {
        const { message } = refuseContainer.InaccessibleImage({ image, reason })
        return { kind: 'fail', code: 'InaccessibleImage', message, observed }
      }
      const { message } = refuseContainer.ContainerStartFailed({
        name: step.part,
        reason: step.reason,
      })
      return { kind: 'fail', code: 'ContainerStartFailed', message, observed }
    }
    default: {
      const held = heldBack(step, observed, state, now)
      const fresh = observed.seen.sandbox === 'none' && observed.seen.parts.length === 0
      return held ?? { kind: 'step', step: { step, fresh }, ...working(state) }
    }
  }
}

/** Facts 4.4: `Pending`, then `Creating`. Other states do not change. */
function working(state: string): { readonly state?: string } {
  return state === 'Pending' ? { state: 'Creating' } : {}
}

/** A failed step is tried again with growing pauses, or not at all. */
function heldBack(
  step: Step,
  observed: Observed,
  state: string,
  now: number,
): GroupNext | undefined {
  const { trouble } = observed
  if (trouble === undefined) return undefined
  // A group that was removed because it differed from its spec is not created again.
  const wasRemoved = trouble.step === 'start' && trouble.retry === 'never' && step.kind === 'create'
  if (trouble.step !== stepKey(step) && !wasRemoved) return undefined
  if (trouble.retry === 'never' || now - trouble.firstAt > patienceMs(trouble)) {
    return { kind: 'fail', ...pick(trouble), observed }
  }
  const pause = backOff({ first: 1, most: backoffSecondsMax }, trouble.count)
  const left = trouble.at + pause * 1000 - now
  return left > 0 ? { kind: 'wait', seconds: Math.ceil(left / 1000), ...working(state) } : undefined
}

function patienceMs({ code }: FailedStep): number {
  if (code === 'ContainerEngineBusy') return busySecondsMax * 1000
  if (code === 'RegistryErrorResponse') return registrySecondsMax * 1000
  if (code === 'GitRepositoryNotAvailable') return repositorySecondsMax * 1000
  return Number.POSITIVE_INFINITY
}

export function stepKey(step: Step): string {
  return step.kind === 'pull' ? `pull ${step.image}` : step.kind
}

/** `again`: the seconds until something that has ended is restarted from here. */
function settled(observed: Observed, state: string, again: number | undefined): GroupNext {
  const { trouble: _, ...clean } = observed
  if (again === undefined) return { kind: 'done', observed: clean }
  // It was reported as done already; only the time of the next observation is left.
  return state === 'Succeeded'
    ? { kind: 'wait', seconds: again, observed: clean }
    : { kind: 'done', observed: clean, againSeconds: again }
}

function groupOf({ seen }: Observed): ObservedGroup {
  const { imagesMissing, hash, address, ...rest } = seen
  return { ...rest, hash, address, imagesPresent: absentFrom(imagesMissing) }
}

/** Every image except these: the observation asked about all relevant ones. */
function absentFrom(missing: readonly string[]): ReadonlySet<string> {
  return new (class extends Set<string> {
    override has(image: string): boolean {
      return !missing.includes(image)
    }
  })()
}
