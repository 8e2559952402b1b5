/**
 * Puts every text of a store through a function, a few rows at a time. Where it stands is kept with what it did, so that
 * a walk goes on after a crash. Touches no tag and no time: for clients nothing has changed.
 */

import { nextTurn } from '#stores/next-turn.ts'
import type { SqlRow, SqlTx, SqlValue, Store } from '#stores/store.ts'
import { keyOf, placeRowsAfter, replaceText, type TextPlace } from './text-places.ts'

/** After the row of that key in that table; at the beginning where undefined. */
export interface Position {
  readonly table: string
  readonly after: readonly SqlValue[] | undefined
}

interface Step {
  readonly rows: number
  readonly changed: number
  /** Undefined at the end of the walk. */
  readonly next: Position | undefined
}

type Change = (
  text: string,
  place: TextPlace,
  column: string,
  row: SqlRow,
) => string | Promise<string>

interface Changed {
  readonly row: SqlRow
  readonly column: string
  readonly text: string
  readonly changed: string
}

interface WalkOptions {
  readonly store: Store
  readonly places: readonly TextPlace[]
  readonly change: Change
  /** Keeps what was done, in the transaction of it. Throws to stop. */
  keep(tx: SqlTx, step: Step): Promise<void>
}

export async function walkStep(options: WalkOptions, from: Position | undefined): Promise<Step> {
  const { store, places, change } = options
  const at = from === undefined ? 0 : places.findIndex(({ table }) => table >= from.table)
  const place = places[at]
  if (place === undefined) {
    const end: Step = { rows: 0, changed: 0, next: undefined }
    await store.sql.transact((tx) => options.keep(tx, end))
    return end
  }
  const after = from?.table === place.table ? from.after : undefined
  const { rows, end } = await placeRowsAfter(store.sql, place, after)
  const following = places[at + 1]
  const next: Position | undefined =
    end !== undefined
      ? { table: place.table, after: end }
      : following === undefined
        ? undefined
        : { table: following.table, after: undefined }
  const changes: Changed[] = []
  for (const row of rows) {
    for (const column of place.texts) {
      const text = row[column]
      if (typeof text !== 'string') continue
      const changed = await change(text, place, column, row)
      if (changed !== text) changes.push({ row, column, text, changed })
    }
  }
  // The store keeps rows of resources in memory, so these go through its own port.
  const isResources = place.table === 'resources'
  if (isResources) for (const one of changes) await changeResource(store, one)
  const step: Step = { rows: rows.length, changed: changes.length, next }
  await store.sql.transact(async (tx) => {
    if (!isResources) {
      for (const { row, column, text, changed } of changes) {
        await tx.run(replaceText(place, column), changed, ...keyOf(place, row), text)
      }
    }
    await options.keep(tx, step)
  })
  return step
}

/** What somebody has written since is sealed with the new key already: every writer knows of it before a walk. */
async function changeResource(store: Store, { row, text, changed }: Changed): Promise<void> {
  await store.transact(async (tx) => {
    const now = await tx.lock(String(row['key']), 'change')
    if (now?.document !== text) return
    await tx.update({ ...now, document: changed }, now.etag)
  })
}

/** Lets others have their turn wherever the work may pause. */
export async function inTurns(steps: Generator<void, string>): Promise<string> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await nextTurn()
  }
}
