/** What a dry run keeps in memory of the rows that it reads. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractRow } from '#stores/contract/setting.ts'
import type { Reads } from '#stores/store.ts'
import { DryRun } from './dry-run.ts'
import { memoryStore } from './testing/start.ts'

const megabyte = 1024 * 1024

/** A store with large rows, and which of its rows are read. */
async function large(count: number) {
  const store = await memoryStore()
  const document = JSON.stringify({ text: 'x'.repeat(megabyte) })
  const rows = Array.from({ length: count }, (_, at) =>
    contractRow(`/a/l${at}`, { type: 't', document }),
  )
  await store.transact(async (tx) => {
    await tx.insert(contractRow('/a', { type: 't', document: '{}' }))
    for (const row of rows) await tx.insert(row)
  })
  const read: string[] = []
  const beneath: Reads = {
    get(key) {
      read.push(key)
      return store.get(key)
    },
    list: (query) => store.list(query),
    count: (query) => store.count(query),
    operation: (id) => store.operation(id),
    runningOperation: (key) => store.runningOperation(key),
    keyOfUnique: (key) => store.keyOfUnique(key),
    listUnique: (query) => store.listUnique(query),
  }
  return { beneath, rows, read, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

test('large rows that were looked at for one PUT are not kept for the next', async () => {
  await using store = await large(3)
  const dry = new DryRun(store.beneath)
  for (const key of ['/a', '/a/l0', '/a/l1']) await dry.get(key)
  dry.keep()
  store.read.length = 0
  for (const key of ['/a', '/a/l0', '/a/l1']) await dry.get(key)
  assert.deepEqual(store.read, ['/a/l0', '/a/l1'])
  dry.takeBack()
  store.read.length = 0
  await dry.get('/a/l1')
  assert.deepEqual(store.read, ['/a/l1'])
})

test('of what is overwritten the text goes, and what is written may carry so much on', async () => {
  await using store = await large(20)
  const dry = new DryRun(store.beneath)
  const carry = async (): Promise<void> => {
    for (const { key, etag } of store.rows) {
      const row = await dry.get(key)
      assert.ok(row)
      await dry.update(row, etag)
      dry.keep()
    }
  }
  await assert.rejects(carry(), { code: 'InvalidRequestContent' })
})

test('a list that is bounded in bytes reads no more of the store than that at once', async () => {
  await using store = await large(4)
  const dry = new DryRun({
    ...store.beneath,
    list(query) {
      assert.ok(query.bytesMax !== undefined)
      return store.beneath.list(query)
    },
  })
  const [first, second] = store.rows
  assert.ok(first && second)
  await dry.get(first.key)
  await dry.update({ ...first, document: '{}' }, first.etag)
  await dry.insert(contractRow('/a/l0x', { type: 't' }))
  const query = { under: '/a', type: 't', limit: 9, bytesMax: megabyte }
  const page = await dry.list({ ...query, after: '/a' })
  assert.deepEqual(
    page.map(({ key }) => key),
    [first.key, '/a/l0x', second.key],
  )
  const rest = await dry.list({ ...query, after: second.key, bytesMax: 9 * megabyte })
  assert.equal(rest.length, 2)
})
