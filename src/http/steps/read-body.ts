/**
 * Reads the body of a caller who is known and allowed: framing, size, encoding, media type, then JSON. What
 * a route has no use for is not read here at all; `respond` drains it within a bound.
 */

import type { IncomingMessage } from 'node:http'
import { refuse } from '#kernel/error.ts'
import type { JsonSizeLimits } from '#kernel/json-size.ts'
import { announcesBody, type Edge, type Exchange } from '../exchange.ts'
import { parseJson } from '../json.ts'

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
  // Only now is the client told to go on (`Expect: 100-continue`): refusals cost it no upload.
  if (request.headers.expect !== undefined) exchange.response.writeContinue()
  const { bodyDepthMax: depthMax, bodyMembersMax: membersMax } = edge.limits
  return keep(exchange, limit, { depthMax, membersMax })
}

async function keep(exchange: Exchange, limit: number, size: JsonSizeLimits): Promise<void> {
  const bytes = await readBytes(exchange.request, limit)
  if (bytes.length === 0) {
    if (exchange.bodyRule === 'required') throw missing()
    return
  }
  exchange.body = parseJson(bytes, size, exchange.bodySyntax)
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

/** A body without a type is taken for JSON, since some clients leave it out. */
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

/** All bytes of the body, counted as they come: chunked bodies announce no length. */
export function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const detach = (): void => {
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('error', onGone)
      request.off('close', onGone)
    }
    const onData = (chunk: Buffer): void => {
      length += chunk.length
      if (length <= limit) {
        chunks.push(chunk)
        return
      }
      detach()
      reject(refuse.RequestEntityTooLarge({ limit }))
    }
    const onEnd = (): void => {
      detach()
      const only = chunks.length === 1 ? chunks[0] : undefined
      resolve(only ?? Buffer.concat(chunks, length))
    }
    // The connection is gone, so the refusal reaches nobody; it ends the exchange all the same.
    const onGone = (): void => {
      detach()
      reject(refuse.BadRequest({ reason: 'the body ended before its announced end' }))
    }
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', onGone)
    request.on('close', onGone)
  })
}
