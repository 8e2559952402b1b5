/** What is done with a share subscription and a share: synchronize, cancel, and the lists (contract, operation 5). */

import Type from 'typebox'
import type { ResourceId } from '#kernel/resource-id.ts'
import { brandHeader } from '#kernel/vendor.ts'
import type { Action, ActionContext } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { asResource, pageOfItems } from '#plane/declare/answers.ts'
import { type ShareDependencies, types, version } from '../../dependencies.ts'
import { refuseShare } from '../../errors.ts'
import type { DataSetMapping } from '../../resources/data-set-mappings/resource.ts'
import { shownStatus } from '../../resources/provider-share-subscriptions/resource.ts'
import { resolveKind } from '../kinds.ts'
import { requireUse, usedBy } from '../linked-authorization.ts'
import { type Setting, settingAnswer, settingToWire } from '../schedules.ts'
import { grantedShare } from '../share-of.ts'
import type { Mode, Run } from '../store/tables.ts'
import type { TriggerRow } from '../trigger-store.ts'
import { listDetails } from './list-details.ts'
import { listWords } from './list-query.ts'
import { listRuns } from './list-runs.ts'
import { detailList, detailToWire, runList, runShape, runToWire } from './records.ts'

type Actions = Readonly<Record<string, Action<never>>>

const named = Type.Object({
  synchronizationId: Type.String({ minLength: 1, maxLength: 100 }),
})

interface Named {
  readonly synchronizationId: string
}

/** Begins a run. Throws where none may begin; used by the action and by triggers alike. */
export async function begin(
  deps: ShareDependencies,
  { key, mode, shown }: { readonly key: string; readonly mode: Mode; readonly shown: string },
  trigger?: TriggerRow,
): Promise<Run> {
  const { grants, runs, reader, ids } = deps
  const grant = await grants.grantAt(key)
  if (grant === undefined) throw refuseShare.ShareSubscriptionNotFound({ id: shown })
  const status = await shownStatus(deps, grant)
  if (status !== 'Active') throw refuseShare.ShareSubscriptionNotActive({ id: shown, status })
  const mapped = await reader.count({ type: types.mappings, under: key, limit: 1 })
  if (mapped === 0) throw refuseShare.NoDataSetMappings({ id: shown })
  const id = ids.uuid()
  const run = { id, subscriptionKey: key, shareKey: grant.shareKey, mode }
  const other = await runs.begin(run, trigger)
  if (other === 'revoked') {
    throw refuseShare.ShareSubscriptionNotActive({ id: shown, status: 'Revoked' })
  }
  // Nobody reads this: whoever moved a trigger on has begun a run, or changed the trigger.
  if (other === 'moved') throw refuseShare.SynchronizationInProgress({ id: shown })
  if (other !== undefined) throw refuseShare.SynchronizationInProgress({ id: other.running })
  const begun = await runs.find(id)
  if (begun === undefined) throw new Error('a run that was begun is there')
  return begun
}

/** The caller may write to every target, as at the PUT of a mapping. */
async function requireTargets(
  { reader, places, words }: ShareDependencies,
  context: ActionContext<unknown>,
): Promise<void> {
  const asked = new Set<string>()
  let after: string | undefined
  for (let isMore = true; isMore; ) {
    const page = await reader.page({
      type: types.mappings,
      under: context.id,
      after,
      limit: mappingsAtOnce,
    })
    for (const { model } of page.items) {
      // Rows of this type hold this model.
      const { kind, properties } = model as DataSetMapping
      const resolved = resolveKind(kind, properties, words)
      if (resolved === undefined) continue
      const { id } = usedBy(places, 'target', resolved)
      if (asked.has(id.key)) continue
      asked.add(id.key)
      await requireUse(context, places, 'target', resolved)
    }
    after = page.next
    isMore = after !== undefined
  }
}

const mappingsAtOnce = 500

