/** A state is packed and unpacked in parts. A state of another installation is refused by its first line. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { contractWords } from '#kernel/vendor.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { turnsOf, useUpTurns } from '../../tests/turns.ts'
import { restoreState, type StateOptions, saveState } from './state.ts'

const owner = { tenantId: 'tenant', subscriptionId: 'subscription', keyProof: 'proof' }
const first = { format: 'armature-state-1', savedAt: 1, schema: [], ...owner }
const padding = Buffer.alloc(96 * 1024 * 1024, 'x')
const lines = Buffer.alloc(padding.length, `${'x'.repeat(1023)}\n`)

function packed(head: object, rest = lines): Buffer {
  return gzipSync(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), rest]), { level: 1 })
}

/** Reports when a whole state is in memory, and accepts none. */
const options = {
  owner: async () => owner,
  store: {
    async replace() {
      throw new Error('unpacked')
    },
  },
} as unknown as StateOptions

test('a state of another installation is refused before it is unpacked', async () => {
  await assert.rejects(restoreState(options, packed({ ...first, tenantId: 'other' })), {
    message: /it is of another installation/,
  })
  await assert.rejects(restoreState(options, gzipSync(padding)), { message: /begins like none/ })
})

test('a state that is one long line is refused before it is unpacked whole', async () => {
  await assert.rejects(restoreState(options, packed(first, padding)), {
    message: /a line of it is too long/,
  })
})

test('a state whose time or clock was edited is refused', async () => {
  const clocks = [
    {},
    { at: 'soon', rate: 1 },
    { at: 1e300, rate: 1 },
    { at: 0, rate: -1 },
    { at: 0 },
    null,
  ]
  const edited = [...clocks.map((clock) => ({ clock })), { savedAt: 'then' }, { savedAt: -1 }]
  for (const edit of edited) {
    const content = gzipSync(`${JSON.stringify({ ...first, ...edit })}\n`)
    await assert.rejects(restoreState(options, content), {
      message: /its time or its clock is none/,
    })
  }
})

test('a state whose rows contradict each other is refused, and the store stays as it was', async () => {
  await using store = await openSqlite({
    path: ':memory:',
    migrations: [],
    words: contractWords,
    transactionRetriesMax: 2,
  })
  const real: StateOptions = {
    store,
    owner: async () => owner,
    reconciledTypes: () => [],
    follows: [],
    now: () => 1,
    clock: () => undefined,
  }
  await store.transact((tx) => tx.schedule('/kept', 5))
  const lines = gunzipSync(await saveState(real))
    .toString()
    .split('\n')
  const row = lines.findIndex((line) => line.startsWith('["/kept"'))
  const twice = lines.toSpliced(row, 0, lines[row] ?? '').join('\n')
  await assert.rejects(restoreState(real, gzipSync(twice)), {
    code: 'ControlNotPossible',
    message: /its rows contradict each other/,
  })
  const cells = JSON.parse(lines[row] ?? '') as unknown[]
  for (const [at, wrong] of [
    [0, null],
    [0, 7],
    [1, 'soon'],
    [1, 0.5],
    [1, '9223372036854775808'],
    [1, { bytes: 'AAEC' }],
  ] as const) {
    const edited = lines.with(row, JSON.stringify(cells.with(at, wrong))).join('\n')
    await assert.rejects(restoreState(real, gzipSync(edited)), {
      code: 'ControlNotPossible',
      message: /a row of 'work' has other cells than the table/,
    })
  }
  const resources = lines.findIndex((line) => line.startsWith('{"table":"resources"')) + 1
  const withResource = (id: string, document: string): Buffer => {
    const resource = ['/subscriptions/a', id, 'subscriptions', 0, null, 'tag', 1, document]
    return gzipSync(lines.toSpliced(resources, 0, JSON.stringify(resource)).join('\n'))
  }
  for (const [id, document] of [
    ['/subscriptions/a', '[]'],
    ['none', '{}'],
  ] as const) {
    await assert.rejects(restoreState(real, withResource(id, document)), {
      message: /a row of 'resources' has other cells than the table/,
    })
  }
  assert.deepEqual(await store.sql.all('select key from work'), [{ key: '/kept' }])
  assert.equal((await restoreState(real, withResource('/subscriptions/A', '{}'))).rows > 0, true)
})

test('while a large state is unpacked the server does other work', async () => {
  const content = packed(first)
  const { turns } = await turnsOf(() => assert.rejects(restoreState(options, content), /unpacked/))
  assert.ok(turns > 10, `${turns} turns`)
})

test('between two entries of feeds that are written the server may do other work', async (t) => {
  await using store = await openSqlite({
    path: ':memory:',
    migrations: [],
    words: contractWords,
    transactionRetriesMax: 2,
  })
  const real: StateOptions = {
    store,
    owner: async () => owner,
    reconciledTypes: () => [],
    follows: [],
    now: () => 1,
    clock: () => undefined,
  }
  await store.transact((tx) => tx.follow('feed', '/kept'))
  const saved = gunzipSync(await saveState(real)).toString()
  const count = 4000
  const entries = Array.from({ length: count }, (_, at) => `["feed","/${at % (count / 2)}"]\n`)
  const content = gzipSync(`${saved}${entries.join('')}`)
  useUpTurns(t)
  const { turns } = await turnsOf(() => restoreState(real, content))
  assert.ok(turns > count, `${turns} turns`)
  // Each key once, those of before too, and none of their positions again.
  const [row] = await store.sql.all(
    'select count(*) as entries, min(position) as first, max(position) as last from feed_entries where name = ?',
    'feed',
  )
  assert.deepEqual({ ...row }, { entries: count / 2 + 1, first: 2, last: count / 2 + 2 })
  assert.equal(await store.feed('feed').position(), count / 2 + 2)
})

test('what is no state is refused', async () => {
  for (const content of [new Uint8Array(), Buffer.from('none'), gzipSync('')]) {
    await assert.rejects(restoreState(options, content), { code: 'ControlNotPossible' })
  }
})
