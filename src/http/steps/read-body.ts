/**
 * Reads the body of an authenticated and authorized caller: framing, size, encoding, media type, then JSON. A body
 * that the route does not use is not read here; `respond` drains it within a bound. What counts is who the caller is and
 * what they may do once the body is there.
 */

import type { IncomingMessage } from 'node:http'
import type { UnnamedFile } from '#files/unnamed-file.ts'
import { refuse } from '#kernel/error.ts'
import { type JsonSizeLimits, jsonSizeLimitsOf } from '#kernel/json-size.ts'
import { ReceivedBytes } from '#kernel/received-bytes.ts'
import { type Bytes, readBytes } from '#kernel/stored-bytes.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { edgeErrors } from '../edge-errors.ts'
import {
  announcesBody,
  authorizeAgain,
  connectionEnded,
  deadlineOf,
  type Edge,
  type Exchange,
  enterBodyRoom,
  enterObjectRoom,
  smallBodyBytes,
} from '../exchange.ts'
import { parseJsonWithPauses } from '../json.ts'
import type { LargeBodies } from '../large-bodies.ts'

export function readBody(exchange: Exchange, edge: Edge): void | Promise<void> {
  if (exchange.bodyRule === 'none') return
  const { request } = exchange
  if (!announcesBody(request)) {
    if (exchange.bodyRule === 'required') throw missing()
    return
  }
  const limit = edge.limits.bodyBytesMax
  checkEncoding(request.headers['content-encoding'])
  checkMediaType(request.headers['content-type'])
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    throw refuse.RequestEntityTooLarge({ limit })
  }
  return keep(exchange, edge, jsonSizeLimitsOf(edge.limits))
}

async function keep(exchange: Exchange, edge: Edge, size: JsonSizeLimits): Promise<void> {
  let into: Buffer | undefined
  try {
    const bytes = await bytesOf(exchange, edge, {
      bufferWanted: () => {
        into = bufferFor(exchange, edge)
        return into
      },
    })
    if (bytes.length === 0) {
      if (exchange.bodyRule === 'required') throw missing()
      return
    }
    const { buffer, byteOffset, length } = readBytes(bytes)
    const text = Buffer.from(buffer, byteOffset, length)
    await enterObjectRoom(exchange, edge, text)
    const pause = () => freeTurn(exchange.principal?.id)
    exchange.body = await parseJsonWithPauses(text, size, exchange.bodySyntax, pause)
  } finally {
    // The parsed value does not refer to the bytes, so the buffer can be reused.
    if (into !== undefined && edge.spareBodies.length < spareBodiesMax) edge.spareBodies.push(into)
  }
}

/** A larger body is read into a reused buffer: garbage of that size is collected late. */
const ownBufferMax = 512 * 1024
const spareBodiesMax = 2

function bufferFor({ request }: Exchange, edge: Edge): Buffer | undefined {
  if (Number(request.headers['content-length'] ?? 0) <= ownBufferMax) return undefined
  return edge.spareBodies.pop() ?? Buffer.allocUnsafeSlow(edge.limits.bodyBytesMax)
}

function missing(): Error {
  return refuse.InvalidRequestContent({ reason: 'a JSON body is required.' })
}

function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return
  throw refuse.UnsupportedMediaType({
    type: `Content-Encoding: ${printable(encoding)}`,
  })
}