export function subscriptionActions(
  deps: ShareDependencies,
): Readonly<Record<string, Action<never>>> {
  const { runs, reader, grants, words } = deps
  const watch = (id: ResourceId, run: Run): Readonly<Record<string, string>> => {
    const path = `${id.text}/operationResults/${run.id}?api-version=${version}`
    return { [brandHeader(words, 'AsyncOperation')]: path, Location: path, 'Retry-After': '1' }
  }
  const ofThis = async (id: ResourceId, runId: string): Promise<Run> => {
    const run = await runs.find(runId.toLowerCase())
    if (run === undefined || run.subscriptionKey !== id.key) {
      throw refuseShare.SynchronizationNotFound({ id: runId })
    }
    return run
  }
  const actions: Readonly<Record<string, Action<unknown>>> = {
    synchronize: {
      method: 'POST',
      description: 'Copy what is mapped: all of it, or what changed',
      body: Type.Object({
        synchronizationMode: Type.Optional(
          Type.Union([Type.Literal('Incremental'), Type.Literal('FullSync')]),
        ),
      }),
      bodyOptional: true,
      statuses: [202],
      acceptedShows: true,
      answer: runShape,
      async run(context, body: { readonly synchronizationMode?: Mode } | undefined) {
        const { id, now } = context
        await requireTargets(deps, context)
        const mode = body?.synchronizationMode ?? 'Incremental'
        const run = await begin(deps, { key: id.key, mode, shown: id.text })
        deps.runner.wake()
        return { status: 202, body: runToWire(run, now), headers: watch(id, run) }
      },
    },
    cancelSynchronization: {
      method: 'POST',
      description: 'Stop a synchronization; what was there before stays readable',
      endsWork: true,
      body: named,
      statuses: [202],
      acceptedShows: true,
      answer: runShape,
      async run({ id, now }, body: Named) {
        const run = await ofThis(id, body.synchronizationId)
        if (run.endedAt !== null) return { status: 200, body: runToWire(run, now) }
        await runs.cancel(run.id, 'Cancelled by the consumer.')
        deps.runner.wake()
        const shown = { ...runToWire(run, now), status: 'Queued' }
        return { status: 202, body: shown, headers: watch(id, run) }
      },
    },
    listSynchronizations: {
      method: 'POST',
      description: 'List the synchronizations of a share subscription',
      countsAsRead: true,
      query: listWords,
      answer: runList,
      run: (context) => runsPage(deps, 'subscription', context),
    },
    listSynchronizationDetails: {
      method: 'POST',
      description: 'List the data sets of one synchronization',
      countsAsRead: true,
      query: listWords,
      body: named,
      answer: detailList,
      run: async (context, body: Named) =>
        detailsPage(deps, await ofThis(context.id, body.synchronizationId), context),
    },
    listSourceShareSynchronizationSettings: {
      method: 'POST',
      description: 'List how often the source may be synchronized on a schedule',
      answer: added(pageOfItems(asResource(settingAnswer))),
      countsAsRead: true,
      async run({ id, cursor, pageSize }) {
        const grant = await grants.grantAt(id.key)
        if (grant === undefined) throw refuseShare.ShareSubscriptionNotFound({ id: id.text })
        const share = await grantedShare(deps, grant)
        if (share === undefined) return { status: 200, body: { value: [] } }
        const rows = await reader.list({
          type: types.settings,
          under: share.id,
          limit: pageSize + 1,
          ...(cursor === undefined ? {} : { after: cursor }),
        })
        const page = rows.slice(0, pageSize)
        const last = page.at(-1)
        return {
          status: 200,
          // Rows of this type hold this model.
          body: { value: page.map((one) => settingToWire(one.model as Setting, one)) },
          ...(rows.length > pageSize && last !== undefined ? { next: last.id.key } : {}),
        }
      },
    },
  }
  return actions as Actions // whatever model: none of them reads or writes it
}

/** The provider's side: the same runs, with who the consumer is. */
export function shareActions(deps: ShareDependencies): Actions {
  const actions: Readonly<Record<string, Action<unknown>>> = {
    listSynchronizations: {
      method: 'POST',
      description: 'List the synchronizations of a share by all its consumers',
      countsAsRead: true,
      query: listWords,
      answer: runList,
      run: (context) => runsPage(deps, 'share', context),
    },
    listSynchronizationDetails: {
      method: 'POST',
      description: 'List the data sets of one synchronization of a share',
      countsAsRead: true,
      query: listWords,
      body: Type.Interface([named], { consumerEmail: Type.Optional(Type.String()) }),
      answer: detailList,
      async run(context, { synchronizationId }: Named) {
        const run = await deps.runs.find(synchronizationId.toLowerCase())
        if (run === undefined || run.shareKey !== context.id.key) {
          throw refuseShare.SynchronizationNotFound({ id: synchronizationId })
        }
        return detailsPage(deps, run, context)
      },
    },
  }
  return actions as Actions // as above
}

async function runsPage(
  deps: ShareDependencies,
  by: 'subscription' | 'share',
  context: ActionContext<unknown>,
) {
  const { items, next } = await listRuns(deps.sql, by, context.id.key, context)
  const shown = await Promise.all(
    items.map(async (run) => {
      const record = runToWire(run, context.now)
      if (by === 'subscription') return record
      const card = (await deps.grants.grantAt(run.subscriptionKey))?.card
      return {
        ...record,
        ...(card === undefined
          ? {}
          : {
              consumerName: card.consumerName,
              consumerEmail: card.consumerEmail,
              consumerTenantName: card.consumerTenant,
            }),
      }
    }),
  )
  return { status: 200, body: { value: shown }, ...(next === undefined ? {} : { next }) }
}

async function detailsPage(deps: ShareDependencies, run: Run, context: ActionContext<unknown>) {
  // A token is of one path and query, and the run is in neither: it goes into the cursor.
  const prefix = `${run.id} `
  const { cursor } = context
  if (cursor !== undefined && !cursor.startsWith(prefix)) {
    throw refuseShare.InvalidFilter({
      parameter: '$skipToken',
      reason: 'it continues the list of another synchronization',
    })
  }
  const { items, next } = await listDetails(deps.sql, run.id, {
    ...context,
    cursor: cursor?.slice(prefix.length),
  })
  const value = items.map((detail) => detailToWire(detail, context.now))
  return {
    status: 200,
    body: { value },
    ...(next === undefined ? {} : { next: prefix + next }),
  }
}
