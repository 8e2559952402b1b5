/**
 * Prepares a request for the OAuth library: it reads and bounds the body, rewrites parameters, and puts the address
 * the caller used into the headers that the library reads. It answers nothing.
 */

import { IncomingMessage } from 'node:http'
import { receiveAll } from '#kernel/received-bytes.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import {
  canonicalPath,
  foreignTenant,
  type RewriteOptions,
  rewriteParameters,
  routes,
} from './rewrite.ts'

export interface OAuthRequest {
  readonly method: string
  /** The canonical path, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The posted form; `undefined` when the body was no form. */
  readonly form: URLSearchParams | undefined
  readonly body: Buffer
  /** The parameters as the client spelled them, from the form or the address. */
  readonly asked: URLSearchParams
  readonly origin: RequestOrigin
  /** The address the caller used, without a trailing slash. */
  readonly publicUrl: string
  /** The path of that address, which a proxy takes away: before every path that a browser is sent to. Often empty. */
  readonly mountPath: string
}

/** Maps the library's request to the request it was made from. */
const askedBy = new WeakMap<IncomingMessage, OAuthRequest>()

/** The request that this request of the library was made from. */
export function requestBehind(request: IncomingMessage): OAuthRequest | undefined {
  return askedBy.get(request)
}

export type ReadOutcome =
  | { readonly kind: 'request'; readonly request: OAuthRequest }
  | { readonly kind: 'unknown' }
  /** A path of this server below a tenant that does not exist here. */
  | { readonly kind: 'foreign-tenant'; readonly tenant: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'too-many-parameters'; readonly most: number }
  | { readonly kind: 'too-long-parameters'; readonly most: number }

/** The library looks through all parameters for each of them. No client sends a tenth of these. */
const parametersMax = 200

/** What begins a sign-in is kept with all its parameters until it ends, and anybody begins any number of them. */
const starts: readonly string[] = [
  routes.authorization,
  routes.device_authorization,
  routes.code_verification,
  routes.end_session,
]
/** Encoded. No browser is sure to take an address of twice as many. */
const startCharactersMax = 4_096

function hasTooMany(encoded: string): boolean {
  let count = 1
  for (let at = encoded.indexOf('&'); at >= 0; at = encoded.indexOf('&', at + 1)) count += 1
  return count > parametersMax
}

/** Reads a whole request to one of the OAuth routes. */
export async function readOAuthRequest(
  req: IncomingMessage,
  options: RewriteOptions & {
    readonly tenantId: string
    readonly formBytesMax: number
    readonly originOf: (req: IncomingMessage) => RequestOrigin
    readonly publicUrl: string
  },
): Promise<ReadOutcome> {
  const target = req.url ?? '/'
  const mark = target.indexOf('?')
  const written = mark < 0 ? target : target.slice(0, mark)
  const path = canonicalPath(written, options.tenantId)
  if (path === undefined) {
    const tenant = foreignTenant(written, options.tenantId)
    return tenant === undefined ? { kind: 'unknown' } : { kind: 'foreign-tenant', tenant }
  }
  // What is only read needs none: it is left to the connection.
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  const body = isRead ? Buffer.alloc(0) : await readBody(req, options.formBytesMax)
  if (body === undefined) return { kind: 'too-large' }
  const type = (req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  const search = mark < 0 ? '' : target.slice(mark + 1)
  if (hasTooMany(search) || hasTooMany(body.toString('latin1'))) {
    return { kind: 'too-many-parameters', most: parametersMax }
  }
  const query = new URLSearchParams(search)
  const form =
    type === 'application/x-www-form-urlencoded'
      ? new URLSearchParams(body.toString('utf8'))
      : undefined
  const characters = query.toString().length + (form?.toString().length ?? 0)
  if (starts.includes(path) && characters > startCharactersMax) {
    return { kind: 'too-long-parameters', most: startCharactersMax }
  }
  return {
    kind: 'request',
    request: {
      method: req.method ?? 'GET',
      path,
      query: rewriteParameters(path, query, options),
      form: form === undefined ? undefined : rewriteParameters(path, form, options),
      body,
      asked: form ?? query,
      origin: options.originOf(req),
      publicUrl: options.publicUrl,
      mountPath: mountPathOf(options.publicUrl),
    },
  }
}

/** The path of the public address, which a proxy takes away. */
export function mountPathOf(publicUrl: string): string {
  return withoutTrailing(new URL(publicUrl).pathname, '/')
}

async function readBody(req: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const bytes = await receiveAll(req, bytesMax)
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Copies the request for the library, on the same socket, with the rewritten address and body. */
export function toLibraryRequest(
  req: IncomingMessage,
  request: OAuthRequest,
  extraHeaders: Readonly<Record<string, string>>,
): IncomingMessage {
  const { host, protocol } = new URL(request.publicUrl)
  const body =
    request.form === undefined ? request.body : Buffer.from(request.form.toString(), 'utf8')
  const search = request.query.toString()
  const clone = new IncomingMessage(req.socket)
  clone.httpVersion = req.httpVersion
  clone.httpVersionMajor = req.httpVersionMajor
  clone.httpVersionMinor = req.httpVersionMinor
  clone.method = request.method
  clone.url = search === '' ? request.path : `${request.path}?${search}`
  const headers = { ...req.headers }
  for (const name of [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'transfer-encoding',
    'content-length',
  ]) {
    delete headers[name]
  }
  clone.headers = {
    ...headers,
    ...extraHeaders,
    host,
    'x-forwarded-proto': protocol.slice(0, -1),
    ...(body.length === 0 ? {} : { 'content-length': String(body.length) }),
  }
  // The library takes what stands before its own path for the path it is mounted at.
  Object.assign(clone, { originalUrl: `${request.mountPath}${clone.url}` })
  if (body.length > 0) clone.push(body)
  clone.push(null)
  clone.complete = true
  askedBy.set(clone, request)
  return clone
}