/** A body without a media type is taken as JSON, since some clients leave it out. */
function checkMediaType(header: string | undefined): void {
  if (header === undefined || header.trim() === '') return
  const [essence = '', ...parameters] = header.toLowerCase().split(';')
  const type = essence.trim()
  const json = type === 'application/json' || /^[\w.+-]+\/[\w.+-]+\+json$/.test(type)
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (!json || (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')) {
    throw refuse.UnsupportedMediaType({ type: printable(header) })
  }
}

function printable(header: string): string {
  return header.slice(0, 100).replace(/[^\x20-\x7e]/g, '?')
}

export interface LargeBodyRules {
  /** The most bytes of a body. */
  readonly limit: number
  /** Throws the refusal of a caller who may send no body above `bodyBytesMax`. */
  admit(): Promise<void>
  /** Makes the file for a body above `bodyBytesMax`. Its maker closes it, also where the body is refused. */
  file(): Promise<UnnamedFile>
}

interface BodyOptions {
  /** A buffer for bodies up to `bodyBytesMax`. */
  readonly bufferWanted?: () => Buffer | undefined
  /** Left out where larger ones are refused. */
  readonly large?: LargeBodyRules
}

/**
 * The bytes of the body, once there is room for them. Of bodies above `bodyBytesMax` few are read at once, each into a
 * file: whoever sends one has sent that much of it before, and waits for a place then.
 */
export async function bytesOf(
  exchange: Exchange,
  edge: Edge,
  { bufferWanted, large }: BodyOptions = {},
): Promise<Bytes> {
  const { request, response } = exchange
  const usual = Math.min(large?.limit ?? Number.POSITIVE_INFINITY, edge.limits.bodyBytesMax)
  const announced = Number(request.headers['content-length'] ?? 0)
  const isHere = request.complete && announced > 0 && announced <= smallBodyBytes
  if (announced > usual) await large?.admit()
  await enterBodyRoom(exchange, edge)
  // The client is told to continue only now (`Expect: 100-continue`), so a refusal costs no upload.
  if (request.headers.expect !== undefined) response.writeContinue()
  let unfollow: () => unknown = () => {}
  try {
    const bytes = await receive(request, {
      limit: large?.limit ?? usual,
      usual,
      into: bufferWanted?.(),
      deadline: deadlineOf(exchange),
      async fileFor(body) {
        // There is no larger limit.
        if (large === undefined) throw refuse.RequestEntityTooLarge({ limit: usual })
        if (announced <= usual) await large.admit()
        await enterBodyRoom(exchange, edge, true)
        unfollow = edge.largeBodies.follow(body)
        return await large.file()
      },
    })
    // A body may take a minute, in which its caller may have been disabled, or may have lost the right. One that was here when
    // its turn came took no time since the caller was authorized.
    if (!isHere) await authorizeAgain(exchange, edge)
    return bytes
  } finally {
    unfollow()
  }
}

interface Receiving {
  readonly limit: number
  /** A longer body goes into a file. */
  readonly usual: number
  readonly into: Buffer | undefined
  /** Aborted when the request was answered without its body: what still comes is dropped, and not kept here. */
  readonly deadline: AbortSignal | undefined
  fileFor(body: Parameters<LargeBodies['follow']>[0]): Promise<UnnamedFile>
}

/** All bytes of the body. They are counted while they arrive, since chunked bodies announce no length. */
function receive(
  request: IncomingMessage,
  { limit, usual, into, deadline, fileFor }: Receiving,
): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    const received = new ReceivedBytes(into)
    let length = 0
    let file: UnnamedFile | undefined
    const detach = (): void => {
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('error', onGone)
      request.off('close', onGone)
      deadline?.removeEventListener('abort', onGone)
    }
    const fail = (error: unknown): void => {
      detach()
      reject(error)
    }
    const store = async (chunk: Buffer): Promise<void> => {
      if (file === undefined) {
        file = await fileFor({
          received: () => length - usual,
          end: () => fail(edgeErrors.refuse.RequestTimeout()),
        })
        await file.append(received.all())
      }
      await file.append(chunk)
    }
    let stored = Promise.resolve()
    const onData = (chunk: Buffer): void => {
      length += chunk.length
      if (length > limit) {
        fail(refuse.RequestEntityTooLarge({ limit }))
        return
      }
      if (length <= usual) {
        received.add(chunk)
        return
      }
      request.pause()
      stored = stored.then(() => store(chunk))
      stored.then(() => request.resume(), fail)
    }
    const onEnd = (): void => {
      detach()
      // The end may come while the last bytes are stored.
      stored.then(() => resolve(file?.bytes() ?? received.all()), reject)
    }
    const onGone = (): void => fail(connectionEnded())
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', onGone)
    request.on('close', onGone)
    deadline?.addEventListener('abort', onGone)
  })
}
