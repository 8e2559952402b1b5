/** Queries of the audit trail. */

import { useState } from 'react'
import { type Rows, useList } from '../api/queries.ts'
import type { ActivityRecord } from './activity-list.tsx'

interface ActivityAsk {
  readonly scope: string
  readonly hours: number
  readonly top?: number
  /** More conditions for the filter. */
  readonly filter?: string
  /** `false`: new records are not added. */
  readonly live?: boolean
  /** `false`: nothing is read yet. */
  readonly enabled?: boolean
}

export function useRecentActivity(ask: ActivityAsk): Rows<ActivityRecord> {
  const { scope, hours, top, filter, live = true, enabled = true } = ask
  // The beginning stands still while it is looked at, or each look would be another question.
  const [openedAt] = useState(() => Date.now())
  const since = new Date(openedAt - hours * 3_600_000).toISOString()
  const conditions = [`eventTimestamp ge '${since}'`, ...(filter === undefined ? [] : [filter])]
  return useList<'listActivity', ActivityRecord>(
    'listActivity',
    {
      path: { scope, eventtypeName: 'management' },
      query: { $filter: conditions.join(' and '), $top: top === undefined ? undefined : `${top}` },
    },
    { live, enabled },
  )
}

/** Records that are looked at for what is under way. */
const lookedAt = 100

export interface UnderWay {
  readonly id: string
  /** As the trail names it: `Vendor.Resources/deployments/write`. */
  readonly action: string
}

/** What was accepted in this day and has not ended, by the newest records of the trail. */
export function useUnderWay(
  ask: Pick<ActivityAsk, 'scope' | 'filter' | 'enabled'>,
): Pick<Rows<UnderWay>, 'rows' | 'error' | 'loading'> {
  const found = useRecentActivity({ ...ask, hours: 24, top: lookedAt })
  const latest = new Map<string, ActivityRecord>()
  for (const record of found.rows) {
    const { resourceId } = record
    if (resourceId !== undefined && !latest.has(resourceId)) latest.set(resourceId, record)
  }
  const rows = [...latest]
    .filter(([, { status }]) => status.value === 'Accepted')
    .map(([id, { operationName }]) => ({ id, action: operationName.value }))
  return { rows, error: found.error, loading: found.loading }
}
