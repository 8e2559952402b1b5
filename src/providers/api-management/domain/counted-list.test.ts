/** Long lists: limited scans, and cursors that continue where the scan ended. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListContext } from '#plane/declare/wire.ts'
import { createMemoryReader, idOf, sampleContext } from '../../testing/memory-reader.ts'
import { api } from '../testing/start.ts'
import { countedList } from './counted-list.ts'

const type = 'ApiManagement/service/apis/operations'

function world(rows: number, scanRowsMax = 100) {
  const reader = createMemoryReader()
  for (let at = 0; at < rows; at++) {
    reader.put(`${api}/operations/o${String(at).padStart(4, '0')}`, { even: at % 2 === 0 })
  }
  const list = countedList<{ even: boolean }>(
    type,
    { even: { type: 'boolean', read: ({ model }) => model.even } },
    { scanRowsMax },
  )
  const ask = (query: string, limit: number, cursor?: string) => {
    const context: ListContext = {
      ...sampleContext(reader),
      parent: idOf(api),
      query: new URLSearchParams(query),
      limit,
      cursor,
    }
    return list(context)
  }
  return { reader, ask }
}

async function all(ask: ReturnType<typeof world>['ask'], query: string, limit: number) {
  const seen: string[] = []
  let pages = 0
  let cursor: string | undefined
  do {
    const page = await ask(query, limit, cursor)
    seen.push(...page.items.map(({ id }) => id.key))
    cursor = page.next
    pages++
    assert.ok(pages < 500)
  } while (cursor !== undefined)
  return seen
}

test('pages joined are the list, whatever their size, beyond what one look costs', async () => {
  const { ask } = world(250)
  for (const limit of [1, 7, 99, 100, 101, 250]) {
    assert.equal(new Set(await all(ask, '', limit)).size, 250)
    assert.equal((await all(ask, '$filter=even eq true', limit)).length, 125)
    assert.equal((await all(ask, '$filter=even eq true&$skip=120', limit)).length, 5)
    assert.equal((await all(ask, '$skip=240', limit)).length, 10)
  }
})

test('a page without a filter costs the page', async () => {
  const { reader, ask } = world(90)
  await ask('', 10)
  assert.ok(reader.rowsRead <= 11, String(reader.rowsRead))
})

test('no count is answered past the bound', async () => {
  assert.equal((await world(100).ask('', 5)).count, 100)
  assert.equal((await world(101).ask('', 5)).count, undefined)
  assert.equal((await world(99).ask('$filter=even eq true', 5)).count, 50)
  assert.equal((await world(101).ask('$filter=even eq true', 5)).count, undefined)
})

test('the page that is shown is read last, so that nothing else is read beside it', async () => {
  const { reader, ask } = world(1200, 5000)
  const read: (string | undefined)[] = []
  const { page } = reader
  reader.page = (query) => {
    read.push(query.after)
    return page.call(reader, query)
  }
  assert.equal((await ask('$filter=even eq true', 5)).count, 600)
  assert.equal(read.at(-1), undefined)
  assert.ok(read.length > 2)
})
