/**
 * Decides the next step that brings a group from its observed state to the desired one. Pure: it calls no engine
 * and knows no time but the given one.
 */

import type {
  EngineDescription,
  GroupSpec,
  ObservedGroup,
  ObservedPart,
  PartSpec,
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

/** `spec` is the desired spec; `undefined` only when the desired state is not `running`. */
export function nextStep(
  desired: Desired,
  spec: GroupSpec | undefined,
  observed: ObservedGroup,
  {
    engine,
    now,
  }: {
    readonly engine: Pick<EngineDescription, 'pullsByItself' | 'startsByItself'>
    readonly now: number
  },
): Step {
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
  return nextPart(spec, seen, engine, now)
}

/** Everything is created. Init parts are started one by one, then all the others at once. */
function nextPart(
  spec: GroupSpec,
  seen: ReadonlyMap<string, ObservedPart>,
  engine: Pick<EngineDescription, 'startsByItself'>,
  now: number,
): Step {
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
      const again = givenUp(part, seen, spec, now)
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
    const again = givenUp(part, seen, spec, now)
    if (again !== undefined) return again
  }
  return { kind: 'settled' }
}

function givenUp(
  part: PartSpec,
  seen: ReadonlyMap<string, ObservedPart>,
  spec: GroupSpec,
  now: number,
): Step | undefined {
  const state = seen.get(part.name)?.state
  if (state?.kind !== 'terminated' || spec.restart === 'never') return undefined
  const restarts = part.init || spec.restart === 'on-failure' ? state.exitCode !== 0 : true
  return restarts && now - state.finishedAt > givenUpSeconds * 1000
    ? { kind: 'restart', part: part.name, startedAt: state.startedAt }
    : undefined
}

function isAlive(part: ObservedPart): boolean {
  return part.state.kind === 'running' || part.state.kind === 'waiting'
}
