/** GET, HEAD and LIST. A page costs the page: lists are ranges of keys, continued after the last one shown. */

import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import type { Limits } from '#kernel/limits.ts'
import { type ResourceId, subscriptionOf } from '#kernel/resource-id.ts'
import type { ResourceRow } from '#stores/store.ts'
import { noAttributes, type RequestFacts } from '../access.ts'
import { attributesOf, describedRow } from '../attributes.ts'
import type { ListContext, Resource, Version } from '../define.ts'
import { readRow, show } from '../document.ts'
import type { LocatedRoute } from '../locate.ts'
import { contextOf, createReader, type Parts } from '../parts.ts'
import { requireGrant } from '../permit.ts'
import type { Outcome, RunInput } from '../plane.ts'
import type { CompiledType } from '../registry.ts'
import { requireScopes } from '../scopes.ts'
import { packToken, unpackToken } from '../tokens.ts'
import { notFound } from './not-found.ts'
import { computedEtag } from './patch-source.ts'

export async function runGet(parts: Parts, route: LocatedRoute, input: RunInput): Promise<Outcome> {
  const compiled = compiledOf(route)
  const { source } = compiled.declaration
  if (source?.get !== undefined) {
    const item = await source.get({
      ...contextOf(parts, input, parts.clock.now(), parts.store),
      id: route.id,
      requested: route.scope,
      query: input.query,
    })
    if (item !== undefined) {
      // What a computed item is, only its type knows: conditions on it cannot hold.
      requireGrant(route, input, () => blindFacts(parts))
      // Only what can be changed has a use for a tag.
      const tag = source.patch === undefined ? {} : { etag: computedEtag(item) }
      if (route.kind === 'head') return { status: 204, body: item, ...tag }
      const verdict = checkPreconditions('GET', input.preconditions, tag.etag)
      if (verdict.kind === 'not-modified') return { status: 304, ...tag }
      return { status: 200, body: item, ...tag }
    }
  }
  const row = compiled.versions.size === 0 ? undefined : await parts.store.get(route.id.key)
  const version = compiled.versions.get(route.version)
  requireGrant(route, input, () => ({
    now: parts.clock.now(),
    request: noAttributes,
    resource: row === undefined ? noAttributes : attributesOf(parts, compiled, describedRow(row)),
  }))
  if (row === undefined || version === undefined) {
    await requireScopes(parts.store, route.id, false)
    throw notFound(compiled, route.id)
  }
  if (route.kind === 'head') {
    return { status: compiled.declaration.headStatus ?? 204, etag: row.etag }
  }
  const verdict = checkPreconditions('GET', input.preconditions, row.etag)
  // The tag is of what was asked for; of what work in the background has come to it says nothing.
  const isWhole = compiled.declaration.reconcile?.background === undefined
  if (isWhole && verdict.kind === 'not-modified') return { status: 304, etag: row.etag }
  return { status: 200, body: shownRow(parts, compiled, version, row), etag: row.etag }
}

/** Rows and answers are never changed, so an answer made of a row is good as long as the row is at hand. */
function shownRow(
  parts: Parts,
  compiled: CompiledType,
  version: Version<unknown>,
  row: ResourceRow,
): object {
  const known = parts.answers.get(row)
  if (known?.version === version.date) return known.body
  const body = show(compiled, version, readRow(row), parts.registry.words)
  parts.answers.set(row, { version: version.date, body })
  return body
}

export async function runList(
  parts: Parts,
  route: LocatedRoute,
  input: RunInput,
): Promise<Outcome> {
  const compiled = compiledOf(route)
  // A list shows many resources, so it takes a grant that holds whatever they are.
  requireGrant(route, input, () => blindFacts(parts))
  const limit = pageLimit(parts.limits, input.query)
  const purpose = purposeOf(route, input.query)
  const cursor = cursorOf(parts, purpose, input.query)
  await requireParent(parts, compiled, route.id)
  const context: ListContext = {
    ...contextOf(parts, input, parts.clock.now(), parts.store),
    parent: route.id,
    query: input.query,
    limit,
    cursor,
  }
  const page = await pageOf(parts, compiled, route.version, context)
  return {
    status: 200,
    body: { value: page.items, ...(page.count === undefined ? {} : { count: page.count }) },
    ...(page.next === undefined
      ? {}
      : { nextToken: packToken(parts.tokenKey, purpose, page.next) }),
  }
}

