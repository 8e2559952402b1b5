/**
 * All calls of the API go through here. `call` knows the operations of the OpenAPI documents by name. `send` takes
 * a path, for resources that are addressed by their id alone. Every call is kept for the request drawer, and a
 * refusal is thrown as `ApiFailure`.
 */

import { type Operations, operations } from './generated.ts'
import { apiUrl, asyncHeader, ownWords, pathOfLink } from './place.ts'
import { noteAnswer, noteRequest } from './requests.ts'
import { accessToken, renew } from './session.ts'

export interface Problem {
  readonly code: string
  readonly message: string
  readonly target?: string
  readonly details?: readonly Problem[]
}

const noAnswer: Problem = { code: 'NoAnswer', message: 'The server does not answer.' }

/** A refusal. Status 0 means that no answer came. */
export class ApiFailure extends Error {
  readonly status: number
  readonly problem: Problem
  readonly correlationId: string | undefined
  readonly path: string
  /** Seconds after which the server wants to see the request again. */
  readonly retryAfter: number | undefined
  constructor(
    status: number,
    problem: Problem,
    request: {
      readonly correlationId: string | undefined
      readonly path: string
      readonly retryAfter?: number | undefined
    },
  ) {
    super(problem.message)
    this.status = status
    this.problem = problem
    this.correlationId = request.correlationId
    this.path = request.path
    this.retryAfter = request.retryAfter
  }
}

export interface Answer<T = unknown> {
  readonly status: number
  readonly body: T
  readonly etag: string | undefined
  /** The path that tells the state of an operation that is still running. */
  readonly operationPath: string | undefined
  /** The path of what was made, or of where to ask for it. */
  readonly location: string | undefined
}

type Values = Readonly<Record<string, string | undefined>>

