/**
 * Subscriptions of clients to changes. They are created and renewed after a handshake with the receiver, for three
 * days each time. A list shows the caller's own subscriptions. Their address is matched before the path is parsed,
 * and `$metadata` does not have them.
 */

import { allRows, deleteRows, findRow, insertRow } from '#query/rows.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import { authorize, type Caller, keptRightsOf, rightsOf } from '../access.ts'
import type { BusinessWrite } from '../activity.ts'
import { type Entity, etagOf, type Model } from '../entity.ts'
import { badValue, refuse } from '../errors.ts'
import { type BusinessAnswer, type BusinessRequest, jsonHeaders } from '../message.ts'
import { parseJson } from '../odata/request.ts'
import { companies, type SubscriptionRow, subscriptions } from '../tables.ts'
import { lockInTurn, lockRow, updateRow } from '../write/rows.ts'
import { checkTag } from '../write/tag.ts'
import { watchedSets } from './watched.ts'
import type { CallOut } from './webhook-channel.ts'

const addressForm = /^subscriptions(?:\((?:'([^']{0,64})'|([^()']{0,64}))\))?\/?$/
const resourceForm =
  /^(?:https?:\/\/[^/]+)?\/?(?:v2\.0\/(?:[^/]+\/){1,2})?api\/(v[12]\.0)\/companies\(([0-9a-f-]{36})\)\/([A-Za-z]+)\/?$/i
/** The maximum number per installation (business facts 10). */
const subscriptionsMax = 200
/** The maximum number per principal, so that no principal takes all of them. */
const perPrincipalMax = subscriptionsMax / 8
const lifeMilliseconds = 3 * 86_400_000
const clientStateMax = 2048
const urlMax = 2000
const tokenBytes = 24

export interface SubscriptionRequest {
  readonly request: BusinessRequest
  readonly caller: Caller
  /** Undefined if the address is the list. */
  readonly key: string | undefined
}

interface SubscriptionDependencies {
  readonly sql: Sql
  readonly model: Model
  readonly now: number
  readonly ids: { uuid(): string; secret(bytes: number): string }
  readonly conflictStatus: 409 | 412
  /** The root address of the API. */
  readonly root: string
  readonly callOut: CallOut | undefined
  /** The caller as they are now. */
  callerAgain(): Promise<Caller>
  record(tx: SqlTx, write: BusinessWrite): Promise<void>
}

/** Undefined if the address is not one of these. */
export function subscriptionAddress({
  path,
}: Pick<BusinessRequest, 'path'>): Pick<SubscriptionRequest, 'key'> | undefined {
  const found = addressForm.exec(path)
  return found === null ? undefined : { key: found[1] ?? found[2] }
}

export async function answerSubscription(
  deps: SubscriptionDependencies,
  asking: SubscriptionRequest,
): Promise<BusinessAnswer> {
  const { method } = asking.request
  const isRead = method === 'GET' || method === 'HEAD'
  if (asking.key === undefined) {
    if (isRead) return await list(deps, asking)
    if (method === 'POST') return await subscribe(deps, asking)
    throw notAllowed(method, 'GET, POST')
  }
  if (isRead) return answerOf(deps, asking, await own(deps.sql, asking))
  if (method === 'PATCH') return await renew(deps, asking)
  if (method === 'DELETE') return await unsubscribe(deps, asking)
  throw notAllowed(method, 'GET, PATCH, DELETE')
}

function notAllowed(method: string, allow: string): Error {
  return refuse.BadRequest_MethodNotAllowed({ method, allow }, { headers: { Allow: allow } })
}

interface Wanted {
  readonly url: string
  readonly clientState: string
  readonly resource: string
  readonly companyId: string
  readonly set: string
  /** Whether the request gives the secret. */
  readonly givesState: boolean
}

