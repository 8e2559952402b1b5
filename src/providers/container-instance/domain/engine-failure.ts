/**
 * The one place of this provider where errors of the engine, and of the services behind secrets and volumes,
 * become values: what went wrong and whether it is worth another try. Faults of ours pass through.
 */

import { EngineError } from '#engines/containers/engine.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import { type ContainerCode, refuseContainer } from '../errors.ts'

/** A failure as the reconciler weighs it. */
export interface Failure {
  readonly code: ContainerCode
  readonly message: string
  readonly retry: 'later' | 'never'
}

/** What a group needs is not there: a secret, a share, a repository. */
export class MaterialFailure extends Error {
  readonly failure: Failure

  constructor(code: ContainerCode, retry: Failure['retry'], params: Record<string, string>) {
    const { message } = refuseContainer[code](params)
    super(message)
    this.name = 'MaterialFailure'
    this.failure = { code, message, retry }
  }
}

export type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly failure: Failure
      readonly kind: EngineError['kind'] | 'material'
      /** Without a full stop: it ends a sentence of ours. */
      readonly reason: string
      /** What the engine heard, which is for the operator alone. */
      readonly heard?: string
    }

/** Runs `work`; a failure of the world comes back as a value. */
export async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (error) {
    if (error instanceof MaterialFailure) {
      return { ok: false, failure: error.failure, kind: 'material', reason: error.message }
    }
    if (!(error instanceof EngineError)) throw error
    const heard = error.cause instanceof Error ? { heard: error.cause.message } : {}
    const reason = withoutTrailing(error.message, '. \n\r\t')
    return { ok: false, failure: failureOf(error, reason), kind: error.kind, reason, ...heard }
  }
}

function failureOf(error: EngineError, reason: string): Failure {
  const code =
    error.kind === 'busy'
      ? 'ContainerEngineBusy'
      : error.kind === 'unavailable'
        ? 'ContainerEngineUnavailable'
        : 'ContainerEngineRefused'
  const message = refuseContainer[code]({ reason }).message
  return { code, message, retry: error.retry }
}

/** Asks a service that is not an engine; what it throws means "not now", unless it says `retry: 'never'`. */
export async function ask<T>(
  work: () => Promise<T>,
  code: ContainerCode,
  params: Record<string, string>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const never = error instanceof Error && 'retry' in error && error.retry === 'never'
    throw new MaterialFailure(code, never ? 'never' : 'later', { ...params, reason })
  }
}

/**
 * For work that nobody waits for and that comes again: answers why it did not go through, whatever that was. A store that
 * is away would end it for good.
 */
export async function attemptBackground(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    const done = await attempt(work)
    return done.ok ? undefined : done.failure.message
  } catch (error) {
    return String(error)
  }
}
