/**
 * Errors as the caller should see them: a refusal with its code, or no answer at all. It reads every error body
 * that this family of servers has.
 */

import type { ErrorDetail } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { type Answer, textOf } from './answer.ts'

interface Fields {
  readonly code: string
  readonly message: string
  readonly target?: string | undefined
  readonly details: readonly ErrorDetail[]
  readonly status: number
  readonly correlationId?: string | undefined
  readonly answer: Answer
}

/** The server refused the request, the operation it started failed, or its answer cannot be read. */
export class ClientError extends Error {
  readonly code: string
  readonly status: number
  readonly target: string | undefined
  readonly details: readonly ErrorDetail[]
  /** The id by which the operator finds the request in the log. */
  readonly correlationId: string | undefined
  readonly answer: Answer

  constructor(fields: Fields) {
    super(fields.message)
    this.name = 'ClientError'
    this.code = fields.code
    this.status = fields.status
    this.target = fields.target
    this.details = fields.details
    this.correlationId = fields.correlationId
    this.answer = fields.answer
  }
}

/** There was no usable answer: no server, a broken connection, or a timeout. */
export class ConnectionFailure extends Error {
  readonly url: string
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`No answer from ${url}: ${reason}.`, options)
    this.name = 'ConnectionFailure'
    this.url = url
  }
}

/** The answer asks to send the token to another server, which this client refuses. */
export class UntrustedLink extends Error {
  constructor(link: string, url: string) {
    super(
      `The link ${link} leads away from ${url}; it is not followed, so that no token goes there.`,
    )
    this.name = 'UntrustedLink'
  }
}

/**
 * The error in an answer that is no success. It has one of three forms: `{error: {code, …}}` (resource management
 * and data share), the flat `{code, message, details}` of health, and `{error, error_description}` of OAuth.
 */
export function readError(answer: Answer): ClientError {
  const inner = isJsonObject(answer.body) ? answer.body['error'] : undefined
  return errorFrom(isJsonObject(inner) ? inner : answer.body, answer)
}

/** The same from a bare error object, as operations hold it. */
export function errorFrom(error: unknown, answer: Answer): ClientError {
  const code = textOf(error, 'code') ?? textOf(error, 'error') ?? `Http${answer.status}`
  const message =
    textOf(error, 'message') ?? textOf(error, 'error_description') ?? plainMessage(answer)
  const details = isJsonObject(error) ? error['details'] : undefined
  const headers = answer.headers
  return new ClientError({
    code,
    message,
    target: textOf(error, 'target'),
    details: readDetails(details),
    status: answer.status,
    correlationId:
      headers.get('x-ms-correlation-request-id') ?? headers.get('x-ms-request-id') ?? undefined,
    answer,
  })
}

/** A success whose body is not what was expected of it: perhaps that server is none of this family. */
export function unreadable(answer: Answer, wanted: string): ClientError {
  const path = new URL(answer.url).pathname
  const message = `${answer.method} ${path} was answered with ${answer.status} and without ${wanted}.`
  return new ClientError({
    code: 'UnreadableAnswer',
    message,
    details: [],
    status: answer.status,
    answer,
  })
}

function plainMessage(answer: Answer): string {
  const text = typeof answer.body === 'string' ? answer.body.trim().slice(0, 200) : ''
  return `${answer.method} ${new URL(answer.url).pathname} was answered with ${answer.status}${text === '' ? '' : `: ${text}`}`
}

/** Two forms have a list, the flat one has a text. */
function readDetails(details: unknown): readonly ErrorDetail[] {
  if (typeof details === 'string' && details !== '') return [{ code: '', message: details }]
  if (!Array.isArray(details)) return []
  return details.map((detail: unknown) => {
    const target = textOf(detail, 'target')
    return {
      code: textOf(detail, 'code') ?? '',
      message: textOf(detail, 'message') ?? '',
      ...(target === undefined ? {} : { target }),
    }
  })
}
