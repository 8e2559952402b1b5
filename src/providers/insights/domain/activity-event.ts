/**
 * A record in the published shape of an activity log event. Texts come in pairs of a value and its localized form,
 * which is the same here. `properties` holds texts only, as published; what changed is JSON in one of them.
 */

import Type from 'typebox'
import type { StoredActivity } from '#activity/stored-activity.ts'
import { refuse } from '#kernel/error.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import type { ProviderContext } from '#plane/provider-context.ts'

const text = Type.Optional(Type.String())
const twice = Type.Optional(Type.Object({ value: Type.String(), localizedValue: Type.String() }))
const texts = Type.Optional(Type.Record(Type.String(), Type.String()))

/** Each member may be left out by `$select`. */
export const activityAnswer = Type.Object({
  authorization: Type.Optional(Type.Object({ action: Type.String(), scope: Type.String() })),
  caller: text,
  category: twice,
  channels: text,
  claims: texts,
  correlationId: text,
  eventDataId: text,
  eventName: twice,
  eventTimestamp: text,
  httpRequest: Type.Optional(
    Type.Object({ clientRequestId: text, clientIpAddress: text, method: Type.String() }),
  ),
  level: text,
  operationId: text,
  operationName: twice,
  properties: texts,
  resourceGroupName: text,
  resourceId: text,
  resourceProviderName: twice,
  resourceType: twice,
  status: twice,
  subStatus: twice,
  submissionTimestamp: text,
  subscriptionId: text,
  tenantId: text,
})

type Place = Pick<ProviderContext, 'words' | 'tenantId'>

const selectable = [
  'authorization',
  'caller',
  'category',
  'channels',
  'claims',
  'correlationId',
  'description',
  'eventDataId',
  'eventName',
  'eventTimestamp',
  'httpRequest',
  'id',
  'level',
  'operationId',
  'operationName',
  'properties',
  'resourceGroupName',
  'resourceId',
  'resourceProviderName',
  'resourceType',
  'status',
  'subStatus',
  'submissionTimestamp',
  'subscriptionId',
  'tenantId',
] as const

/** The names to show, or undefined for all. Throws `InvalidQueryParameter` for one there is not. */
export function parseSelect(text: string | null): ReadonlySet<string> | undefined {
  if (text === null || text.trim() === '') return undefined
  const names = text.split(',').map((one) => one.trim())
  return new Set(
    names.map((given) => {
      const found = selectable.find((name) => name.toLowerCase() === given.toLowerCase())
      if (found !== undefined) return found
      const reason = `'${given.slice(0, 60)}' is none of ${selectable.join(', ')}`
      throw refuse.InvalidQueryParameter({ name: '$select', reason })
    }),
  )
}

export function showActivity(
  activity: StoredActivity,
  place: Place,
  select: ReadonlySet<string> | undefined,
): object {
  const shown = whole(activity, place)
  if (select === undefined) return shown
  return Object.fromEntries(Object.entries(shown).filter(([name]) => select.has(name)))
}

function whole(activity: StoredActivity, place: Place): object {
  const { detail, status, action, key } = activity
  const id = detail.id ?? key
  const at = new Date(activity.at).toISOString()
  const dataId = eventDataId(activity.number)
  const group = /\/resourceGroups\/([^/]+)/i.exec(id)?.[1]
  const { httpStatus } = detail
  return {
    id: `${id === '/' ? '' : id}/events/${dataId}/ticks/${ticksOf(activity.at)}`,
    eventDataId: dataId,
    eventTimestamp: at,
    submissionTimestamp: at,
    eventName: pair(status === 'Accepted' ? 'BeginRequest' : 'EndRequest'),
    category: pair(categoryOf(activity)),
    level: levelOf(activity),
    channels: 'Operation',
    operationName: pair(action),
    operationId: activity.operationId ?? activity.correlationId,
    correlationId: activity.correlationId,
    status: pair(status),
    subStatus: pair(httpStatus === undefined ? '' : statusWord(httpStatus)),
    authorization: { action, scope: id },
    caller: activity.caller === '' ? activity.principalId : activity.caller,
    claims: claimsOf(activity, place),
    ...httpRequestOf(activity),
    resourceId: id,
    resourceProviderName: pair(action.split('/', 1)[0] ?? ''),
    resourceType: pair(resourceTypeOf(activity)),
    ...(group === undefined ? {} : { resourceGroupName: group }),
    ...(activity.subscription === '' ? {} : { subscriptionId: activity.subscription }),
    tenantId: place.tenantId,
    properties: propertiesOf(activity, id),
  }
}