/** The stored subscription with the changes of the body. */
function wantedOf(
  { request, caller }: SubscriptionRequest,
  before: SubscriptionRow | undefined,
): Wanted {
  const body = request.body === undefined ? {} : parseJson(request.body)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw refuse.BadRequest({ reason: 'The request body is invalid: an object was expected.' })
  }
  const given = new Map<string, unknown>(Object.entries(body))
  const textOf = (name: string, known: string | undefined, most: number): string => {
    const value = given.get(name) ?? known
    if (value === undefined) {
      const reason =
        name === 'clientState'
          ? 'another receiver gets no secret that you did not give.'
          : 'a subscription says who is called, and of what.'
      throw refuse.BadRequest_RequiredParamNotProvided({ name, reason }, { target: name })
    }
    if (typeof value !== 'string') throw badValue(name, 'text was expected.')
    if (value.length <= most) return value
    const lengths = { property: name, length: value.length, lengthMax: most }
    throw refuse.Application_StringExceededLength(lengths, { target: name })
  }
  const url = textOf('notificationUrl', before?.notification_url, urlMax)
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    throw badValue('notificationUrl', 'an https address without a user in it was expected.')
  }
  // A secret stays with the receiver it was given for. Its maker knows it, and may give it to another.
  const isKept =
    before === undefined ||
    before.notification_url === url ||
    before.client_state === '' ||
    before.user_id === caller.principal.id
  const named = textOf('resource', before?.resource, urlMax)
  const [, version = '', companyId = '', set = ''] = resourceForm.exec(named) ?? []
  if (!watchedSets.includes(set)) {
    throw badValue(
      'resource',
      `'api/v2.0/companies({id})/' and one of ${watchedSets.toSorted().join(', ')} was expected.`,
    )
  }
  return {
    url,
    clientState: textOf(
      'clientState',
      isKept ? (before?.client_state ?? '') : undefined,
      clientStateMax,
    ),
    resource: `api/${version.toLowerCase()}/companies(${companyId.toLowerCase()})/${set}`,
    companyId: companyId.toLowerCase(),
    set,
    givesState: typeof given.get('clientState') === 'string',
  }
}

async function requireReader(
  { sql, model }: SubscriptionDependencies,
  caller: Caller,
  wanted: Wanted,
): Promise<void> {
  const { companyId } = wanted
  authorize(await rightsOf(sql, caller), companyId, entityOf(model, wanted), false)
  const company = await findRow(sql, companies, { id: companyId })
  if (company === undefined) throw refuse.Internal_CompanyNotFound({ key: `'${companyId}'` })
}

function entityOf(model: Model, { set }: Wanted): Entity {
  const entity = model.entities.find((one: Entity) => one.set === set)
  if (entity === undefined) throw new Error(`no entity ${set}`)
  return entity
}

/** The company and the right to read it stay until the transaction ends. */
async function keepReader(
  { sql: { dialect }, model }: SubscriptionDependencies,
  tx: SqlTx,
  { caller, wanted }: { readonly caller: Caller; readonly wanted: Wanted },
): Promise<void> {
  const { companyId: id } = wanted
  const company = await findRow(tx, companies, { id }, lockInTurn({ dialect }))
  if (company === undefined) throw refuse.Internal_CompanyNotFound({ key: `'${id}'` })
  authorize(await keptRightsOf({ tx, dialect }, caller, id), id, entityOf(model, wanted), false)
}

/** Asks the receiver for its consent. It consents by answering 200 with the token. */
async function shakeHands(
  { callOut, ids }: SubscriptionDependencies,
  { url }: Wanted,
  { principal }: Caller,
): Promise<void> {
  const token = ids.secret(tokenBytes)
  const address = new URL(url)
  address.searchParams.set('validationToken', token)
  const failed = (what: string) =>
    badValue('notificationUrl', `${what}; 200 with the validationToken as its body was expected.`)
  if (callOut === undefined) throw failed('nothing is called from here')
  const answer = await callOut(address.href, '', principal.id)
  if ('reason' in answer) throw failed(answer.reason)
  const { status, text } = answer
  if (status !== 200) throw failed(`it answered ${status}`)
  if (text.trim().replace(/^"(.*)"$/s, '$1') !== token) throw failed('it answered something else')
}

