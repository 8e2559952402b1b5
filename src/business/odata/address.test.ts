/** What the address of a request tells before it is parsed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBatchPath, isSmallRead, parsePath } from './address.ts'

const id = '0190c2a4-7b1e-7c3d-8e5f-0123456789ab'

test('one row of a set with short rows is a small read; pages, documents and longer ways are not', () => {
  for (const path of [
    `companies(${id})/salesInvoiceLines(${id})`,
    `companies(${id})/salesInvoices(${id})/salesInvoiceLines(${id})`,
    `companies(${id})/customers(${id})`,
  ]) {
    assert.equal(isSmallRead(path, ''), true, path)
    assert.equal(isSmallRead(path, '$expand=paymentTerm'), false, path)
  }
  for (const path of [
    `companies(${id})/salesInvoices(${id})`,
    `companies(${id})/companyInformation(${id})`,
    `companies(${id})/salesInvoices(${id})/salesInvoiceLines`,
    `companies(${id})/customers`,
  ]) {
    assert.equal(isSmallRead(path, ''), false, path)
  }
})

test('a long word is looked through once', () => {
  const path = `${'A'.repeat(2_000_000)})`
  assert.equal(isSmallRead(path, ''), false)
  assert.equal(isSmallRead(`${path}/customers(${id})`, ''), true)
})

test('a batch is known by its path in any spelling', () => {
  for (const path of ['$batch', '$batch/', '%24batch', '$b%61tch']) {
    assert.equal(isBatchPath(path), true, path)
  }
  for (const path of ['', 'batch', '$metadata', '%24metadata', `companies(${id})/$batch`]) {
    assert.equal(isBatchPath(path), false, path)
  }
})

test('a GUID alone is a key; one with more behind it is read as before', () => {
  const keyOf = (text: string) => parsePath(`items(${text})`)[0]?.key
  assert.deepEqual(keyOf(id), { form: 'single', value: { type: 'guid', text: id } })
  assert.deepEqual(keyOf(` ${id} `), keyOf(id))
  assert.deepEqual(keyOf(`${id}-10000`), {
    form: 'single',
    value: { type: 'string', value: `${id}-10000` },
  })
  assert.throws(() => keyOf(`${id}x`), { code: 'BadRequest_InvalidRequestUrl' })
})
