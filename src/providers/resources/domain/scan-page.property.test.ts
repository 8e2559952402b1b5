import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../../../tests/property.ts'
import { turnsOf } from '../../../../tests/turns.ts'
import { scanPage } from './scan-page.ts'

/** A range of rows read through a layer that hides some of them, as the plane's generic list does. */
function readerOf(rows: readonly string[], hidden: ReadonlySet<string>) {
  let looked = 0
  return {
    get looked() {
      return looked
    },
    async read(after: string | undefined, limit: number) {
      const page = rows.filter((row) => after === undefined || row > after).slice(0, limit)
      looked += page.length
      const last = page.at(-1)
      return {
        rows: page.filter((row) => !hidden.has(row)),
        ...(page.length === limit && last !== undefined ? { next: last } : {}),
      }
    },
  }
}

test('pages of any size, joined, are the accepted rows, and each page is bounded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 20 }),
      async (flags, limit, scanRowsMax) => {
        const rows = flags.map((_, at) => `row ${String(at).padStart(3, '0')}`)
        const hidden = new Set(rows.filter((_, at) => flags[at]?.[0] === true))
        const wanted = new Set(rows.filter((_, at) => flags[at]?.[1] === true))
        const found: string[] = []
        let cursor: string | undefined
        let pages = 0
        do {
          const reader = readerOf(rows, hidden)
          const page = await scanPage<string>({
            read: (after, size) => reader.read(after, size),
            keyOf: (row) => row,
            accepts: (row) => wanted.has(row),
            limit,
            cursor,
            scanRowsMax,
          })
          assert.ok(page.items.length <= limit)
          assert.ok(reader.looked <= Math.max(scanRowsMax, limit + 1))
          found.push(...page.items)
          cursor = page.next
          assert.ok(++pages < 200)
        } while (cursor !== undefined)
        assert.deepEqual(
          found,
          rows.filter((row) => wanted.has(row) && !hidden.has(row)),
        )
      },
    ),
    { numRuns: runsOf(300) },
  )
})

test('the event loop comes round between two chunks of a long scan', async () => {
  const { turns, result: page } = await turnsOf(() =>
    scanPage<number>({
      read: async (after, limit) => ({ rows: [Number(after ?? 0)], next: String(limit) }),
      keyOf: String,
      accepts: () => false,
      limit: 100,
      cursor: undefined,
      scanRowsMax: 5_000,
    }),
  )
  assert.deepEqual(page.items, [])
  assert.ok(turns >= 40, `${turns} turns`)
})