async function subscribe(
  deps: SubscriptionDependencies,
  given: SubscriptionRequest,
): Promise<BusinessAnswer> {
  const { sql, now, ids } = deps
  const wanted = wantedOf(given, undefined)
  await requireReader(deps, given.caller, wanted)
  await shakeHands(deps, wanted, given.caller)
  // The receiver may have taken its time.
  const caller = await deps.callerAgain()
  const asking = { ...given, caller }
  const id = ids.uuid().replaceAll('-', '')
  return await sql.transact(async (tx) => {
    await keepReader(deps, tx, { caller, wanted })
    await requireRoom(tx, caller, now)
    await insertRow(tx, subscriptions, {
      id,
      revision: 1,
      ...cellsOf(wanted, now),
      user_id: caller.principal.id,
      maker: JSON.stringify(caller.principal),
      created_at: now,
    })
    const row = await own(tx, { ...asking, key: id })
    await record(deps, tx, row, 201)
    return answerOf(deps, asking, row, 201)
    // Those of one principal after the other. Nobody waits for rows that another caller waits for.
  }, `business subscriptions of ${caller.principal.id}`)
}

async function requireRoom(tx: SqlTx, { principal }: Caller, now: number): Promise<void> {
  const [count] = await tx.all(
    `select count(*) as n, count(case when user_id = ? then 1 end) as own
      from business_subscriptions where expires_at > ?`,
    principal.id,
    now,
  )
  const none = (reason: string) => refuse.BadRequest_InvalidOperation({ reason })
  if (Number(count?.['own']) >= perPrincipalMax) {
    throw none(
      `You have ${perPrincipalMax} subscriptions, the limit per principal; remove one, or wait until one ends.`,
    )
  }
  if (Number(count?.['n']) < subscriptionsMax) return
  throw none(`There are ${subscriptionsMax} subscriptions; remove one, or wait until one ends.`)
}

function cellsOf({ url, clientState, resource, companyId, set }: Wanted, now: number) {
  return {
    company_id: companyId,
    set_name: set,
    resource,
    notification_url: url,
    client_state: clientState,
    expires_at: now + lifeMilliseconds,
    last_modified_date_time: now,
  }
}

async function renew(
  deps: SubscriptionDependencies,
  given: SubscriptionRequest,
): Promise<BusinessAnswer> {
  const { sql, now } = deps
  const before = await own(sql, given)
  checked(deps, given, before, true)
  const wanted = wantedOf(given, before)
  await requireReader(deps, given.caller, wanted)
  await shakeHands(deps, wanted, given.caller)
  const caller = await deps.callerAgain()
  const asking = { ...given, caller }
  return await sql.transact(async (tx) => {
    const { id } = before
    await keepReader(deps, tx, { caller, wanted })
    const row = await lockRow({ tx, dialect: sql.dialect }, subscriptions, { id })
    // One that has ended does not count any more, so it does not come back.
    if (row === undefined || row.expires_at <= now) throw notThere(asking)
    checked(deps, asking, row, true)
    const { principal } = asking.caller
    // Whoever gives the secret is the maker from then on: the one before does not know it, and gets it neither by a look nor
    // at a receiver of theirs.
    const isMaker = principal.id === row.user_id || wanted.givesState
    await updateRow(tx, subscriptions, id, {
      ...cellsOf(wanted, now),
      ...(isMaker ? { user_id: principal.id, maker: JSON.stringify(principal) } : {}),
    })
    const after = await own(tx, asking)
    await record(deps, tx, after, 200)
    return answerOf(deps, asking, after)
  })
}

async function unsubscribe(
  deps: SubscriptionDependencies,
  asking: SubscriptionRequest,
): Promise<BusinessAnswer> {
  return await deps.sql.transact(async (tx) => {
    const { id } = await own(tx, asking)
    const row = await lockRow({ tx, dialect: deps.sql.dialect }, subscriptions, { id })
    if (row === undefined) throw notThere(asking)
    checked(deps, asking, row, false)
    await deleteRows(tx, subscriptions, { id: row.id })
    await record(deps, tx, row, 204)
    return { status: 204, headers: { 'OData-Version': '4.0' }, body: undefined }
  })
}

