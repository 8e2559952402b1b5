/** Triggers: synchronizations on the hour or the day, on the installation's clock, where the provider allows it. */

import Type from 'typebox'
import { parentOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import { isoTime, proxyName, type ShareDependencies, types, version } from '../../dependencies.ts'
import { type Generation, projectionReconciler } from '../../domain/row-projection.ts'
import { intervals, moment, momentProblems, type Setting } from '../../domain/schedules.ts'
import { isScheduled } from '../../domain/share-of.ts'
import type { Mode } from '../../domain/store/tables.ts'
import { eraseTrigger, readTrigger, writeTrigger } from '../../domain/trigger-store.ts'
import { refuseShare } from '../../errors.ts'

export interface Trigger extends Setting {
  readonly synchronizationMode: Mode
}

interface Seen extends Generation {
  readonly status: string
}

/** There are two intervals, and one run at a time. */
const perSubscriptionMax = 5

export function triggers(deps: ShareDependencies): ResourceType {
  const { sql, clock } = deps
  return defineReconciled<Trigger>({
    type: types.triggers,
    description: 'When a share subscription is synchronized by itself.',
    scope: 'resource-group',
    name: proxyName,
    versions: [
      {
        date: version,
        body: Type.Object({
          kind: Type.Literal('ScheduleBased'),
          properties: Type.Object({
            recurrenceInterval: Type.Union([Type.Literal('Day'), Type.Literal('Hour')]),
            synchronizationTime: moment,
            synchronizationMode: Type.Optional(
              Type.Union([Type.Literal('Incremental'), Type.Literal('FullSync')]),
            ),
          }),
        }),
        problems: momentProblems,
        answer: Type.Object({
          kind: Type.String(),
          properties: Type.Object({
            triggerStatus: Type.String(),
            provisioningState: Type.String(),
            recurrenceInterval: added(Type.Enum(['Day', 'Hour'])),
            synchronizationTime: added(moment),
            synchronizationMode: added(Type.Enum(['Incremental', 'FullSync'])),
            createdAt: added(Type.String()),
            userName: added(Type.String()),
          }),
        }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel(body: { readonly properties: Trigger }, previous, { now, principal }) {
          const { recurrenceInterval, synchronizationTime, synchronizationMode } = body.properties
          return {
            recurrenceInterval,
            synchronizationTime,
            synchronizationMode: synchronizationMode ?? 'Incremental',
            createdAt: previous?.createdAt ?? isoTime(now),
            userName: previous?.userName ?? principal.displayName,
          }
        },
        fromModel: (model, { state, observed }) => ({
          kind: 'ScheduleBased',
          properties: {
            ...model,
            // Written by the reconciler below.
            triggerStatus: (observed as Seen | null | undefined)?.status ?? 'Inactive',
            provisioningState: state,
          },
        }),
      },
    ],
    rules: roomRules,
    reconcile: projectionReconciler<Trigger, Seen>(
      {
        async read({ id, model }) {
          const row = await readTrigger(sql, id.key)
          if (row === undefined) return undefined
          const allowed = await isScheduled(deps, parentOf(id).key, model.recurrenceInterval)
          return {
            status: allowed ? 'Active' : 'SourceSynchronizationSettingDeleted',
            generation: row.generation,
          }
        },
        write: ({ id, desired, generation }) =>
          writeTrigger(sql, {
            key: id.key,
            subscriptionKey: parentOf(id).key,
            mode: desired.synchronizationMode,
            everyMilliseconds: intervals[desired.recurrenceInterval],
            anchor: Date.parse(desired.synchronizationTime),
            now: clock.now(),
            generation,
          }),
        erase: ({ id }) => eraseTrigger(sql, id.key),
      },
      deps.wakes,
    ),
  })
}

async function roomRules({
  id,
  previous,
  reader,
}: RuleContext<Trigger>): Promise<readonly never[]> {
  if (previous !== undefined) return []
  const query = { type: types.triggers, under: parentOf(id), limit: perSubscriptionMax }
  if (await reader.hasRoom(query)) return []
  throw refuseShare.TriggersLimitReached({ limit: String(perSubscriptionMax) })
}
