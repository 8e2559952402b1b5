/**
 * Events as resources: of a subscription (contract, operation 6), of one resource (operation 7), of the
 * installation; and the steps of operators. It reads only the ledger and the resource in question.
 */

import Type, { type TSchema } from 'typebox'
import { refuse } from '#kernel/error.ts'
import type { Ids } from '#kernel/ports.ts'
import { nameOf, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Action, ActionContext } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { asResource, pageOfItems } from '#plane/declare/answers.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { allOf } from '#query/predicate.ts'
import type { Sql } from '#stores/store.ts'
import {
  answeredProperties,
  eventBodyOf,
  type HealthEvent,
  type StepName,
  stepBody,
  supportAsStored,
} from '../../domain/event.ts'
import { readPage } from '../../domain/event-pages.ts'
import { parseEventQuery, startOf } from '../../domain/event-query.ts'
import { beginningOfTime, type EventStore, isActive } from '../../domain/event-store.ts'
import { type EventView, eventToWire, visibleEvent } from '../../domain/event-to-wire.ts'
import { impactsOf, type ServiceNames } from '../../domain/impact-match.ts'
import { type Step, takeStep } from '../../domain/lifecycle.ts'
import {
  audiencesAt,
  isVisible,
  ownerAt,
  type RequestedScope,
  requestedScopeAt,
} from '../../domain/scope.ts'
import { keepTimeline, type Timeline, timelineBody } from '../../domain/timeline.ts'
import { refuseHealth } from '../../errors.ts'
import { type ImpactedResources, impactedResourceAnswer } from '../impacted-resources/resource.ts'

export const healthVersion = '2025-05-01'

export interface EventDependencies {
  readonly words: VendorWords
  readonly tenantId: string
  readonly eventStore: EventStore
  readonly sql: Sql
  readonly ids: Ids
  readonly impacted: ImpactedResources
  readonly serviceNames: ServiceNames
  /** Called when steps of a timeline were stored. */
  wake(): void
}

const type = 'ResourceHealth/events'

const answer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  location: Type.Optional(Type.String()),
  systemData: added(Type.Object({}, { additionalProperties: true })),
  properties: answeredProperties,
})

const timelineAnswer = Type.Object({
  trackingId: Type.String(),
  steps: Type.Array(Type.Object({ step: Type.String(), dueTime: Type.String() })),
})

export function events(deps: EventDependencies): ResourceType {
  return defineComputed({
    type,
    description:
      'Service health events: what is, was or will be out of order, and whom it touches.',
    scope: 'any',
    query: { list: ['$filter', 'queryStartTime'], get: ['$filter', 'queryStartTime'] },
    apiVersions: [healthVersion],
    answer: added(answer),
    source: {
      list: (context) => listEvents(deps, context),
      async get({ id, reader }) {
        const requested = await requestedScopeAt(scopeOf(id), reader)
        const event = isTrackingId(nameOf(id)) ? await deps.eventStore.find(nameOf(id)) : undefined
        if (event === undefined || !isVisible(event, requested, deps.serviceNames)) {
          throw refuseHealth.EventNotFound({ name: nameOf(id) })
        }
        const view = viewOf(deps, requested)
        return eventToWire(event, visibleEvent(event, view), view)
      },
    },
    actions: {
      fetchEventDetails: {
        method: 'POST',
        description: 'An event with all it says, also of a sensitive one',
        open: true,
        unstored: true,
        countsAsRead: true,
        answer,
        async run(context) {
          await requireOne(context, [
            'ResourceHealth/events/fetchEventDetails/action',
            'ResourceHealth/events/action',
          ])
          const { event, requested } = await requireEvent(deps, context)
          const view: EventView = { ...viewOf(deps, requested), whole: true }
          return { status: 200, body: eventToWire(event, visibleEvent(event, view), view) }
        },
      },
      listSecurityAdvisoryImpactedResources: {
        method: 'POST',
        description: 'The resources that a security advisory is about',
        unstored: true,
        countsAsRead: true,
        answer: added(pageOfItems(asResource(impactedResourceAnswer))),
        async run(context) {
          const { event, requested } = await requireEvent(deps, context)
          if (event.properties.eventType !== 'SecurityAdvisory') {
            throw refuseHealth.NotASecurityAdvisory({ name: event.trackingId })
          }
          const page = await deps.impacted.page(event, requested, {
            base: `${context.id.text}/impactedResources`,
            filter: context.query.get('$filter'),
            cursor: context.cursor,
            limit: context.pageSize,
          })
          return {
            status: 200,
            body: { value: page.items },
            ...(page.next === undefined ? {} : { next: page.next }),
          }
        },
      },
      publish: step('publish', 'Publish an event under this tracking id', eventBodyOf(deps.words)),
      update: step(
        'update',
        'Replace parts of an event; what is left out stays',
        eventBodyOf(deps.words),
      ),
      mitigate: step('mitigate', 'The impact has ended, in some regions or all', stepBody),
      resolve: step('resolve', 'The event is over', stepBody),
      annotate: step('annotate', 'Tell those who follow the event something', stepBody),
      play: playTimeline(deps),
    },
  })

  function step(name: StepName, description: string, body: TSchema): Action<unknown> {
    return {
      method: 'POST',
      description,
      unstored: true,
      body,
      answer,
      ...(name === 'publish' ? { statuses: [201] } : {}),
      async run(context, given: Step['body']) {
        const owner = ownerAt(scopeOf(context.id))
        const trackingId = requireName(context.id)
        const asking = { trackingId, owner, now: context.now, by: context.principal.id }
        const event = await takeStep(deps.eventStore, asking, {
          name,
          body: asStored(given, deps.words),
        })
        const requested = await requestedScopeAt(scopeOf(context.id), context.reader)
        const view: EventView = { ...viewOf(deps, requested), whole: true }
        return {
          status: name === 'publish' ? 201 : 200,
          body: eventToWire(event, visibleEvent(event, view), view),
        }
      },
    }
  }
}