const tagged = { type: 'subscription' } as Entity

function checked(
  { conflictStatus }: SubscriptionDependencies,
  { request }: SubscriptionRequest,
  row: SubscriptionRow,
  isRequired: boolean,
): void {
  const ifMatch = request.headers['if-match']
  checkTag({ entity: tagged, id: row.id, ifMatch }, row, isRequired, conflictStatus)
}

function notThere({ key = '' }: SubscriptionRequest): Error {
  return refuse.BadRequest_ResourceNotFound({ type: 'subscription', key: `the id '${key}'` })
}

type Rows = Pick<SqlTx, 'all'>

/** The subscriptions of the caller. Administrators get all. */
async function own(reads: Rows, asking: SubscriptionRequest): Promise<SubscriptionRow> {
  const { caller, key = '' } = asking
  const row = await findRow(reads, subscriptions, { id: key.toLowerCase() })
  const isTheirs = caller.isAdministrator || row?.user_id === caller.principal.id
  if (row === undefined || !isTheirs) throw notThere(asking)
  return row
}

async function list(
  { sql, now, root }: SubscriptionDependencies,
  { caller, request }: SubscriptionRequest,
): Promise<BusinessAnswer> {
  const rows = await allRows(sql, subscriptions, 'where expires_at > ? order by id', now)
  const theirs = rows.filter(
    ({ user_id: userId }) => caller.isAdministrator || userId === caller.principal.id,
  )
  const body = {
    '@odata.context': `${root}/${request.version}/$metadata#subscriptions`,
    value: theirs.map((row) => shownOf(row, caller)),
  }
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(body) }
}

function shownOf(row: SubscriptionRow, caller: Caller): object {
  const moment = (at: number) => new Date(at).toISOString()
  const modified = moment(row.last_modified_date_time)
  return {
    '@odata.etag': etagOf(row.id, row.revision),
    subscriptionId: row.id,
    notificationUrl: row.notification_url,
    resource: row.resource,
    timestamp: row.revision,
    userId: row.user_id,
    lastModifiedDateTime: modified,
    // A secret between the subscription's maker and its receiver.
    clientState: row.user_id === caller.principal.id ? row.client_state : '',
    expirationDateTime: moment(row.expires_at),
    systemCreatedAt: moment(row.created_at),
    systemCreatedBy: row.user_id,
    systemModifiedAt: modified,
    systemModifiedBy: row.user_id,
  }
}

function locationOf(
  { root }: SubscriptionDependencies,
  { request }: SubscriptionRequest,
  id: string,
): string {
  return `${root}/${request.version}/subscriptions('${id}')`
}

function answerOf(
  deps: SubscriptionDependencies,
  asking: SubscriptionRequest,
  row: SubscriptionRow,
  status: 200 | 201 = 200,
): BusinessAnswer {
  const { version } = asking.request
  const context = `${deps.root}/${version}/$metadata#subscriptions/$entity`
  const headers = {
    ...jsonHeaders,
    ETag: etagOf(row.id, row.revision),
    ...(status === 201 ? { Location: locationOf(deps, asking, row.id) } : {}),
  }
  const body = JSON.stringify({ '@odata.context': context, ...shownOf(row, asking.caller) })
  return { status, headers, body }
}

async function record(
  deps: SubscriptionDependencies,
  tx: SqlTx,
  { id, resource, notification_url: url }: SubscriptionRow,
  httpStatus: number,
): Promise<void> {
  const shown = { resource, notificationUrl: url.replace(/[?#].*$/s, '') }
  await deps.record(tx, {
    operation: httpStatus === 204 ? 'subscriptions/delete' : 'subscriptions/write',
    location: `/api/v2.0/subscriptions('${id}')`,
    httpStatus,
    ...(httpStatus === 204 ? {} : { after: { fields: shown } }),
  })
}
