/** Data sets that somebody made large: what a consumer asks reads few of them at once. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumer, share, startSharing, taken } from './testing/start.ts'

test('what is shared comes in pages bounded in bytes, and a data set is found behind large ones', async () => {
  await using started = await startSharing()
  await started.prepare()
  const place = { containerName: 'data', filePath: 'a.txt' }
  const names = ['a', 'b', 'c']
  let last = ''
  for (const name of names) last = await started.share(name, 'Blob', place)
  // As an earlier version took them: with a member of megabytes.
  await started.store.transact(async (tx) => {
    for (const name of names) {
      const row = await tx.lock(`${share}/dataSets/${name}`.toLowerCase(), 'change')
      assert.ok(row)
      const { model, ...rest } = JSON.parse(row.document)
      const document = { ...rest, model: { ...model, large: 'x'.repeat(1_500_000) } }
      await tx.remove(row.key, row.etag)
      await tx.insert({ ...row, document: JSON.stringify(document) })
    }
  })
  const pages: string[][] = []
  for (let token: string | undefined = ''; token !== undefined; ) {
    const more: string = token === '' ? '' : `?$skipToken=${encodeURIComponent(token)}`
    const { body, nextToken } = await started.call(
      'GET',
      `${taken}/consumerSourceDataSets${more}`,
      undefined,
      consumer,
    )
    pages.push(body.value.map(({ name }: { readonly name: string }) => name))
    token = nextToken
  }
  assert.deepEqual(pages, [['a', 'b'], ['c']])
  const where = { containerName: 'got', filePath: 'b.txt' }
  const mapped = await started.map('m', 'Blob', { dataSetId: last, ...where })
  assert.equal(mapped.status, 201)
})

test('what a table of a cluster shares has a bound', async () => {
  await using started = await startSharing()
  await started.prepare()
  const properties = {
    kustoDatabaseResourceId: '/subscriptions/a/providers/Vendor.Kusto/clusters/one',
    tableLevelSharingProperties: { x: 'x'.repeat(65_536) },
  }
  const body = { kind: 'KustoTable', properties }
  await assert.rejects(started.call('PUT', `${share}/dataSets/large`, body), { status: 400 })
  const small = { ...properties, tableLevelSharingProperties: { tablesToInclude: ['one'] } }
  const made = await started.call('PUT', `${share}/dataSets/small`, { ...body, properties: small })
  assert.equal(made.status, 201)
})
