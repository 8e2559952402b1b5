/**
 * Reads the body of an authenticated and authorized caller: framing, size, encoding, media type, then JSON. A body
 * that the route does not use is not read here; `respond` drains it within a bound. What counts is who the caller is and
 * what they may do once the body is there.
 */

import type { IncomingMessage } from 'node:http'
import { refuse } from '#kernel/error.ts'
import { type JsonSizeLimits, jsonSizeLimitsOf } from '#kernel/json-size.ts'
import { announcesBody, type Edge, type Exchange, enterBodyRoom } from '../exchange.ts'
import { parseJsonWithPauses } from '../json.ts'
import { authenticate } from './authenticate.ts'
import { authorize } from './authorize.ts'

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
    exchange.body = await parseJsonWithPauses(bytes, size, exchange.bodySyntax)
    await authorize(exchange, edge)
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

/**
 * The bytes of the body, once there is room for them. A body above `limit` is refused. Of bodies above `bodyBytesMax`
 * few are read at once, each into one buffer; `bufferWanted` gives one to others.
 */
export async function bytesOf(
  exchange: Exchange,
  edge: Edge,
  {
    limit = edge.limits.bodyBytesMax,
    bufferWanted,
  }: { readonly limit?: number; readonly bufferWanted?: () => Buffer | undefined } = {},
): Promise<Buffer> {
  const { request, response } = exchange
  const usual = Math.min(limit, edge.limits.bodyBytesMax)
  const announced = Number(request.headers['content-length'] ?? 0)
  const isLarge = announced > usual
  const isAwaited = await enterBodyRoom(exchange, edge, isLarge)
  if (!isAwaited) throw gone()
  // The client is told to continue only now (`Expect: 100-continue`), so a refusal costs no upload.
  if (request.headers.expect !== undefined) response.writeContinue()
  // The pages of a buffer take memory when they are written, so a smaller body takes no more than its bytes.
  const whole = (): Buffer => Buffer.allocUnsafeSlow(announced === 0 ? limit : announced)
  const bytes = await readBytes(request, {
    limit,
    usual: isLarge ? limit : usual,
    into: isLarge ? whole() : bufferWanted?.(),
    grow: async () => {
      if (!(await enterBodyRoom(exchange, edge, true))) throw gone()
      return whole()
    },
  })
  // A body may take a minute, in which its caller may have been revoked. `keep` asks for the right again, too.
  await authenticate(exchange, edge)
  return bytes
}

/** The connection is gone, so nobody gets this refusal; it only ends the exchange. */
export function gone(): Error {
  return refuse.BadRequest({ reason: 'the connection ended before the answer' })
}

interface Reading {
  readonly limit: number
  /** A longer body goes into the buffer of `grow`. */
  readonly usual: number
  readonly into: Buffer | undefined
  grow(): Promise<Buffer>
}

/** All bytes of the body. They are counted while they arrive, since chunked bodies announce no length. */
function readBytes(
  request: IncomingMessage,
  { limit, usual, into: given, grow }: Reading,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let into = given
    let fit = usual
    let chunks: Buffer[] = []
    let length = 0
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
      const at = length
      length += chunk.length
      if (length > limit) {
        fail(refuse.RequestEntityTooLarge({ limit }))
        return
      }
      if (into === undefined) chunks.push(chunk)
      else chunk.copy(into, at)
      if (length <= fit) return
      fit = limit
      request.pause()
      grow().then((buffer) => {
        let end = 0
        for (const one of chunks) end += one.copy(buffer, end)
        chunks = []
        into = buffer
        request.resume()
      }, fail)
    }
    const onEnd = (): void => {
      detach()
      const only = chunks.length === 1 ? chunks[0] : undefined
      resolve(into?.subarray(0, length) ?? only ?? Buffer.concat(chunks, length))
    }
    const onGone = (): void => fail(gone())
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', onGone)
    request.on('close', onGone)
  })
}
