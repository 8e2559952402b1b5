/**
 * Reads the audit trail page by page, newest first. A page looks at a bounded part of the trail, so it may come
 * back short and continue by its cursor.
 */

import { freeTurn, nextTurn } from '#stores/next-turn.ts'
import type { Sql } from '#stores/store.ts'
import { openScan, type ScanPosition } from './scan.ts'
import {
  type ActivityQuery,
  matchesQuery,
  type StoredActivity,
  toActivity,
} from './stored-activity.ts'

interface ActivityPage {
  readonly items: readonly StoredActivity[]
  readonly next?: string
}

const batchRows = 512
/** The number of records and batches that one page reads. */
const scannedMax = 5000
const batchesMax = 40
/** Characters of what one page shows of its records, and those that are looked at between two pauses. */
const charactersMax = 1_000_000
const charactersAtOnce = 256 * 1024

/** `cursor` is the `next` of the page before. The caller has validated it. */
export async function readActivity(
  sql: Sql,
  query: ActivityQuery,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<ActivityPage> {
  const scan = openScan(sql, query)
  const items: StoredActivity[] = []
  let position = cursor === undefined ? undefined : parsePosition(cursor)
  let scanned = 0
  let left = charactersMax
  let sincePause = 0
  for (let batches = 0; batches < batchesMax && scanned < scannedMax; batches++) {
    const { rows, next } = await scan(position, Math.min(batchRows, limit + 1))
    await nextTurn()
    for (const row of rows) {
      const characters = String(row['detail']).length
      sincePause += characters
      if (sincePause > charactersAtOnce) {
        sincePause = 0
        await nextTurn()
      }
      const activity = toActivity(row)
      await freeTurn()
      if (matchesQuery(query, activity)) {
        left -= characters
        const isFull = items.length === limit || (left < 0 && items.length > 0)
        if (isFull) return { items, next: formatPosition(position) }
        items.push(activity)
      }
      position = activity
      scanned++
    }
    if (next === undefined) return { items }
    position = next
  }
  return { items, next: formatPosition(position) }
}

function formatPosition(position: ScanPosition | undefined): string {
  return position === undefined ? '' : `${position.at}:${position.number}`
}

function parsePosition(cursor: string): ScanPosition | undefined {
  const [at, number] = cursor.split(':').map(Number)
  return at === undefined || number === undefined ? undefined : { at, number }
}
