/** How often consumers of a share may synchronize on a schedule. */

import Type from 'typebox'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { isoTime, proxyName, types, version } from '../../dependencies.ts'
import {
  momentProblems,
  type Setting,
  schedule,
  settingAnswer,
  settingToWire,
} from '../../domain/schedules.ts'

export function synchronizationSettings(): ResourceType {
  return defineStored<Setting>({
    type: types.settings,
    description: 'How often consumers of a share may synchronize on a schedule.',
    scope: 'resource-group',
    name: proxyName,
    protocol: {
      answers: {
        created: { leadsTo: 'resource' },
        deleted: { leadsTo: 'operation', status: 202, body: 'none' },
      },
    },
    versions: [
      {
        date: version,
        body: Type.Object({ kind: Type.Literal('ScheduleBased'), properties: schedule }),
        problems: momentProblems,
        answer: settingAnswer,
        unknownProperties: 'ignore',
        patch: 'none',
        toModel(body: { readonly properties: Setting }, previous, { now, principal }) {
          const { recurrenceInterval, synchronizationTime } = body.properties
          return {
            recurrenceInterval,
            synchronizationTime,
            createdAt: previous?.createdAt ?? isoTime(now),
            userName: previous?.userName ?? principal.displayName,
          }
        },
        fromModel: settingToWire,
      },
    ],
    sample: {
      name: (seed) => `setting-${seed}`,
      body: () => ({
        kind: 'ScheduleBased',
        properties: { recurrenceInterval: 'Day', synchronizationTime: '2026-01-01T00:00:00Z' },
      }),
      changed: () => ({
        kind: 'ScheduleBased',
        properties: { recurrenceInterval: 'Hour', synchronizationTime: '2026-01-01T00:00:00Z' },
      }),
    },
  })
}
