/** What `Vendor-AsyncOperation` of a synchronization points at: its state as an operation (facts 9.4). */

import Type from 'typebox'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { isoTime, type ShareDependencies, types, version } from '../../dependencies.ts'
import type { RunStatus } from '../../domain/store/tables.ts'
import { runShape, runToWire } from '../../domain/synchronizations/records.ts'

const statusOf: Readonly<Record<RunStatus, string>> = {
  Accepted: 'Accepted',
  InProgress: 'InProgress',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  Cancelled: 'Canceled',
}

const answer = Type.Object({
  ...Type.Partial(runShape).properties,
  properties: Type.Partial(runShape),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})

/** Two types for the same results: one for our own links, one for the path that published clients build themselves. */
export function operationResults(deps: Pick<ShareDependencies, 'runs'>): readonly ResourceType[] {
  return [types.results, types.publishedResults].map((type) => resultsType(type, deps))
}

function resultsType(type: string, { runs }: Pick<ShareDependencies, 'runs'>): ResourceType {
  return defineComputed({
    type,
    description: 'The state of a synchronization as an operation.',
    scope: 'resource-group',
    apiVersions: [version],
    answer: added(answer),
    source: {
      async get({ id, now }) {
        const run = await runs.find(nameOf(id).toLowerCase())
        if (run === undefined || run.subscriptionKey !== parentOf(id).key) return undefined
        const failed = run.status === 'Failed' || run.status === 'Cancelled'
        const record = runToWire(run, now)
        return {
          // Clients that end at this address read the synchronization from it.
          ...record,
          id: id.text,
          name: run.id,
          status: statusOf[run.status],
          startTime: isoTime(run.startedAt),
          ...(run.endedAt === null ? {} : { endTime: isoTime(run.endedAt) }),
          properties: record,
          ...(failed
            ? {
                error: { code: `Synchronization${run.status}`, message: run.message ?? run.status },
              }
            : {}),
        }
      },
    },
  })
}