export interface SendOptions {
  readonly query?: Values
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type OperationName = keyof Operations
export type AnswerOf<K extends OperationName> = Operations[K]['answer']
export type BodyOf<K extends OperationName> = Operations[K]['body']

export interface CallInput<K extends OperationName> {
  readonly path: Operations[K]['path']
  readonly query?: Values
  readonly body?: Operations[K]['body']
  readonly headers?: SendOptions['headers']
}

/** The header of a write that must not replace what is there. */
export const onlyNew = { 'if-none-match': '*' }

export function call<K extends OperationName>(
  name: K,
  input: CallInput<K>,
  signal?: AbortSignal,
): Promise<Answer<AnswerOf<K>>> {
  const { method, version } = operations[name]
  return send<AnswerOf<K>>(method, pathOf(name, input.path), {
    query: { 'api-version': version, ...input.query },
    ...('body' in input ? { body: input.body } : {}),
    ...(input.headers === undefined ? {} : { headers: input.headers }),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** A scope goes into the path unchanged; names are encoded. */
export function pathOf<K extends OperationName>(name: K, values: Operations[K]['path']): string {
  const given = values as Readonly<Record<string, string>>
  const path = ownWords(operations[name].path).replaceAll(/\{(\w+)\}/g, (_, word: string) => {
    const value = given[word] ?? ''
    return word === 'scope' ? value.replace(/^\//, '') : encodeURIComponent(value)
  })
  return path.replace(/^\/+/, '/')
}

export async function send<T = unknown>(
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<Answer<T>> {
  const whole = withQuery(path, options.query)
  const token = await tokenFor(whole)
  const first = await exchange(method, whole, options, token)
  if (first.status !== 401) return resultOf(first, whole)
  // The session may have ended elsewhere, or the token may have been revoked: try once more with a new token.
  if (!(await renew().catch(() => throwNoAnswer(whole)))) throw signedOut(whole)
  return resultOf(await exchange(method, whole, options, await tokenFor(whole)), whole)
}

async function tokenFor(path: string): Promise<string> {
  const token = await accessToken().catch(() => throwNoAnswer(path))
  if (token === undefined) throw signedOut(path)
  return token
}

/** A file for the person to keep. It is fetched with their token, which a plain link could not carry. */
export async function download(path: string): Promise<Blob> {
  const token = await tokenFor(path)
  const id = noteRequest('GET', path, undefined)
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${token}` }
  const got = await fetchWhole(apiUrl(path), { headers }, (response) => response.blob()).catch(
    () => undefined,
  )
  const correlationId = got?.headers.get('x-ms-correlation-request-id') ?? undefined
  const problem = got?.ok === true ? undefined : await problemOf(got)
  const [status, milliseconds] = [got?.status ?? 0, performance.now() - startedAt]
  noteAnswer(id, { status, milliseconds, correlationId, code: problem?.code })
  if (got === undefined || problem !== undefined) {
    throw new ApiFailure(status, problem ?? noAnswer, { correlationId, path })
  }
  return got.content
}

async function problemOf(got: Whole<Blob> | undefined): Promise<Problem> {
  if (got === undefined) return noAnswer
  const text = await got.content.text()
  const isJson = got.headers.get('content-type')?.includes('json') === true
  return problemIn(isJson ? JSON.parse(text) : text)
}

interface Whole<T> extends Pick<Response, 'ok' | 'status' | 'headers'> {
  readonly content: T
}

/** An answer to its end: a connection may break after the head of the answer, too, which is no answer. */
async function fetchWhole<T>(
  url: URL,
  init: RequestInit,
  read: (response: Response) => Promise<T>,
): Promise<Whole<T>> {
  // Nothing of an answer stays on the disk of whoever signs out.
  const response = await fetch(url, { cache: 'no-store', ...init })
  const { ok, status, headers } = response
  return { ok, status, headers, content: await read(response) }
}

/** An answer that is streamed; undefined if there is none now. */
export async function openStream(
  path: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const token = await accessToken().catch(() => undefined)
  if (token === undefined) return undefined
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(apiUrl(path), { cache: 'no-store', headers, signal }).catch(
    () => undefined,
  )
  // Where the server does not answer this either, the next attempt asks again.
  if (response?.status === 401) await renew().catch(() => false)
  return response?.ok === true ? (response.body ?? undefined) : undefined
}

/** The next page of a list, by the link of the previous page. */
export function sendNext<T>(link: string, signal?: AbortSignal): Promise<Answer<T>> {
  return send<T>('GET', pathOfLink(link), signal === undefined ? {} : { signal })
}

interface Exchanged {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

async function exchange(
  method: string,
  path: string,
  { body, headers, signal }: SendOptions,
  token: string,
): Promise<Exchanged> {
  const id = noteRequest(method, path, body)
  const startedAt = performance.now()
  const init = {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }
  const response = await fetchWhole(apiUrl(path), init, (answer) => answer.text()).catch(
    (error: unknown) => {
      if (signal?.aborted === true) throw error
      const milliseconds = performance.now() - startedAt
      noteAnswer(id, { status: 0, milliseconds, correlationId: undefined, code: 'NoAnswer' })
      throw new ApiFailure(0, noAnswer, { correlationId: undefined, path })
    },
  )
  const text = response.content
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : text
  noteAnswer(id, {
    status: response.status,
    milliseconds: performance.now() - startedAt,
    correlationId: response.headers.get('x-ms-correlation-request-id') ?? undefined,
    code: response.ok ? undefined : problemIn(parsed).code,
  })
  return { status: response.status, body: parsed, headers: response.headers }
}

function resultOf<T>({ status, body, headers }: Exchanged, path: string): Answer<T> {
  const correlationId = headers.get('x-ms-correlation-request-id') ?? undefined
  if (status >= 400) {
    // `null` is 0, which is no time to wait.
    const retryAfter = Number(headers.get('retry-after')) || undefined
    throw new ApiFailure(status, problemIn(body), { correlationId, path, retryAfter })
  }
  const link = headers.get(asyncHeader)
  const location = headers.get('location')
  return {
    status,
    // The OpenAPI document of the operation gives its shape.
    body: body as T,
    etag: headers.get('etag') ?? undefined,
    operationPath: link === null ? undefined : pathOfLink(link),
    location: location === null ? undefined : pathOfLink(location),
  }
}

/** Service health answers a problem without `error` around it, and the details as one text. */
function problemIn(body: unknown): Problem {
  const flat = typeof body === 'object' && body !== null ? (body as Given) : {}
  const { details, message = String(body), code = 'Unknown', target } = flat.error ?? flat
  return {
    code,
    message: typeof details === 'string' ? `${message} ${details}` : message,
    ...(target === undefined ? {} : { target }),
    ...(Array.isArray(details) ? { details: details as readonly Problem[] } : {}),
  }
}

interface Given extends Partial<Omit<Problem, 'details'>> {
  readonly error?: Given
  readonly details?: unknown
}

function throwNoAnswer(path: string): never {
  throw new ApiFailure(0, noAnswer, { correlationId: undefined, path })
}

function signedOut(path: string): ApiFailure {
  return new ApiFailure(
    401,
    { code: 'SignedOut', message: 'Your session has ended.' },
    { correlationId: undefined, path },
  )
}

function withQuery(path: string, query: Values | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined)
  if (given.length === 0) return path
  const text = given.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${path}${path.includes('?') ? '&' : '?'}${text}`
}
