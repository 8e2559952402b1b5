/** A request whose deadline has passed does no more, and what it has not committed is taken back. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openBooks } from './testing/books.ts'
import { caller } from './testing/caller.ts'

for (const dialect of ['sqlite', 'postgres'] as const) {
  test(`on ${dialect}, a write ends at the deadline, and nothing of its transaction stays`, async (t) => {
    await using fixture = await openBooks(t, dialect)
    if (fixture === undefined) return
    const list = async (): Promise<number> => {
      const { value } = await caller(fixture)(200, 'v2.0', 'GET', 'customers')
      return (value as readonly unknown[]).length
    }
    const before = await list()
    const late = new AbortController()
    let made = 0
    const uuid = (): string => {
      // While the second is made.
      if (++made === 2) late.abort(new Error('too late'))
      return randomUUID()
    }
    const url = `companies(${fixture.companyId})/customers`
    const headers = { 'Content-Type': 'application/json' }
    const requests = Array.from({ length: 5 }, (_, n) => {
      const body = { displayName: `c${n}` }
      return { id: String(n), atomicityGroup: 'all', method: 'POST', url, headers, body }
    })
    const call = caller(fixture, undefined, { signal: late.signal, uuid })
    await assert.rejects(call(200, 'v2.0', 'POST', '$batch', { requests }), /too late/)
    assert.ok(made < 5, `${made} were made`)
    assert.equal(await list(), before)
    await assert.rejects(call(200, 'v2.0', 'GET', 'customers'), /too late/)
    await assert.rejects(call(201, 'v2.0', 'POST', 'customers', { displayName: 'c' }), /too late/)
    assert.equal(await list(), before)
  })
}
