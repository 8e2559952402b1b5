/**
 * The resources that an event affects: those it names, then those of the impacted services in the impacted regions.
 */

import Type from 'typebox'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import {
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
  resourceGroupOf,
  rootId,
  scopeOf,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { ListPage } from '#plane/declare/wire.ts'
import { freeTurn } from '#plane/next-turn.ts'
import type { HealthEvent, NamedResource } from '../../domain/event.ts'
import { audiencesOf, type EventStore, everybody } from '../../domain/event-store.ts'
import { impactsOf, type ServiceNames } from '../../domain/impact-match.ts'
import { isVisible, type RequestedScope, requestedScopeAt } from '../../domain/scope.ts'
import { refuseHealth } from '../../errors.ts'

export interface ImpactedQuery {
  /** The path of the collection, as shown. */
  readonly base: string
  readonly filter: string | null
  readonly cursor: string | undefined
  readonly limit: number
}

export interface ImpactedResources {
  page(
    event: HealthEvent,
    requested: RequestedScope,
    query: ImpactedQuery,
  ): Promise<ListPage<object>>
}

export interface ImpactedDependencies {
  readonly words: VendorWords
  readonly services: Pick<PlaneServices, 'reader' | 'listTracked'>
  readonly serviceNames: ServiceNames
}

interface Item {
  readonly id: ResourceId
  readonly location: string | undefined
  readonly named: NamedResource | undefined
}

const text = Type.String()
export const impactedResourceAnswer = Type.Object({
  properties: Type.Object({
    targetResourceType: text,
    targetResourceId: text,
    targetRegion: Type.Optional(text),
    resourceName: text,
    resourceGroup: Type.Optional(text),
    status: Type.Optional(text),
    maintenanceStartTime: Type.Optional(text),
    maintenanceEndTime: Type.Optional(text),
    info: Type.Array(Type.Object({ key: Type.Optional(text), value: Type.Optional(text) })),
  }),
})

/** The number of resources checked for one page, which may come back short. */
const scannedMax = 2000

const fields: FieldMap<Item> = {
  lenient: true,
  optionalPrefix: 'properties',
  fields: {
    targetResourceId: { type: 'string', ignoreCase: true, read: ({ id }) => id.text },
    targetResourceType: { type: 'string', ignoreCase: true, read: ({ id }) => typeOf(id) },
    targetRegion: { type: 'string', ignoreCase: true, read: ({ location }) => location },
    resourceName: { type: 'string', ignoreCase: true, read: ({ id }) => nameOf(id) },
    resourceGroup: { type: 'string', ignoreCase: true, read: ({ id }) => resourceGroupOf(id) },
    status: { type: 'string', ignoreCase: true, read: ({ named }) => named?.status },
  },
}

export function openImpactedResources(deps: ImpactedDependencies): ImpactedResources {
  return {
    async page(event, requested, { base, filter, cursor, limit }) {
      const matches = filterOf(filter, fields, refuseHealth.InvalidFilter)
      const items: object[] = []
      const shown = (item: Item): object => show(item, base, deps.words)
      // The cursor is a number while it lists the named ones, and a key from then on.
      const from = cursor === undefined ? 0 : /^\d+$/.test(cursor) ? Number(cursor) : undefined
      if (from !== undefined) {
        for (let at = from; at < event.impactedResources.length; at++) {
          if (items.length === limit) return { items, next: String(at) }
          await freeTurn()
          const item = await namedItem(event.impactedResources[at], requested, deps.services.reader)
          if (item !== undefined && matches(item)) items.push(shown(item))
        }
        if (items.length === limit) return { items, next: '/' }
      }
      const impacts = impactsOf(event, deps.serviceNames)
      const audiences = new Set(audiencesOf(event))
      let after = from === undefined && cursor !== '/' ? cursor : undefined
      for (let scanned = 0; scanned < scannedMax; ) {
        const { items: rows, next } = await deps.services.listTracked({
          under: underOf(requested),
          ...(after === undefined ? {} : { after }),
          limit: 200,
        })
        for (const { resource } of rows) {
          await freeTurn()
          const { id, location } = resource
          const item: Item = { id, location, named: undefined }
          const isOne =
            !impacts.names(id) && isFor(audiences, id) && impacts.touches({ id, location })
          if (isOne && matches(item)) {
            items.push(shown(item))
            if (items.length === limit) return { items, next: id.key }
          }
        }
        if (next === undefined) return { items }
        after = next
        scanned += 200
      }
      return { items, ...(after === undefined ? {} : { next: after }) }
    },
  }
}

export function impactedResources(
  deps: ImpactedDependencies & {
    readonly eventStore: EventStore
    readonly impacted: ImpactedResources
  },
  versions: readonly string[],
): ResourceType {
  const requireEvent = async (
    id: ResourceId,
    reader: Reader,
  ): Promise<{ readonly event: HealthEvent; readonly requested: RequestedScope }> => {
    const requested = await requestedScopeAt(scopeOf(id), reader)
    const name = nameOf(id)
    const event = name.includes('\u0000') ? undefined : await deps.eventStore.find(name)
    if (event !== undefined && isVisible(event, requested, deps.serviceNames))
      return { event, requested }
    throw refuseHealth.EventNotFound({ name: nameOf(id) })
  }
  return defineComputed({
    type: 'ResourceHealth/events/impactedResources',
    description: 'The resources that an event touches.',
    scope: 'any',
    query: { list: ['$filter'] },
    apiVersions: versions,
    answer: added(impactedResourceAnswer),
    source: {
      async list({ parent, reader, query, cursor, limit }) {
        const { event, requested } = await requireEvent(parent, reader)
        const base = `${parent.text}/impactedResources`
        return deps.impacted.page(event, requested, {
          base,
          filter: query.get('$filter'),
          cursor,
          limit,
        })
      },
      async get({ id, reader }) {
        const parent = parentOf(id)
        const { event, requested } = await requireEvent(parent, reader)
        const target = parseResourceId(targetOf(nameOf(id)))
        if (target === undefined) return undefined
        const named = event.impactedResources.find(
          (one) => one.targetResourceId.toLowerCase() === target.key,
        )
        const item =
          named === undefined
            ? await trackedItem(deps, { event, requested }, target, reader)
            : await namedItem(named, requested, reader)
        const base = `${parent.text}/impactedResources`
        return item === undefined ? undefined : show(item, base, deps.words)
      },
    },
  })
}

async function namedItem(
  named: NamedResource | undefined,
  requested: RequestedScope,
  reader: Reader,
): Promise<Item | undefined> {
  const id = named === undefined ? undefined : parseResourceId(named.targetResourceId)
  if (id === undefined || !isWithinRequested(id, requested)) return undefined
  return { id, location: (await reader.get(id))?.location, named }
}

async function trackedItem(
  { serviceNames }: ImpactedDependencies,
  { event, requested }: { readonly event: HealthEvent; readonly requested: RequestedScope },
  id: ResourceId,
  reader: Reader,
): Promise<Item | undefined> {
  const resource = isWithinRequested(id, requested) ? await reader.get(id) : undefined
  if (resource === undefined || !isFor(new Set(audiencesOf(event)), id)) return undefined
  const { location } = resource
  return impactsOf(event, serviceNames).touches({ id, location })
    ? { id, location, named: undefined }
    : undefined
}

/** Whether an event for these is for the subscription of the resource. */
function isFor(audiences: ReadonlySet<string>, id: ResourceId): boolean {
  return audiences.has(everybody) || audiences.has(subscriptionOf(id)?.toLowerCase() ?? '')
}

function isWithinRequested(id: ResourceId, requested: RequestedScope): boolean {
  if (requested.kind === 'installation') return true
  if (requested.kind === 'resource') return requested.resource.id.key === id.key
  return subscriptionOf(id)?.toLowerCase() === requested.subscription
}

function underOf(requested: RequestedScope): ResourceId {
  if (requested.kind === 'installation') return rootId
  return requested.kind === 'subscription'
    ? subscriptionIdOf(requested.subscription)
    : requested.resource.id
}

/** A name for a path segment: the target's id in base64url. */
function nameFor(id: ResourceId): string {
  return Buffer.from(id.text).toString('base64url')
}

function targetOf(name: string): string {
  return Buffer.from(name, 'base64url').toString()
}

function show({ id, location, named }: Item, base: string, words: VendorWords): object {
  const { targetResourceId: _target, ...given } = named ?? {}
  const group = resourceGroupOf(id)
  const name = nameFor(id)
  return {
    id: `${base}/${name}`,
    name,
    type: `${words.namespace}.ResourceHealth/events/impactedResources`,
    properties: {
      targetResourceType: typeOf(id),
      targetResourceId: id.text,
      ...(location === undefined ? {} : { targetRegion: location }),
      resourceName: nameOf(id),
      ...(group === undefined ? {} : { resourceGroup: group }),
      ...given,
      info: named?.info ?? [],
    },
  }
}

function typeOf(id: ResourceId): string {
  const last = id.segments.at(-1)
  return [...(last?.namespace === undefined ? [] : [last.namespace]), ...(last?.types ?? [])].join(
    '/',
  )
}
