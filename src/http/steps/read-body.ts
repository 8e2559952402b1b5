/**
 * Reads the body of an authenticated and authorized caller: framing, size, encoding, media type, then JSON. A body
 * that the route does not use is not read here; `respond` drains it within a bound. What counts is who the caller is and
 * what they may do once the body is there.
 */

import type { IncomingMessage } from 'node:http'
import { refuse } from '#kernel/error.ts'
import { type JsonSizeLimits, jsonSizeLimitsOf } from '#kernel/json-size.ts'
import { ReceivedBytes } from '#kernel/received-bytes.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { edgeErrors } from '../edge-errors.ts'
import {
  announcesBody,
  authorizeAgain,
  type Edge,
  type Exchange,
  enterBodyRoom,
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
    const pause = () => freeTurn(exchange.principal?.id)
    exchange.body = await parseJsonWithPauses(bytes, size, exchange.bodySyntax, pause)
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

interface BodyOptions {
  /** The most bytes of a body. */
  readonly limit?: number
  /** A buffer for bodies up to `bodyBytesMax`. */
  readonly bufferWanted?: () => Buffer | undefined
  /** Throws the refusal of a caller who may send no body above `bodyBytesMax`. */
  readonly admitLarge?: () => Promise<void>
}

/**
 * The bytes of the body, once there is room for them. Of bodies above `bodyBytesMax` few are read at once, each into one
 * buffer: whoever sends one has sent that much of it before, and waits for a place then.
 */
export async function bytesOf(
  exchange: Exchange,
  edge: Edge,
  { limit = edge.limits.bodyBytesMax, bufferWanted, admitLarge }: BodyOptions = {},
): Promise<Buffer> {
  const { request, response } = exchange
  const usual = Math.min(limit, edge.limits.bodyBytesMax)
  const announced = Number(request.headers['content-length'] ?? 0)
  const isHere = request.complete && announced > 0 && announced <= smallBodyBytes
  if (announced > usual) await admitLarge?.()
  if (!(await enterBodyRoom(exchange, edge))) throw connectionEnded()
  // The client is told to continue only now (`Expect: 100-continue`), so a refusal costs no upload.
  if (request.headers.expect !== undefined) response.writeContinue()
  let unfollow: () => unknown = () => {}
  try {
    const bytes = await readBytes(request, {
      limit,
      usual,
      into: bufferWanted?.(),
      async grow(large) {
        if (announced <= usual) await admitLarge?.()
        if (!(await enterBodyRoom(exchange, edge, true))) throw connectionEnded()
        unfollow = edge.largeBodies.follow(large)
        // The pages of a buffer take memory when they are written, so a smaller body takes no more than its bytes.
        return Buffer.allocUnsafeSlow(announced === 0 ? limit : announced)
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

/** The connection is gone, so nobody gets this refusal; it only ends the exchange. */
export function connectionEnded(): Error {
  return refuse.BadRequest({ reason: 'the connection ended before the answer' })
}

interface Reading {
  readonly limit: number
  /** A longer body goes into the buffer of `grow`. */
  readonly usual: number
  readonly into: Buffer | undefined
  grow(body: Parameters<LargeBodies['follow']>[0]): Promise<Buffer>
}

/** All bytes of the body. They are counted while they arrive, since chunked bodies announce no length. */
function readBytes(
  request: IncomingMessage,
  { limit, usual, into, grow }: Reading,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received = new ReceivedBytes(into)
    let fit = usual
    const detach = (): void => {
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('error', onGone)
      request.off('close', onGone)
    }
    const fail = (error: unknown): void => {
      detach()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      if (received.length + chunk.length > limit) {
        fail(refuse.RequestEntityTooLarge({ limit }))
        return
      }
      received.add(chunk)
      if (received.length <= fit) return
      fit = limit
      request.pause()
      const large = {
        received: () => received.length - usual,
        end: () => fail(edgeErrors.refuse.RequestTimeout()),
      }
      grow(large).then((buffer) => {
        received.moveTo(buffer)
        request.resume()
      }, fail)
    }
    const onEnd = (): void => {
      detach()
      const { buffer, byteOffset, length } = received.all()
      resolve(Buffer.from(buffer, byteOffset, length))
    }
    const onGone = (): void => fail(connectionEnded())
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', onGone)
    request.on('close', onGone)
  })
}
