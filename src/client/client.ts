/**
 * The client that portal, command line and end-to-end tests use: it sends a request with a token and returns an
 * answer or throws a typed error. It repeats only what the server asks to have repeated.
 */

import { withoutTrailing } from '#kernel/trailing.ts'
import {
  type Answer,
  AnswerTooLarge,
  type FetchedAnswer,
  readAnswer,
  readRetryAfter,
} from './answer.ts'
import { ConnectionFailure, readError, UntrustedLink } from './client-error.ts'
import { type Page, walkPages } from './pages.ts'
import { systemTiming, type Timing } from './timing.ts'
import { type WaitOptions, waitForOperation } from './wait-for-operation.ts'

/** Sends one request and follows no redirect. The built-in `fetch` is one. */
export type Fetch = (
  target: string,
  request: {
    readonly method: string
    /** Names in small letters. */
    readonly headers: Record<string, string>
    readonly signal: AbortSignal
    readonly redirect: 'manual'
    readonly body?: string
  },
) => Promise<FetchedAnswer>

export interface ClientOptions {
  /** The address of the installation; a path prefix is kept. */
  readonly url: string
  /**
   * Called once for each attempt. The caller caches the token. `undefined` sends no token. `refused`: the one that the
   * server did not accept. If another is returned, the request is sent once more.
   */
  readonly token?: (refused?: string) => Promise<string>
  readonly fetch?: Fetch
  readonly timing?: Timing
  /** Further addresses of the same installation; links in answers may lead to them. */
  readonly alsoAt?: readonly string[]
  /** How often a request answered with 429 or 503 and a time to wait is repeated. */
  readonly retriesMax?: number
  /** The longest time the client waits; after a longer one the caller decides. */
  readonly retryWaitSecondsMax?: number
  readonly timeoutSeconds?: number
  readonly answerBytesMax?: number
  /** How answers are read; by default as the platform does, which rounds integers beyond 2^53. */
  readonly parseJson?: (text: string) => unknown
  /** How long-running operations are followed where a call does not say. */
  readonly wait?: WaitOptions
}

export interface RequestOptions {
  /** Added to the query of the path; `undefined` values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** An object is sent as JSON; text is sent as it is. */
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface Client {
  readonly url: string
  readonly timing: Timing
  /** Returns any answer, refusals included. Throws `ConnectionFailure` when there is none. */
  send(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Returns a successful answer (2xx, or 304). Throws `ClientError` otherwise. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** The pages of a list. Each `nextLink` is followed exactly as given. */
  pages(path: string, options?: RequestOptions): AsyncGenerator<Page>
  /** The items of a list, page after page. */
  items(path: string, options?: RequestOptions): AsyncGenerator<unknown>
  /** All items of a list that fits into memory. */
  list(path: string, options?: RequestOptions): Promise<unknown[]>
  /** Follows a long-running operation to its end. An answer that started none is returned as it is. */
  waitForOperation(answer: Answer, options?: WaitOptions): Promise<Answer>
}

const defaults = {
  retriesMax: 3,
  retryWaitSecondsMax: 60,
  timeoutSeconds: 100,
  answerBytesMax: 256 * 1024 * 1024,
  parseJson: (text: string): unknown => JSON.parse(text),
}

export function createClient(given: ClientOptions): Client {
  const options = { ...defaults, ...given }
  const url = withoutTrailing(options.url, '/')
  const timing = options.timing ?? systemTiming
  const fetch: Fetch = options.fetch ?? globalThis.fetch
  const origins = new Set([url, ...(options.alsoAt ?? [])].map((one) => new URL(one).origin))

  async function send(method: string, path: string, request: RequestOptions = {}): Promise<Answer> {
    const target = withQuery(resolvePath(path, url, origins), request.query)
    const headers = headersOf(request)
    const isGiven = 'authorization' in headers
    const tokenOf = async (refused?: string): Promise<string | undefined> =>
      isGiven ? undefined : options.token?.(refused)
    let token = await tokenOf()
    let isRenewed = false
    for (let tries = 0; ; tries++) {
      if (token !== undefined) headers['authorization'] = `Bearer ${token}`
      const answer = await attempt(method, target, request, headers)
      if (answer.status === 401 && token !== undefined && !isRenewed) {
        isRenewed = true
        const other = await tokenOf(token)
        if (other === token) return answer
        token = other
        continue
      }
      const repeatable = answer.status === 429 || answer.status === 503
      const wait = repeatable ? readRetryAfter(answer.headers, timing.now()) : undefined
      if (wait === undefined || tries >= options.retriesMax) return answer
      if (wait > options.retryWaitSecondsMax * 1000) return answer
      await timing.sleep(wait, request.signal)
      token = await tokenOf()
    }
  }

  async function attempt(
    method: string,
    target: string,
    request: RequestOptions,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const timeout = AbortSignal.timeout(options.timeoutSeconds * 1000)
    const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout
    const body = typeof request.body === 'object' ? JSON.stringify(request.body) : request.body
    try {
      const response = await fetch(target, {
        method,
        headers,
        signal,
        // A redirect is an ordinary answer: following it could carry the token elsewhere.
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
      })
      const { answerBytesMax: bytesMax, parseJson } = options
      return await readAnswer(response, method, target, { bytesMax, parseJson })
    } catch (error) {
      // Turns the many failures of a connection into one.
      if (request.signal?.aborted) throw error
      throw new ConnectionFailure(new URL(target).origin, failureReason(error, timeout, options), {
        cause: error,
      })
    }
  }

  async function request(method: string, path: string, more?: RequestOptions): Promise<Answer> {
    const answer = await send(method, path, more)
    if ((answer.status >= 200 && answer.status < 300) || answer.status === 304) return answer
    throw readError(answer)
  }

  const client: Client = {
    url,
    timing,
    send,
    request,
    pages: (path, more) => walkPages(client, path, more),
    async *items(path, more) {
      for await (const page of walkPages(client, path, more)) yield* page.value
    },
    async list(path, more) {
      const list: unknown[] = []
      for await (const page of walkPages(client, path, more)) list.push(...page.value)
      return list
    },
    waitForOperation: (answer, more) =>
      waitForOperation(client, answer, { ...options.wait, ...more }),
  }
  return client
}

function headersOf({ headers = {}, body }: RequestOptions): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...Object.fromEntries(given),
  }
}

/** Appends a path to the installation's address. A whole URL must lead to the same installation. */
function resolvePath(path: string, url: string, origins: ReadonlySet<string>): string {
  if (path.startsWith('/')) return url + path.replaceAll('#', '%23')
  const link = URL.parse(path)
  if (link === null) throw new TypeError(`a path begins with "/", unlike ${JSON.stringify(path)}`)
  if (!origins.has(link.origin)) throw new UntrustedLink(path, url)
  return path
}

function withQuery(target: string, query: RequestOptions['query']): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeName(name)}=${encodeURIComponent(String(value))}`],
  )
  if (pairs.length === 0) return target
  return `${target}${target.includes('?') ? '&' : '?'}${pairs.join('&')}`
}

/** `$filter` stays readable. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll('%24', '$')
}

function failureReason(
  error: unknown,
  timeout: AbortSignal,
  options: { readonly timeoutSeconds: number },
): string {
  if (error instanceof AnswerTooLarge) return error.message
  if (timeout.aborted) return `none within ${options.timeoutSeconds} seconds`
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || cause.name
}