/** What a continuation token of this very question says; undefined where none was given. */
export function cursorOf(
  parts: Parts,
  purpose: string,
  query: URLSearchParams,
): string | undefined {
  const token = query.get('$skipToken') ?? query.get('$skiptoken')
  if (token === null) return undefined
  const cursor = unpackToken(parts.tokenKey, purpose, token)
  if (cursor === undefined) throw refuse.InvalidContinuationToken()
  return cursor
}

function blindFacts(parts: Parts): RequestFacts {
  return { now: parts.clock.now(), request: 'unknown', resource: 'unknown' }
}

interface ShownPage {
  readonly items: readonly object[]
  readonly next?: string
  readonly count?: number
}

async function pageOf(
  parts: Parts,
  compiled: CompiledType,
  date: string,
  context: ListContext,
): Promise<ShownPage> {
  const { declaration } = compiled
  const { words } = parts.registry
  const version = compiled.versions.get(date)
  const shown = (resource: Resource): object => {
    if (version === undefined) throw new Error(`${compiled.fullType} lists without a shape`)
    return show(compiled, version, resource, words)
  }
  if (declaration.list !== undefined) {
    const page = await declaration.list(context)
    return { ...page, items: page.items.map(shown) }
  }
  if (declaration.source?.list !== undefined) return declaration.source.list(context)
  const items = await createReader(parts.registry, parts.store).list({
    type: declaration.type,
    under: context.parent,
    ...(context.cursor === undefined ? {} : { after: context.cursor }),
    limit: context.limit + 1,
  })
  const more = items.length > context.limit
  const kept = more ? items.slice(0, context.limit) : items
  const last = kept.at(-1)
  return {
    items: kept.map(shown),
    ...(more && last !== undefined ? { next: last.id.key } : {}),
  }
}

/** `$top` is the size of a page; the rest follows by `nextLink`. */
export function pageLimit(limits: Limits, query: URLSearchParams): number {
  const top = query.get('$top')
  if (top === null) return limits.pageSize
  if (!/^[0-9]{1,9}$/.test(top) || Number(top) < 1) {
    throw refuse.InvalidQueryParameter({ name: '$top', reason: 'expected a whole number from 1' })
  }
  return Math.min(Number(top), limits.pageSizeMax)
}

/** A token continues one list of one collection: same path, same questions. */
export function purposeOf(route: LocatedRoute, query: URLSearchParams): string {
  const asked = [...query]
    .filter(([name]) => !['$skiptoken', '$top', 'api-version'].includes(name.toLowerCase()))
    .map(([name, value]) => `${name}=${value}`)
    .sort()
  return [route.path, ...asked].join('\n')
}

/** A list below something that does not exist is 404 (facts 9.3); computed parents are not asked for. */
async function requireParent(parts: Parts, compiled: CompiledType, id: ResourceId): Promise<void> {
  if (subscriptionOf(id) !== undefined) await requireScopes(parts.store, id, true)
  const last = id.segments.at(-1)
  if (last?.namespace === undefined || compiled.words.length < 2) return
  const parent = parts.registry.find(last.namespace, last.types)
  if (parent === undefined || parent.versions.size === 0) return
  if ((await parts.store.get(id.key)) === undefined) throw notFound(parent, id)
}

function compiledOf(route: LocatedRoute): CompiledType {
  if (route.compiled === undefined) throw new Error(`the route of ${route.id.text} has no type`)
  return route.compiled
}

/** Tracked resources of every type, for the generic lists; `next` continues after the last row looked at. */
export interface TrackedPage {
  readonly items: readonly { readonly resource: Resource; readonly compiled: CompiledType }[]
  readonly next?: string
}

export async function listTracked(
  parts: Parts,
  query: { readonly under: ResourceId; readonly after?: string; readonly limit: number },
): Promise<TrackedPage> {
  const rows = await parts.store.list({
    under: query.under.key,
    tracked: true,
    ...(query.after === undefined ? {} : { after: query.after }),
    limit: query.limit,
  })
  const last = rows.at(-1)
  return {
    items: rows.flatMap((row) => {
      const compiled = parts.registry.byKey(row.type)
      // Groups are tracked (location, tags) but are no members of a list of resources.
      if (compiled === undefined || compiled.declaration.scope === 'implied') return []
      return [{ resource: readRow(row), compiled }]
    }),
    ...(last === undefined || rows.length < query.limit ? {} : { next: last.key }),
  }
}
