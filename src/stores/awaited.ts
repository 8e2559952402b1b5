/**
 * Who waits for an answer of the store, and in whose name. A store that has no room for a call asks for both: the call
 * waits behind others of its owner, and no longer than anybody waits for it. They are ambient, so that what stands around
 * the port need not hand them on.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Awaited } from '#kernel/room.ts'

/** What is asked in somebody's name. What goes on after its end is in nobody's. */
interface Behalf {
  run<T>(work: () => T): T
  end(): void
}

/** A request of a caller, with all that is asked for it. Whoever knows more of it keeps that here. */
export interface AwaitedRequest {
  readonly owner: string
  readonly awaited: Awaited
  /** The same for what it asks the store, as long as it only reads: what may have begun to change something goes on. */
  readonly readsAwaited?: Awaited | undefined
  /** What goes on by itself afterwards is done for no request. */
  isOver: boolean
}

interface Call {
  /** `owner` is undefined once it has ended. */
  readonly behalf?:
    | { owner: string | undefined; readonly request: AwaitedRequest | undefined }
    | undefined
  readonly awaited?: Awaited
}

const storage = new AsyncLocalStorage<Call>()

/** Makes one call of the store, for somebody who waits until the signal is aborted. */
export function whileAwaited<T>(awaited: Awaited, call: () => T): T {
  return storage.run({ behalf: storage.getStore()?.behalf, awaited }, call)
}

/** What is asked in another name meanwhile is asked for the same request. */
export function behalfOf(owner: string): Behalf {
  return begin(owner, currentRequest())
}

export function behalfOfRequest(request: AwaitedRequest): Behalf {
  return begin(request.owner, request)
}

function begin(owner: string, request: AwaitedRequest | undefined): Behalf {
  const behalf: Call['behalf'] = { owner, request }
  return {
    run: (work) => storage.run({ behalf }, work),
    end() {
      behalf.owner = undefined
    },
  }
}

const ofAddress = 'address '

/** The name of callers who have not said yet who they are. */
export function ownerAt(address: string): string {
  return ofAddress + address
}

export function isUnknown(owner: string): boolean {
  return owner.startsWith(ofAddress)
}

/** Whoever happens to be the first to need it, it is done for everybody. */
export function forEverybody<T>(work: () => T): T {
  return storage.run({}, work)
}

/** The signal of the call that is being made, or else of its request. */
export function awaitedSignal(): ReturnType<Awaited> {
  return (storage.getStore()?.awaited ?? currentRequest()?.readsAwaited)?.()
}

/** The request that it is done for; undefined for all that goes on by itself. */
export function currentRequest(): AwaitedRequest | undefined {
  const request = storage.getStore()?.behalf?.request
  return request?.isOver === true ? undefined : request
}

/** In whose name the call is made. */
export function callOwner(): string | undefined {
  return storage.getStore()?.behalf?.owner
}
