/** When a run is slow: by what it moved in a window, whatever its source says. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CopyJournal } from '#engines/copy/engine.ts'
import { Pace } from './pace.ts'

const minute = 60_000
const megabyte = 1024 * 1024

const silent: CopyJournal = {
  forget: async () => undefined,
  todo: async (items) => items.map(() => ({ kind: 'copy' })),
  commit: async () => undefined,
  holds: async (keys) => keys.map(() => false),
  publishing: async () => undefined,
  done: async () => [],
  published: async () => undefined,
}

const moved = (sizeRead: number) => ({ done: [], counted: {}, underway: { sizeRead } })

test('a run is slow after a window in which little moved, until one in which more did', async () => {
  const pace = new Pace(0)
  await pace.during(silent, async (journal) => {
    assert.equal(pace.isSlow(4 * minute), false, 'it may connect first')
    await journal.commit(moved(megabyte))
    await journal.commit(moved(2 * megabyte))
    assert.equal(pace.isSlow(5 * minute), true)
    await journal.commit(moved(8 * megabyte))
    assert.equal(pace.isSlow(10 * minute), false)
    // Progress that is reported again is none.
    await journal.commit(moved(8 * megabyte))
    assert.equal(pace.isSlow(15 * minute), true)
    const items = Array.from({ length: 2000 }, (_, at) => ({ key: `${at}`, size: 0, etag: '' }))
    await journal.todo(items)
    assert.equal(pace.isSlow(20 * minute), false, 'many small items take as long')
    await journal.commit(moved(20 * megabyte))
    assert.equal(pace.isSlow(31 * minute), true, 'a large copy needs more')
  })
})

test('publishing has a longer time, and an end', async () => {
  const pace = new Pace(0)
  await pace.during(silent, async (journal) => {
    assert.equal(pace.isSlow(4 * minute), false)
    await journal.publishing()
    assert.equal(pace.isSlow(13 * minute), false)
    assert.equal(pace.isSlow(15 * minute), true)
  })
  await assert.rejects(
    pace.during(silent, async (journal) => {
      await journal.publishing()
      throw new Error('of the target')
    }),
  )
  assert.equal(pace.isSlow(16 * minute), true, 'a copy that failed publishes nothing')
})
