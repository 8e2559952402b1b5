/** What `Vendor-AsyncOperation` of a synchronization points at: its state as an operation (facts 9.4). */

import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { defineResource, type ResourceType } from '#plane/define.ts'
import type { RunStatus } from '../ledger/runs.ts'
import { isoTime, proxyName, type ShareParts, types, version } from '../share-parts.ts'
import { showRun } from './records.ts'

const statusOf: Readonly<Record<RunStatus, string>> = {
  Accepted: 'Accepted',
  InProgress: 'InProgress',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  Cancelled: 'Canceled',
}

export function operationResults({ runs }: Pick<ShareParts, 'runs'>): ResourceType {
  return defineResource({
    type: types.results,
    description: 'The state of a synchronization as an operation.',
    scope: 'resource-group',
    tracked: false,
    name: proxyName,
    versions: [],
    apiVersions: [version],
    source: {
      async get({ id, now }) {
        const run = await runs.find(nameOf(id).toLowerCase())
        if (run === undefined || run.subscriptionKey !== parentOf(id).key) return undefined
        const failed = run.status === 'Failed' || run.status === 'Cancelled'
        return {
          id: id.text,
          name: run.id,
          status: statusOf[run.status],
          startTime: isoTime(run.startedAt),
          ...(run.endedAt === null ? {} : { endTime: isoTime(run.endedAt) }),
          properties: showRun(run, now),
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
