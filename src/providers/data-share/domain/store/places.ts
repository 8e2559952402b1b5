/**
 * Who is next for a place of a worker. A run may take as long as its source likes, so places are shared: a resource group
 * has a number of them, the later ones are for groups without a run, and the last ones for subscriptions without one.
 * First come subscriptions without a run, then groups without one, then the others; of equals whoever gave up a place
 * least often, and then the oldest.
 */

import type { SqlTx } from '#stores/store.ts'

export interface PlaceSizes {
  /** Of one resource group, while there are shared places. */
  readonly ofGroupMax: number
  /** Beyond so many in all, a resource group has one. */
  readonly sharedMax: number
  /** Beyond so many in all, a subscription has one. */
  readonly ofGroupsMax: number
}

interface Free {
  readonly id: string
  readonly fence: number
}

/** The first segments of a key, with the slash after them. */
const startOf = (key: string, segments: number): string => `${key.split('/', segments).join('/')}/`
const subscriptionOf = (key: string): string => startOf(key, 3)
const groupOf = (key: string): string => startOf(key, 5)

interface Waiting {
  readonly now: number
  /** A run that has a place waits, too: as if it had just given it up. */
  readonly also?: string
}

/** `held`: the keys of what has a place. Reads only. */
export async function nextToClaim(
  tx: SqlTx,
  held: readonly string[],
  sizes: PlaceSizes,
  waiting: Waiting,
): Promise<Free | undefined> {
  const subscriptions = [...new Set(held.map(subscriptionOf))]
  const groups = held.map(groupOf)
  const withRun = [...new Set(groups)]
  const full = withRun.filter(
    (group) => groups.filter((one) => one === group).length >= sizes.ofGroupMax,
  )
  const steps = [subscriptions]
  if (held.length < sizes.ofGroupsMax) steps.push(withRun)
  if (held.length < sizes.sharedMax) steps.push(full)
  for (const excluded of steps) {
    const found = await firstFree(tx, excluded, waiting)
    if (found !== undefined) return found
  }
  return undefined
}

async function firstFree(
  tx: SqlTx,
  excluded: readonly string[],
  { now, also = '' }: Waiting,
): Promise<Free | undefined> {
  const others = excluded.map(() => 'and substr(subscription_key, 1, ?) <> ?').join(' ')
  const [row] = await tx.all(
    `select id, fence from share_runs where id in (select run_id from share_active)
      and (lease_until < ? or id = ?) ${others}
      order by turns_lost + (case when id = ? then 1 else 0 end), started_at, id limit 1`,
    now,
    also,
    ...excluded.flatMap((start) => [[...start].length, start]),
    also,
  )
  return row && { id: String(row['id']), fence: Number(row['fence']) }
}
