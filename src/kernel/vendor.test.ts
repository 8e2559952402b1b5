/** The vendor words: where each of the two is used, and which texts are allowed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brandField, brandHeader, contractWords, isVendorWord, qualify } from './vendor.ts'

const words = { namespace: 'Acme', brand: 'Cloudy' }

test('the namespace word goes before namespaces, the brand word into headers and fields', () => {
  assert.equal(
    qualify(words, 'Authorization/roleAssignments'),
    'Acme.Authorization/roleAssignments',
  )
  assert.equal(qualify(words, '*/read'), '*/read')
  assert.equal(qualify(words, '*'), '*')
  assert.equal(brandHeader(words, 'AsyncOperation'), 'Cloudy-AsyncOperation')
  assert.equal(brandField(words, 'CreditApplied'), 'cloudyCreditApplied')
  assert.equal(brandField(contractWords, 'CreditApplied'), 'vendorCreditApplied')
  assert.equal(qualify(contractWords, 'Billing'), 'Vendor.Billing')
})

test('a vendor word is a capitalised word of letters and digits', () => {
  for (const good of ['Vendor', 'A', 'Acme2', 'X'.repeat(31)]) assert.ok(isVendorWord(good), good)
  const bad = ['', 'vendor', '2Acme', 'Ac me', 'Ac.me', 'Acme/', 'Äcme', 'Acme\n', 'X'.repeat(32)]
  for (const one of bad) assert.ok(!isVendorWord(one), JSON.stringify(one))
  assert.ok(isVendorWord(contractWords.namespace) && isVendorWord(contractWords.brand))
})
