/**
 * GET, HEAD and LIST. A page costs no more than what it shows: lists are ranges of keys, continued after the last one
 * shown.
 */

import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import type { Limits } from '#kernel/limits.ts'
import { parentOf, type ResourceId, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import { isCut } from '#stores/list-budget.ts'
import type { ResourceRow } from '#stores/store.ts'
import { allowsWithoutAttributes, noAttributes, type RequestFacts } from '../access.ts'
import { attributesOf, describedRow } from '../attributes.ts'
import { type CompiledStoredType, type CompiledType, isStored } from '../compiled-type.ts'
import { packContinuationToken, unpackContinuationToken } from '../continuation-tokens.ts'
import type { Resource } from '../declare/resource.ts'
import type { ListContext, Version } from '../declare/wire.ts'
import { contextOf, listWithRoom, type PlaneDependencies, type WireRow } from '../dependencies.ts'
import { readRow, toWire } from '../document.ts'
import { requireGrant } from '../grant.ts'
import type { LocatedRoute, ReadRoute } from '../locate.ts'
import { freeTurn, largeDocument } from '../next-turn.ts'
import { pageAfter } from '../page-after.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { requireScopes } from '../scopes.ts'
import { notFound } from './not-found.ts'
import { computedEtag } from './write-computed.ts'

export async function runGet(
  deps: PlaneDependencies,
  route: ReadRoute,
  input: RunInput,
): Promise<Outcome> {
  const { compiled } = route
  const { source } = compiled
  if (source?.get !== undefined) {
    const item = await source.get({
      ...contextOf(deps, input, deps.clock.now(), deps.store),
      id: route.id,
      requested: route.scope,
      query: input.query,
    })
    if (item !== undefined) {
      // Only the type understands a computed item, so conditions on it cannot hold.
      requireGrant(route, input, () => unknownFacts(deps))
      // Only an item that can be changed needs a tag.
      const tag = (source.patch ?? source.put) === undefined ? {} : { etag: computedEtag(item) }
      if (route.kind === 'head') return { status: 204, body: item, ...tag }
      const verdict = checkPreconditions('GET', input.preconditions, tag.etag)
      if (verdict.kind === 'not-modified') return { status: 304, ...tag }
      return { status: 200, body: item, ...tag }
    }
  }
  const row = isStored(compiled) ? await deps.store.get(route.id.key) : undefined
  const version = compiled.versions.get(route.version)
  requireGrant(route, input, () => ({
    now: deps.clock.now(),
    request: noAttributes,
    resource:
      row === undefined || !isStored(compiled)
        ? noAttributes
        : attributesOf(deps, compiled, describedRow(row)),
  }))
  if (row === undefined || version === undefined || !isStored(compiled)) {
    await requireScopes(deps.store, route.id, false)
    throw notFound(compiled, route.id)
  }
  if (route.kind === 'head') {
    return { status: compiled.stored.protocol?.headStatus ?? 204, etag: row.etag }
  }
  const verdict = checkPreconditions('GET', input.preconditions, row.etag)
  // The tag covers what was asked for, but not what background work has recorded since.
  const isWhole = (): boolean =>
    compiled.reconcile?.background === undefined || (readRow(row).observed ?? null) === null
  if (verdict.kind === 'not-modified' && isWhole()) return { status: 304, etag: row.etag }
  const show = input.takesText === true ? rowToText : rowToWire
  const turn = freeTurn(input.principal.id)
  if (turn !== undefined) await turn
  return { status: 200, body: show(deps, compiled, version, row), etag: row.etag }
}

/** Rows and answers never change, so an answer stays valid as long as its row exists. */
function rowToWire(
  deps: PlaneDependencies,
  compiled: CompiledStoredType,
  version: Version<unknown>,
  row: ResourceRow,
): object {
  const known = knownWire(deps, version, row)
  if (known?.body !== undefined) return known.body
  const body = toWire(compiled, version, readRow(row), deps.registry.words)
  keepWire(deps, row, { ...known, version: version.date, body })
  return body
}

/** For a row that is not needed as an object, only the text is kept. */
function rowToText(
  deps: PlaneDependencies,
  compiled: CompiledStoredType,
  version: Version<unknown>,
  row: ResourceRow,
): string {
  const known = knownWire(deps, version, row)
  if (known?.text !== undefined) return known.text
  const body = known?.body ?? toWire(compiled, version, readRow(row), deps.registry.words)
  const text = JSON.stringify(body)
  keepWire(deps, row, { ...known, version: version.date, text })
  return text
}

function keepWire({ wireCache }: PlaneDependencies, row: ResourceRow, wire: WireRow): void {
  // A larger one would take two or three times its size in memory.
  if (row.document.length <= largeDocument) wireCache.set(row, wire)
}

function knownWire(
  { wireCache }: PlaneDependencies,
  { date }: Version<unknown>,
  row: ResourceRow,
): WireRow | undefined {
  const known = wireCache.get(row)
  return known?.version === date ? known : undefined
}

export async function runList(
  deps: PlaneDependencies,
  route: ReadRoute,
  input: RunInput,
): Promise<Outcome> {
  const { compiled } = route
  // A list shows many resources, so it needs a grant without conditions.
  requireGrant(route, input, () => unknownFacts(deps))
  const limit = pageLimit(deps.limits, input.query)
  const purpose = tokenPurpose(route, input.query)
  const cursor = readCursor(deps, purpose, input.query)
  const { principal } = input
  const reading = { principal, action: route.operation, scope: route.scope }
  // Of a list that is open to all, whoever may not read there is told only which subscriptions exist, as everybody is.
  const mayKnow = () =>
    !compiled.isOpenList || allowsWithoutAttributes(deps.access, reading, deps.clock.now())
  // Nothing above the root may be missing.
  if (route.id.segments.length > 0) {
    const subscription = subscriptionOf(route.id)
    if (await mayKnow()) await requireParent(deps, compiled, route.id)
    else if (subscription !== undefined) {
      await requireScopes(deps.store, subscriptionIdOf(subscription), true)
    }
  }
  const context: ListContext = {
    ...contextOf(deps, input, deps.clock.now(), deps.store),
    parent: route.id,
    query: input.query,
    limit,
    cursor,
  }
  const page = await pageOf(deps, compiled, route.version, context)
  return {
    status: 200,
    body: { value: page.items, ...(page.count === undefined ? {} : { count: page.count }) },
    ...(page.next === undefined
      ? {}
      : { nextToken: packContinuationToken(deps.tokenKeys(), purpose, page.next) }),
  }
}

/** The cursor of a continuation token for this same request; undefined where none was given. */
export function readCursor(
  deps: PlaneDependencies,
  purpose: string,
  query: URLSearchParams,
): string | undefined {
  const token = query.get('$skipToken') ?? query.get('$skiptoken')
  if (token === null) return undefined
  const cursor = unpackContinuationToken(deps.tokenKeys(), purpose, token)
  if (cursor === undefined) throw refuse.InvalidContinuationToken()
  return cursor
}

function unknownFacts(deps: PlaneDependencies): RequestFacts {
  return { now: deps.clock.now(), request: 'unknown', resource: 'unknown' }
}

interface WirePage {
  readonly items: readonly object[]
  readonly next?: string
  readonly count?: number
}

async function pageOf(
  deps: PlaneDependencies,
  compiled: CompiledType,
  date: string,
  context: ListContext,
): Promise<WirePage> {
  const { declaration, stored, source } = compiled
  const { words } = deps.registry
  const version = compiled.versions.get(date)
  const wire = (resource: Resource): object => {
    if (version === undefined || !isStored(compiled))
      throw new Error(`${compiled.fullType} lists without a shape`)
    return toWire(compiled, version, resource, words)
  }
  if (stored?.list?.page !== undefined) {
    const page = await stored.list.page(context)
    return { ...page, items: page.items.map(wire) }
  }
  if (source?.list !== undefined) return source.list(context)
  const { items, next } = await pageAfter(context, declaration.type)
  return { items: items.map(wire), ...(next === undefined ? {} : { next }) }
}

/** `$top` is the size of a page; `nextLink` leads to the rest. */
export function pageLimit(limits: Limits, query: URLSearchParams): number {
  const top = query.get('$top')
  if (top === null) return limits.pageSize
  if (!/^[0-9]{1,9}$/.test(top) || Number(top) < 1) {
    throw refuse.InvalidQueryParameter({ name: '$top', reason: 'expected a whole number from 1' })
  }
  return Math.min(Number(top), limits.pageSizeMax)
}

/** A token continues one list of one collection: same path, same query. */
export function tokenPurpose(route: LocatedRoute, query: URLSearchParams): string {
  const asked = [...query]
    .filter(([name]) => !['$skiptoken', '$top', 'api-version'].includes(name.toLowerCase()))
    .map(([name, value]) => `${name}=${value}`)
    .sort()
  return [route.path, ...asked].join('\n')
}

/** A list below something that does not exist is 404 (facts 9.3). Computed parents are not checked. */
async function requireParent(
  deps: PlaneDependencies,
  compiled: CompiledType,
  id: ResourceId,
): Promise<void> {
  if (subscriptionOf(id) !== undefined) await requireScopes(deps.store, id, true)
  const last = id.segments.at(-1)
  if (last?.namespace === undefined || compiled.words.length < 2) return
  const parent = deps.registry.find(last.namespace, last.types)
  if (!isStored(parent)) return
  if ((await deps.store.get(id.key)) !== undefined) return
  const above = await deps.store.get(parentOf(id).key)
  if (parent.stored.isImplied?.(id, above && readRow(above)) !== true) throw notFound(parent, id)
}

/** Tracked resources of every type, for the generic lists; `next` continues after the last row read. */
export interface TrackedPage {
  readonly items: readonly { readonly resource: Resource; readonly compiled: CompiledStoredType }[]
  readonly next?: string
  /** The limit of bytes ended the page. */
  readonly isShort?: true
}

interface TrackedQuery {
  readonly under: ResourceId
  readonly after?: string
  readonly limit: number
  readonly wireType?: string
}

export async function listTracked(
  deps: PlaneDependencies,
  query: TrackedQuery,
): Promise<TrackedPage> {
  const type = query.wireType === undefined ? undefined : declaredKey(deps, query.wireType)
  const asked = {
    under: query.under.key,
    tracked: true,
    ...(type === undefined ? {} : { type }),
    ...(query.after === undefined ? {} : { after: query.after }),
    limit: query.limit,
    bytesMax: deps.limits.pageBytesMax,
  }
  const rows = await listWithRoom(deps.store, asked)
  const last = rows.at(-1)
  return {
    items: rows.flatMap((row) => {
      const compiled = deps.registry.byKey(row.type)
      // Groups have location and tags, but lists of resources do not contain them.
      if (compiled === undefined || compiled.declaration.scope === 'implied') return []
      return [{ resource: readRow(row), compiled }]
    }),
    ...(last !== undefined && isCut(rows, asked) ? { next: last.key } : {}),
    ...(rows.length < query.limit && isCut(rows, asked) ? { isShort: true } : {}),
  }
}

/** Rows of a type that nobody declares may have been written in any case of its letters. */
function declaredKey({ registry }: PlaneDependencies, wireType: string): string | undefined {
  const found = registry.byKey(wireType.toLowerCase())
  return found !== undefined && registry.types.includes(found) ? found.key : undefined
}
