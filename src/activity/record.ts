/**
 * A record of the audit trail: who did what to which resource, from where, when, and the outcome. It is built here
 * from plain values and written by the code that has the transaction. It holds no secret and no message that could
 * quote one.
 */

import type { RequestOrigin } from '#kernel/request-origin.ts'
import type { EventRow } from '#stores/store.ts'
import type { Changes } from './changes.ts'

/** Where a request came from, and how it was made. */
export interface RequestFrom extends RequestOrigin {
  readonly method: string
  /** `x-ms-client-request-id`, where the client sent one. */
  readonly clientRequestId?: string
  /** It came through a proxy, or says so. */
  readonly isForwarded?: true
}

/** The principal that acts. Everything besides the id is shown only and decides nothing. */
export interface Actor {
  readonly id: string
  readonly displayName?: string
  readonly type?: 'User' | 'ServicePrincipal'
  /** The application that the token was issued to. */
  readonly clientId?: string
}

/** The properties that all records of one request share. */
export interface Initiator {
  readonly principal: Actor
  readonly correlationId: string
  /** Left out where there is no request: background work, deployments. */
  readonly from?: RequestFrom
}

type ActivityStatus = 'Accepted' | 'Succeeded' | 'Failed' | 'Canceled'

export interface ActivityRecord {
  readonly at: number
  readonly initiator: Initiator
  /** `Vendor.Authorization/roleAssignments/write` */
  readonly action: string
  readonly target: Target
  readonly status: ActivityStatus
  /** The status of the answer, where it is known. */
  readonly httpStatus?: number
  /** The code of the refusal or failure. Its message is left out, since it may quote what was sent. */
  readonly code?: string
  readonly operationId?: string
  readonly changes?: Changes
  /** The resource was created because something below it was written. */
  readonly implicit?: boolean
  /** Further facts by name, such as the grant of a sign-in or the number of omitted records. */
  readonly facts?: Readonly<Record<string, string>>
}

/** A resource id, or a path of something that is no resource. */
export interface Target {
  readonly text: string
  /** In lower case. */
  readonly key: string
}

/** The content of `EventRow.detail`. Earlier versions wrote some of these names only, and names of their own. */
export interface EventDetail {
  /** The target's id as shown, where it differs from the key. */
  readonly id?: string
  readonly type?: string
  readonly application?: string
  readonly address?: string
  readonly userAgent?: string
  readonly method?: string
  readonly clientRequestId?: string
  readonly httpStatus?: number
  readonly code?: string
  readonly implicit?: true
  readonly changes?: Changes['list']
  /** The number of changes that were left out. */
  readonly changesOmitted?: number
  readonly facts?: Readonly<Record<string, string>>
}

const nameLengthMax = 256

export function toEvent(record: ActivityRecord): EventRow {
  const { initiator, target } = record
  const { principal } = initiator
  return {
    at: record.at,
    key: target.key,
    action: record.action,
    status: record.status,
    principalId: principal.id,
    caller: printable(principal.displayName ?? ''),
    correlationId: initiator.correlationId,
    operationId: record.operationId ?? null,
    subscription: subscriptionOfKey(target.key),
    detail: JSON.stringify(detailOf(record)),
  }
}

function detailOf(record: ActivityRecord): EventDetail {
  const { initiator, target, changes } = record
  const { principal, from } = initiator
  // `JSON.stringify` leaves out what is undefined.
  const detail: { readonly [K in keyof EventDetail]: EventDetail[K] | undefined } = {
    id: target.text === target.key ? undefined : target.text,
    type: principal.type,
    application: principal.clientId,
    address: from?.address,
    userAgent: from?.userAgent === '' ? undefined : from?.userAgent,
    method: from?.method,
    clientRequestId: from?.clientRequestId,
    httpStatus: record.httpStatus,
    code: record.code,
    implicit: record.implicit === true ? true : undefined,
    changes: changes === undefined || changes.list.length === 0 ? undefined : changes.list,
    changesOmitted: changes?.omitted === 0 ? undefined : changes?.omitted,
    facts: record.facts,
  }
  return detail as EventDetail
}

/** Makes a target from a path of an area that has no resource ids. */
export function targetOf(path: string): Target {
  const text = printable(path).slice(0, 2048)
  return { text, key: text.toLowerCase() }
}

const subscriptionPrefix = '/subscriptions/'

function subscriptionOfKey(key: string): string {
  if (!key.startsWith(subscriptionPrefix)) return ''
  const end = key.indexOf('/', subscriptionPrefix.length)
  return key.slice(subscriptionPrefix.length, end < 0 ? undefined : end)
}

/** External issuers choose these names. Control characters in them would break a store or the reader's terminal. */
function printable(text: string): string {
  const short = text.length > nameLengthMax * 8 ? text.slice(0, nameLengthMax * 8) : text
  return /\p{Cc}/u.test(short) ? short.replace(/\p{Cc}/gu, '?') : short
}
