/** Answers of the OAuth routes: pages, JSON, and errors in the form that the caller reads. */

import type { ServerResponse } from 'node:http'
import { ApiError } from '#kernel/error.ts'
import type { Log } from '#kernel/ports.ts'
import { StoreUnavailable } from '#stores/store.ts'
import { type Page, securityHeaders } from './pages/layout.ts'
import { errorPage } from './pages/message-pages.ts'

export interface Problem {
  readonly status: number
  readonly error: string
  readonly description: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export function sendPage(res: ServerResponse, page: Page): void {
  const bytes = Buffer.from(page.body)
  res.writeHead(page.status, { ...page.headers, 'Content-Length': String(bytes.length) })
  res.end(res.req.method === 'HEAD' ? undefined : bytes)
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.from(JSON.stringify(body))
  res.writeHead(status, {
    ...securityHeaders,
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(bytes.length),
  })
  res.end(res.req.method === 'HEAD' ? undefined : bytes)
}

/** Sends a page to browsers, and the form of RFC 6749 (5.2) to programs. */
export function sendError(res: ServerResponse, problem: Problem): void {
  if ((res.req.headers.accept ?? '').includes('text/html')) {
    sendPage(res, errorPage(problem))
    return
  }
  const { status, error, description, headers } = problem
  sendJson(
    res,
    status,
    { error, error_description: description },
    { 'Cache-Control': 'no-store', ...headers },
  )
}

const connectionCodes: readonly unknown[] = [
  'ECONNABORTED',
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
]

/** Whether a connection that ends early can be all that went wrong. */
export function isOfConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && connectionCodes.includes(error.code)
}

/** Turns any error into an answer. */
export function sendFailure(res: ServerResponse, error: unknown, log: Log): void {
  if (res.headersSent) {
    log.error({ error: String(error) }, 'an OAuth answer broke off')
    res.destroy()
    return
  }
  if (error instanceof ApiError) {
    sendError(res, {
      status: error.status,
      error: error.code,
      description: error.message,
      headers: error.extra.headers,
    })
  } else if (error instanceof StoreUnavailable) {
    sendError(res, {
      status: 503,
      error: 'temporarily_unavailable',
      description: 'The store cannot answer now.',
      headers: {
        'Retry-After': '5',
      },
    })
  } else if (error instanceof Error && error.name === 'SessionNotFound') {
    const text = 'The sign-in has expired, or was begun in another browser.'
    sendError(res, { status: 400, error: 'invalid_request', description: text })
  } else if (res.req.destroyed && !res.req.complete) {
    // The caller left before the form was there, which is no fault, and nobody waits.
    res.destroy()
  } else {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error({ error: text }, 'an OAuth request met a fault')
    sendError(res, {
      status: 500,
      error: 'server_error',
      description: 'The server met an unexpected fault.',
    })
  }
}

export function sendMethodNotAllowed(
  res: ServerResponse,
  allowed: 'GET, HEAD' | 'GET, POST',
): void {
  sendError(res, {
    status: 405,
    error: 'method_not_allowed',
    description: `Use ${allowed === 'GET, HEAD' ? 'GET' : 'GET or POST'}.`,
    headers: { Allow: allowed },
  })
}