function playTimeline(deps: EventDependencies): Action<unknown> {
  return {
    method: 'POST',
    description: 'Keep steps that are due later, by the clock of the installation',
    unstored: true,
    body: timelineBody(deps.words),
    answer: added(timelineAnswer),
    async run(context, body: Timeline) {
      const trackingId = requireName(context.id)
      const owner = ownerAt(scopeOf(context.id))
      const { now } = context
      const times = await keepTimeline(
        deps.sql,
        deps.ids,
        { trackingId, owner, now, by: context.principal.id },
        {
          steps: body.steps.map((one) => ({ ...one, body: asStored(one.body, deps.words) })),
        },
      )
      deps.wake()
      const steps = body.steps.map((one, at) => ({
        step: one.step,
        dueTime: new Date(times[at] ?? now).toISOString(),
      }))
      return { status: 200, body: { trackingId, steps } }
    },
  }
}

/** Of the steps only those that write an event have properties. */
function asStored(given: Step['body'], words: VendorWords): Step['body'] {
  if (!('properties' in given)) return given
  // The body was checked against the schema of the same members.
  const properties = supportAsStored(given.properties, words) as typeof given.properties
  return { ...given, properties }
}

const trackingIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

function isTrackingId(name: string): boolean {
  return trackingIdPattern.test(name)
}

function requireName(id: ResourceId): string {
  const name = nameOf(id)
  if (isTrackingId(name)) return name
  throw refuseHealth.InvalidEvent({
    reason: 'a tracking id has 1 to 128 letters, digits, or any of "._-"',
  })
}

async function listEvents(
  deps: EventDependencies,
  { parent, query, now, limit, cursor, reader }: ListContext,
): Promise<ListPage<object>> {
  const requested = await requestedScopeAt(parent, reader)
  const question = parseEventQuery(query.get('$filter'), deps.words)
  const view = viewOf(deps, requested)
  // A single resource has no window: what affects it now may have begun long ago.
  const since =
    requested.kind === 'resource' ? beginningOfTime : startOf(query.get('queryStartTime'), now)
  return readPage(deps.eventStore, {
    audiences: audiencesAt(requested),
    since,
    condition: (sql) =>
      requested.kind === 'resource'
        ? allOf(sql, [isActive(sql), question.condition(sql)])
        : question.condition(sql),
    cursor,
    limit,
    show(event) {
      if (requested.kind === 'resource') {
        if (event.properties.status !== 'Active') return undefined
        const { id, location } = requested.resource
        if (!impactsOf(event, deps.serviceNames).touches({ id, location })) return undefined
      }
      const seen = visibleEvent(event, view)
      return question.matches(seen) ? eventToWire(event, seen, view) : undefined
    },
  })
}

function viewOf({ words, tenantId }: EventDependencies, requested: RequestedScope): EventView {
  return {
    words,
    tenantId,
    ...(requested.kind === 'installation' || requested.subscription === undefined
      ? {}
      : { subscription: requested.subscription }),
    ...(requested.kind === 'resource' && requested.resource.location !== undefined
      ? { location: requested.resource.location }
      : {}),
  }
}

async function requireEvent(
  { eventStore, serviceNames }: EventDependencies,
  { id, reader }: Pick<ActionContext<unknown>, 'id' | 'reader'>,
): Promise<{ readonly event: HealthEvent; readonly requested: RequestedScope }> {
  const requested = await requestedScopeAt(scopeOf(id), reader)
  const event = isTrackingId(nameOf(id)) ? await eventStore.find(nameOf(id)) : undefined
  if (event !== undefined && isVisible(event, requested, serviceNames)) return { event, requested }
  throw refuseHealth.EventNotFound({ name: nameOf(id) })
}

/** Throws `AuthorizationFailed` unless the caller has one of these actions there. */
async function requireOne(
  context: Context & { readonly id: ResourceId },
  actions: readonly [string, ...string[]],
): Promise<void> {
  const scope = scopeOf(context.id)
  for (const action of actions) if (await context.may(action, scope)) return
  throw refuse.AuthorizationFailed({
    client: context.principal.id,
    principalId: context.principal.id,
    action: `${context.words.namespace}.${actions[0]}`,
    scope: scope.text,
  })
}
