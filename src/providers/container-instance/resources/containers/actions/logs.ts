/**
 * `logs`: the output of one container as `{content}`, the last part of it where it is long. A long log is
 * read twice and streamed, never held (facts 4.7: 4 MB at the most).
 */

import Type from 'typebox'
import type { ContainerEngine, LogOptions } from '#engines/containers/engine.ts'
import { refuse } from '#kernel/error.ts'
import { ReceivedBytes } from '#kernel/received-bytes.ts'
import { createRoom, inRoom, type Room } from '#kernel/room.ts'
import type { Action } from '#plane/declare/action.ts'
import { attempt } from '../../../domain/engine-failure.ts'
import type { ContainerLimits } from '../../../domain/limits.ts'
import { refuseContainer } from '../../../errors.ts'
import { addressedContainer } from './addressed.ts'

export interface LogDependencies {
  readonly engine: ContainerEngine
  readonly limits: Pick<ContainerLimits, 'logBytesMax' | 'logTailMax'>
}

/** A log up to this size is answered at once. */
const heldBytesMax = 256 * 1024

/** Logs of one principal that the engine reads at once. It sends each line by itself, so few of them take all of its processor. */
const perPrincipalMax = 2
/** Logs of all principals that are measured at once; the last places are for principals without one. */
const measuredMax = 8
const measuredOfNewcomers = 2

export function logsOf({ engine, limits }: LogDependencies): Action<unknown> {
  const measuring = createRoom({
    perOwnerMax: perPrincipalMax,
    sumMax: measuredMax,
    spare: measuredOfNewcomers,
  })
  // No bound for all principals together: a slow reader keeps nobody waiting but itself.
  const streaming = createRoom({ perOwnerMax: perPrincipalMax, sumMax: Number.POSITIVE_INFINITY })
  return {
    method: 'GET',
    description: 'The output of one container of a group.',
    query: ['tail', 'timestamps'],
    answer: Type.Object({ content: Type.String() }),
    async run({ id, query, reader, permission, signal }) {
      const { token, name } = await addressedContainer({ id, reader })
      const options = optionsOf(query, limits)
      const read = () => engine.logs(token, name, options)
      const owner = permission?.principalId ?? ''
      const measured = () => attempt(() => measure(read()))
      const tried = await inRoom(measuring, owner, measured, () => signal)
      if (!tried.ok) {
        const reason = tried.failure.message
        throw tried.kind === 'absent'
          ? refuseContainer.ContainerLogNotAvailable({ name, reason })
          : refuse.ServiceUnavailable({ reason })
      }
      const { bytes, whole } = tried.value
      if (whole !== undefined && bytes <= limits.logBytesMax) {
        return { status: 200, body: { content: whole.toString('utf8') } }
      }
      const skip = Math.max(0, bytes - limits.logBytesMax)
      return {
        status: 200,
        headers: { 'Content-Type': 'application/json; charset=utf-8' },
        body: asJson(inPlace(streaming, owner, read), skip, limits.logBytesMax),
      }
    },
  }
}

function optionsOf(query: URLSearchParams, { logTailMax }: LogDependencies['limits']): LogOptions {
  const tail = query.get('tail')
  if (tail !== null && (!/^\d{1,9}$/.test(tail) || Number(tail) < 1)) {
    throw refuse.InvalidQueryParameter({ name: 'tail', reason: 'expected a whole number from 1' })
  }
  const timestamps = (query.get('timestamps') ?? 'false').toLowerCase()
  if (!['true', 'false'].includes(timestamps)) {
    throw refuse.InvalidQueryParameter({ name: 'timestamps', reason: 'expected true or false' })
  }
  return {
    timestamps: timestamps === 'true',
    ...(tail === null ? {} : { tail: Math.min(Number(tail), logTailMax) }),
  }
}

/** The length of the log, and the whole log if it is short. */
async function measure(
  log: AsyncIterable<Uint8Array>,
): Promise<{ readonly bytes: number; readonly whole: Buffer | undefined }> {
  let held = new ReceivedBytes()
  let bytes = 0
  for await (const piece of log) {
    bytes += piece.byteLength
    if (bytes <= heldBytesMax) held.add(piece)
    else held = new ReceivedBytes()
  }
  return { bytes, whole: bytes <= heldBytesMax ? Buffer.from(held.all()) : undefined }
}

/** A place is taken when the log is first read, and given back at its end or when nobody reads on. */
async function* inPlace(
  room: Room,
  owner: string,
  read: () => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const leave = await room.enter(owner, 1)
  try {
    yield* read()
  } finally {
    leave()
  }
}

/** Yields `{"content":"…"}` piece by piece, without the first `skip` bytes. */
async function* asJson(
  log: AsyncIterable<Uint8Array>,
  skip: number,
  most: number,
): AsyncIterable<Uint8Array> {
  const decoder = new TextDecoder()
  const quoted = (text: string): Uint8Array => Buffer.from(JSON.stringify(text).slice(1, -1))
  yield Buffer.from('{"content":"')
  let left = skip
  let room = most
  for await (const piece of log) {
    const kept = piece.subarray(Math.min(left, piece.byteLength)).subarray(0, room)
    left = Math.max(0, left - piece.byteLength)
    room -= kept.byteLength
    if (kept.byteLength > 0) yield quoted(decoder.decode(kept, { stream: true }))
  }
  yield quoted(decoder.decode())
  yield Buffer.from('"}')
}
