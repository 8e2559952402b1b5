/**
 * Converts errors of the engine, and of the services behind secrets and volumes, into values: what failed and
 * whether to retry. Bugs pass through.
 */

import { EngineError } from '#engines/containers/engine.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import { type ContainerCode, refuseContainer } from '../errors.ts'

/** A failure as the reconciler handles it. */
export interface Failure {
  readonly code: ContainerCode
  readonly message: string
  readonly retry: 'later' | 'never'
}

/** Something a group needs is missing: a secret, a share, a repository. */
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
      /** Without a full stop: it ends a longer sentence. */
      readonly reason: string
      /** The engine's message, which is only for the operator. */
      readonly heard?: string
    }

/** Runs `work`; a failure of another system becomes a value. */
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

/** Calls a service that is not an engine; its errors mean "not now" unless they say `retry: 'never'`. */
export async function callService<T>(
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
 * For repeated background work: returns why it failed, whatever the error. An error of the store would end it for
 * good otherwise.
 */
export async function attemptBackground(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    const done = await attempt(work)
    return done.ok ? undefined : done.failure.message
  } catch (error) {
    return String(error)
  }
}
