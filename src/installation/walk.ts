/**
 * Puts every text of a store through a function, a few rows at a time. Where it stands is kept with what it did, so that
 * a walk goes on after a crash. Touches no tag and no time: for clients nothing has changed.
 */

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

type Change = (text: string, place: TextPlace, column: string, row: SqlRow) => string

const rowsAtOnce = 100

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
  const rows = await placeRowsAfter(store.sql, place, after, rowsAtOnce)
  const last = rows.at(-1)
  const following = places[at + 1]
  const next: Position | undefined =
    last !== undefined && rows.length === rowsAtOnce
      ? { table: place.table, after: keyOf(place, last) }
      : following === undefined
        ? undefined
        : { table: following.table, after: undefined }
  const changes = rows.flatMap((row) =>
    place.texts.flatMap((column) => {
      const text = row[column]
      if (typeof text !== 'string') return []
      const changed = change(text, place, column, row)
      return changed === text ? [] : [{ row, column, text, changed }]
    }),
  )
  // The store keeps rows of resources in memory, so these go through its own port.
  const isResources = place.table === 'resources'
  if (isResources) {
    const keys = [...new Set(changes.map(({ row }) => String(row['key'])))]
    for (const key of keys) await changeResource(options, place, key)
  }
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

async function changeResource(
  { store, change }: WalkOptions,
  place: TextPlace,
  key: string,
): Promise<void> {
  await store.transact(async (tx) => {
    const row = await tx.lock(key, 'change')
    if (row === undefined) return
    const document = change(row.document, place, 'document', { key: row.key, type: row.type })
    if (document !== row.document) await tx.update({ ...row, document }, row.etag)
  })
}
