/**
 * Reading the audit trail, newest first, page by page. One page looks at a bounded part of the trail, so it may come
 * back short and go on by its cursor.
 */

import type { Sql } from '#stores/store.ts'
import { type ActivityQuestion, holds, type StoredActivity, toActivity } from './stored.ts'
import { type Place, walkOf } from './walk.ts'

export interface ActivityPage {
  readonly items: readonly StoredActivity[]
  readonly next?: string
}

const stretchRows = 512
/** Records and stretches that one page looks at. */
const lookedAtMax = 5000
const stretchesMax = 40

/** `cursor` is the `next` of the page before; the caller has seen to it that it is one. */
export async function readActivity(
  sql: Sql,
  question: ActivityQuestion,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<ActivityPage> {
  const walk = walkOf(sql, question)
  const items: StoredActivity[] = []
  let place = cursor === undefined ? undefined : readPlace(cursor)
  let lookedAt = 0
  for (let stretches = 0; stretches < stretchesMax && lookedAt < lookedAtMax; stretches++) {
    const { rows, next } = await walk(place, Math.min(stretchRows, limit + 1))
    for (const row of rows) {
      const activity = toActivity(row)
      if (holds(question, activity)) {
        if (items.length === limit) return { items, next: writePlace(place) }
        items.push(activity)
      }
      place = activity
      lookedAt++
    }
    if (next === undefined) return { items }
    place = next
  }
  return { items, next: writePlace(place) }
}

function writePlace(place: Place | undefined): string {
  return place === undefined ? '' : `${place.at}:${place.number}`
}

function readPlace(cursor: string): Place | undefined {
  const [at, number] = cursor.split(':').map(Number)
  return at === undefined || number === undefined ? undefined : { at, number }
}
