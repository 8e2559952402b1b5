/**
 * `logs`: the output of one container as `{content}`, the last part of it where it is long. A long log is
 * read twice and streamed, never held (facts 4.7: 4 MB at the most).
 */

import Type from 'typebox'
import type { ContainerEngine, LogOptions } from '#engines/containers/engine.ts'
import { refuse } from '#kernel/error.ts'
import { ReceivedBytes } from '#kernel/received-bytes.ts'
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

export function logsOf({ engine, limits }: LogDependencies): Action<unknown> {
  return {
    method: 'GET',
    description: 'The output of one container of a group.',
    query: ['tail', 'timestamps'],
    answer: Type.Object({ content: Type.String() }),
    async run({ id, query, reader }) {
      const { token, name } = await addressedContainer({ id, reader })
      const options = optionsOf(query, limits)
      const read = () => engine.logs(token, name, options)
      const tried = await attempt(() => measure(read()))
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
        body: asJson(read(), skip, limits.logBytesMax),
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
