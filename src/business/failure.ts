/**
 * Turns refusals and failures into answers of this interface: `{"error":{"code","message"}}`, with the correlation
 * id at the end of the message. Only this file catches; bugs pass through.
 */

import { ApiError } from '#kernel/error.ts'
import { StatementTooLong, StoreConflict } from '#stores/store.ts'
import { businessErrors, refuse } from './errors.ts'
import { type BusinessAnswer, jsonHeaders } from './message.ts'

/**
 * Codes of other areas as this interface names them (business facts 7.1 and 7.2), by status. Those from 408 on are
 * ours.
 */
const codes: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Authentication_InvalidCredentials',
  403: 'Authorization_RequestDenied',
  404: 'BadRequest_ResourceNotFound',
  405: 'BadRequest_MethodNotAllowed',
  408: 'Request_Timeout',
  413: 'Request_EntityTooLarge',
  415: 'BadRequest_UnsupportedMediaType',
  429: 'Request_TooManyRequests',
  501: 'BadRequest_MethodNotImplemented',
  500: 'Internal_ServerError',
  503: 'Internal_TenantUnavailable',
  504: 'Internal_Timeout',
}

function codeOf(error: ApiError): string {
  if (Object.hasOwn(businessErrors.entries, error.code)) return error.code
  return codes[error.status] ?? 'Unknown'
}

export function bodyOf(error: ApiError, correlationId: string): object {
  const message = `${error.message}  CorrelationId:  ${correlationId}.`
  const { target } = error.extra
  return { error: { code: codeOf(error), message, ...(target === undefined ? {} : { target }) } }
}

/** Answers a refusal of `work`; any other error goes on to the edge. */
export async function answering(
  correlationId: string,
  work: () => Promise<BusinessAnswer>,
  isWithin = false,
): Promise<BusinessAnswer> {
  try {
    return await work()
  } catch (error) {
    // A lost race inside a transaction of several requests is for that transaction to retry.
    const refusal = isWithin && error instanceof StoreConflict ? undefined : refusalOf(error)
    if (refusal === undefined) throw error
    return {
      status: refusal.status,
      headers: { ...jsonHeaders, ...refusal.extra.headers },
      body: JSON.stringify(bodyOf(refusal, correlationId)),
    }
  }
}

/** A race that was lost repeatedly, or over a unique value, is for the caller to retry. */
function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  if (error instanceof StatementTooLong) {
    const reason =
      'The filters, orders and sums of the request look through too many rows, or compute too much for each. Ask for fewer rows, by fields with an index, or with fewer terms.'
    return refuse.BadRequest({ reason })
  }
  if (error instanceof StoreConflict) {
    return error.unique === undefined
      ? refuse.Internal_TenantUnavailable({}, { headers: { 'Retry-After': '1' } })
      : refuse.Internal_EntityWithSameKeyExists({
          property: 'id',
          type: error.unique.replace(/^business_/, ''),
          value: 'written by another client just now',
        })
  }
  return undefined
}