function pair(value: string): { readonly value: string; readonly localizedValue: string } {
  return { value, localizedValue: value }
}

/** The same for a record whenever it is read. Numbers begin anew only in an empty trail. */
function eventDataId(number: number): string {
  return `00000000-0000-8000-8000-${number.toString(16).padStart(12, '0')}`
}

/** Ticks of 100 nanoseconds since the year 1, as published ids of events end. */
function ticksOf(milliseconds: number): string {
  return String(BigInt(milliseconds) * 10_000n + 621_355_968_000_000_000n)
}

/** As published: the words of the status without blanks. */
const statusWords: ReadonlyMap<number, string> = new Map([
  [200, 'OK'],
  [201, 'Created'],
  [202, 'Accepted'],
  [204, 'NoContent'],
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [409, 'Conflict'],
  [412, 'PreconditionFailed'],
  [413, 'PayloadTooLarge'],
  [415, 'UnsupportedMediaType'],
  [500, 'InternalServerError'],
  [503, 'ServiceUnavailable'],
])

function statusWord(status: number): string {
  return statusWords.get(status) ?? String(status)
}

export function levelOf({ status }: StoredActivity): string {
  return status === 'Failed' ? 'Error' : status === 'Canceled' ? 'Warning' : 'Informational'
}

/** Sign-ins are about security; all else is administration. */
export function categoryOf({ action }: StoredActivity): string {
  return /\/signIns\//.test(action) ? 'Security' : 'Administrative'
}

/** The type from the id of the resource, or from the action where there is no resource. */
export function resourceTypeOf({ key, action }: StoredActivity): string {
  const fromAction = action.split('/').slice(0, -1).join('/')
  const last = parseResourceId(key)?.segments.at(-1)
  if (last?.namespace === undefined) return fromAction
  const words = last.types.join('/')
  const namespace = action.split('/', 1)[0] ?? last.namespace
  const isSame = namespace.toLowerCase() === last.namespace.toLowerCase()
  // The action has the type in its own case.
  const own = isSame ? action.slice(namespace.length + 1, namespace.length + 1 + words.length) : ''
  return `${namespace}/${own.toLowerCase() === words.toLowerCase() ? own : words}`
}

function claimsOf({ detail, principalId, caller }: StoredActivity, place: Place): object {
  return {
    oid: principalId,
    tid: place.tenantId,
    ...(caller === '' ? {} : { name: caller }),
    ...(detail.type === undefined ? {} : { idtyp: detail.type === 'User' ? 'user' : 'app' }),
    ...(detail.application === undefined ? {} : { appid: detail.application }),
    ...(detail.address === undefined ? {} : { ipaddr: detail.address }),
  }
}

function httpRequestOf({ detail }: StoredActivity): object {
  const { method, address, clientRequestId } = detail
  if (method === undefined) return {}
  return {
    httpRequest: {
      ...(clientRequestId === undefined ? {} : { clientRequestId }),
      ...(address === undefined ? {} : { clientIpAddress: address }),
      method,
    },
  }
}

function propertiesOf(activity: StoredActivity, id: string): Readonly<Record<string, string>> {
  const { detail } = activity
  const { httpStatus, code, userAgent, changes, changesOmitted, implicit, facts } = detail
  return {
    entity: id,
    eventCategory: categoryOf(activity),
    ...(httpStatus === undefined ? {} : { statusCode: statusWord(httpStatus) }),
    ...(code === undefined ? {} : { errorCode: code }),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(implicit === undefined ? {} : { implicit: 'true' }),
    ...(changes === undefined ? {} : { changes: JSON.stringify(changes) }),
    ...(changesOmitted === undefined ? {} : { changesOmitted: String(changesOmitted) }),
    ...facts,
  }
}
