/**
 * Decides the next step that brings a group from its observed state to the desired one. Pure: it calls no engine
 * and knows no time but the given one.
 */

import { backOff } from '#kernel/back-off.ts'
import type {
  ContainerSpec,
  EngineDescription,
  GroupSpec,
  ObservedContainer,
  ObservedGroup,
} from './engine.ts'

export type Desired = 'running' | 'stopped' | 'absent'

export type Step =
  | { readonly kind: 'pull'; readonly image: string }
  | { readonly kind: 'create' }
  | { readonly kind: 'start'; readonly parts: readonly string[] }
  | { readonly kind: 'restart'; readonly part: string; readonly startedAt: number }
  | { readonly kind: 'stop' }
  | { readonly kind: 'remove' }
  /** Nothing to do until the engine has progressed: observe again at an event, or after a while. */
  | { readonly kind: 'wait'; readonly reason: string }
  /** A part can never start, or an init part has failed for good. Only another spec helps. */
  | {
      readonly kind: 'stuck'
      readonly part: string
      readonly reason: string
      /** The image that cannot be pulled, if that is the reason. */
      readonly image?: string
    }
  /** The group is as desired. */
  | { readonly kind: 'settled' }

/**
 * Between an end and the engine's own restart a part looks terminated. A part that stays so for longer was given up
 * by the engine (which was itself restarted, for example), and is restarted from here.
 */
export const givenUpSeconds = 30
/** Seconds before a part is restarted that is not restarted by its engine: they double with each restart. */
export const restartPause = { first: 1, most: 60 }
/** A part that ran for so long and ends is restarted as if it were the first time. */
const soundRunSeconds = 600

/** What a decision depends on besides the group. */
export interface Circumstances {
  readonly engine: Pick<EngineDescription, 'pullsByItself' | 'startsByItself' | 'restartsByItself'>
  readonly now: number
  /** How often a part was restarted, for an engine that does not count it. */
  restartsOf?(part: string): number
}

/** `spec` is the desired spec; `undefined` only when the desired state is not `running`. */
export function nextStep(
  desired: Desired,
  spec: GroupSpec | undefined,
  observed: ObservedGroup,
  circumstances: Circumstances,
): Step {
  const { engine } = circumstances
  if (desired === 'absent') return observed.empty ? { kind: 'settled' } : { kind: 'remove' }
  if (desired === 'stopped') {
    return observed.sandbox === 'up' || observed.parts.some(isAlive)
      ? { kind: 'stop' }
      : { kind: 'settled' }
  }
  if (spec === undefined) throw new Error('a group that should run needs a spec')

  // A full replacement stops the old containers politely first, since they may be working.
  const foreign =
    (observed.hash !== undefined && observed.hash !== spec.hash) ||
    observed.parts.some((part) => part.hash !== spec.hash)
  if (foreign || observed.sandbox === 'down') {
    return observed.parts.some((part) => part.state.kind === 'running')
      ? { kind: 'stop' }
      : { kind: 'remove' }
  }

  const seen = new Map(observed.parts.map((part) => [part.name, part]))
  const missing = spec.parts.filter((part) => !seen.has(part.name))
  if (observed.sandbox === 'none' || missing.length > 0) {
    const image = missing
      .map((part) => part.image)
      .find((name) => !observed.imagesPresent.has(name))
    return image !== undefined && !engine.pullsByItself
      ? { kind: 'pull', image }
      : { kind: 'create' }
  }
  return nextPart(spec, seen, circumstances)
}

/** The moment of the next restart of a part from here; `undefined` where none has ended that should run. */
export function nextRestart(
  spec: GroupSpec,
  { parts }: ObservedGroup,
  circumstances: Circumstances,
): number | undefined {
  const moments = spec.parts.flatMap((part) => {
    const state = parts.find(({ name }) => name === part.name)?.state
    const at = restartAt(part, state, spec, circumstances)
    return at === undefined ? [] : [at]
  })
  return moments.length === 0 ? undefined : Math.min(...moments)
}

/** Everything is created. Init parts are started one by one, then all the others at once. */
function nextPart(
  spec: GroupSpec,
  seen: ReadonlyMap<string, ObservedContainer>,
  circumstances: Circumstances,
): Step {
  const { engine } = circumstances
  for (const { name, image } of spec.parts) {
    const state = seen.get(name)?.state
    if (state?.kind === 'waiting' && state.imageMissing === true) {
      return { kind: 'stuck', part: name, reason: state.reason, image }
    }
  }
  for (const part of spec.parts.filter((each) => each.init)) {
    const state = seen.get(part.name)?.state
    if (state?.kind === 'terminated' && state.exitCode === 0) continue
    if (state?.kind === 'created' && !engine.startsByItself) {
      return { kind: 'start', parts: [part.name] }
    }
    if (state?.kind === 'terminated') {
      if (state.reason === 'CannotStart' || spec.restart === 'never') {
        return {
          kind: 'stuck',
          part: part.name,
          reason: `init container ended with code ${state.exitCode}`,
        }
      }
      const again = restartOf(part, state, spec, circumstances)
      if (again !== undefined) return again
    }
    return { kind: 'wait', reason: `init container '${part.name}' has not ended yet` }
  }

  const main = spec.parts.filter((part) => !part.init)
  const unstarted = main.filter((part) => seen.get(part.name)?.state.kind === 'created')
  if (unstarted.length > 0) {
    return engine.startsByItself
      ? { kind: 'wait', reason: 'the engine starts the containers' }
      : { kind: 'start', parts: unstarted.map((part) => part.name) }
  }
  for (const part of main) {
    const state = seen.get(part.name)?.state
    if (state?.kind === 'terminated' && state.reason === 'CannotStart') {
      return { kind: 'stuck', part: part.name, reason: 'its command cannot be run' }
    }
    const again = restartOf(part, state, spec, circumstances)
    if (again !== undefined) return again
  }
  return { kind: 'settled' }
}

function restartOf(
  part: ContainerSpec,
  state: ObservedContainer['state'] | undefined,
  spec: GroupSpec,
  circumstances: Circumstances,
): Step | undefined {
  const at = restartAt(part, state, spec, circumstances)
  return at !== undefined && at < circumstances.now && state?.kind === 'terminated'
    ? { kind: 'restart', part: part.name, startedAt: state.startedAt }
    : undefined
}

function restartAt(
  part: ContainerSpec,
  state: ObservedContainer['state'] | undefined,
  spec: GroupSpec,
  { engine, restartsOf }: Circumstances,
): number | undefined {
  if (state?.kind !== 'terminated' || spec.restart === 'never') return undefined
  if (state.reason === 'CannotStart') return undefined
  if ((part.init || spec.restart === 'on-failure') && state.exitCode === 0) return undefined
  if (engine.restartsByItself) return state.finishedAt + givenUpSeconds * 1000
  const isSound = state.finishedAt - state.startedAt >= soundRunSeconds * 1000
  const restarts = isSound ? 0 : (restartsOf?.(part.name) ?? 0)
  return state.finishedAt + backOff(restartPause, restarts) * 1000
}

function isAlive(part: ObservedContainer): boolean {
  return part.state.kind === 'running' || part.state.kind === 'waiting'
}
