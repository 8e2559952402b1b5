/**
 * In whose name the store is asked, for the edge and for providers, which cannot import stores; and how many requests at
 * once read large resources besides the one that they are about.
 */

import { type Awaited, createRoom, type Leave } from '#kernel/room.ts'
import {
  type AwaitedRequest,
  behalfOf,
  behalfOfRequest,
  currentRequest,
  forEverybody as everybody,
  ownerAt as nameAt,
} from '#stores/awaited.ts'
import { largeFrom } from '#stores/large-rows.ts'

export const forEverybody = everybody

export const ownerAt = nameAt

/**
 * Requests at once that read large resources: each may have megabytes of them in memory, as text, parsed and in its answer. A
 * request enters once, holds its place until its answer is made, and waits for no other room after that.
 */
const sizes = { perOwnerMax: 2, sumMax: 8, spare: 2 }

interface LargeReads {
  /** Characters of rows that were read without a place. */
  characters: number
  leave: Leave | undefined
  entering: Promise<void> | undefined
}

const largeReads = new WeakMap<AwaitedRequest, LargeReads>()
const room = createRoom(sizes)

/** One piece of work in somebody's name, from its begin to its end. */
export async function inNameOf<T>(owner: string, work: () => Promise<T>): Promise<T> {
  const behalf = behalfOf(owner)
  try {
    return await behalf.run(work)
  } finally {
    behalf.end()
  }
}

/** The same for a request, whose caller waits until the signal is aborted. `readsAwaited` gives one as long as it only reads. */
export async function inRequestOf<T>(
  owner: string,
  awaited: Awaited,
  work: () => Promise<T>,
  readsAwaited?: Awaited,
): Promise<T> {
  const request: AwaitedRequest = { owner, awaited, readsAwaited, isOver: false }
  const behalf = behalfOfRequest(request)
  try {
    return await behalf.run(work)
  } finally {
    behalf.end()
    request.isOver = true
    largeReads.get(request)?.leave?.()
  }
}

/** Whether what is done now is done for a request. What goes on by itself has bounds of its own. */
export function isForRequest(): boolean {
  return currentRequest() !== undefined
}

/**
 * To be awaited outside of transactions, before a large resource is read or parsed that the request is not about, or much is made
 * of a small one. Undefined where there is nothing to wait for.
 */
export function roomForLarge(): Promise<void> | undefined {
  const request = currentRequest()
  return request === undefined ? undefined : enter(request, readsOf(request))
}

/**
 * The same where rows were read that have so many characters: together they count as one large row. As objects they may take
 * thirty times as many bytes.
 */
export function roomForRows(characters: number): Promise<void> | undefined {
  const request = currentRequest()
  if (request === undefined) return undefined
  const reads = readsOf(request)
  reads.characters += characters
  return reads.characters >= largeFrom ? enter(request, reads) : undefined
}

function readsOf(request: AwaitedRequest): LargeReads {
  let reads = largeReads.get(request)
  if (reads === undefined) {
    reads = { characters: 0, leave: undefined, entering: undefined }
    largeReads.set(request, reads)
  }
  return reads
}

function enter(request: AwaitedRequest, reads: LargeReads): Promise<void> | undefined {
  if (reads.leave !== undefined || reads.entering !== undefined) return reads.entering
  const entered = room.enter(request.owner, 1, request.awaited)
  if (entered instanceof Promise) reads.entering = wait(entered, request, reads)
  else reads.leave = entered
  return reads.entering
}

/** The answer of the request is made. It may be a stream that goes on for hours. */
export function leaveRoomForLarge(): void {
  const request = currentRequest()
  if (request !== undefined) largeReads.get(request)?.leave?.()
}

/** For a request that has room for its answer, as lists do: it waits for no other. */
export function haveRoomForLarge(): void {
  const request = currentRequest()
  if (request !== undefined) readsOf(request).leave ??= () => {}
}

async function wait(
  entered: Promise<Leave>,
  request: AwaitedRequest,
  reads: LargeReads,
): Promise<void> {
  reads.leave = await entered
  reads.entering = undefined
  if (request.isOver) reads.leave()
}
