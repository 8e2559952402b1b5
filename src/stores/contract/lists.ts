/** The store contract, part two: what a list covers, its order, its pages, its count. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { fc } from '../../../tests/property.ts'

import { isCut } from '../list-budget.ts'
import type { ListQuery, ResourceRow } from '../store.ts'
import { type ContractSetting, contractRow, fill, type Given, keys, take } from './setting.ts'

export function listContract(name: string, given: Given, setting: ContractSetting): void {
  describe(`${name}: lists`, () => {
    given('a key covers itself and what follows its slash', async (store) => {
      const all = ['/a', '/a!', '/a-b', '/a.b/c', '/a/b', '/a/b/c', '/a/z', '/a0', '/ab', '/b']
      await fill(
        store,
        [...all].reverse().map((key) => contractRow(key)),
      )
      assert.deepEqual(keys(await store.list(take(99))), all)
      const below = ['/a', '/a/b', '/a/b/c', '/a/z']
      assert.deepEqual(keys(await store.list(take(99, { under: '/a' }))), below)
      assert.deepEqual(keys(await store.list(take(2, { under: '/a' }))), below.slice(0, 2))
      assert.deepEqual(
        keys(await store.list(take(9, { under: '/a', after: '/a' }))),
        below.slice(1),
      )
      assert.deepEqual(
        keys(await store.list(take(9, { under: '/a', after: '/a/b' }))),
        below.slice(2),
      )
      assert.deepEqual(keys(await store.list(take(9, { under: '/a', after: '/b' }))), [])
      assert.deepEqual(keys(await store.list(take(9, { under: '/c' }))), [])
      assert.deepEqual(keys(await store.list(take(0, { under: '/a' }))), [])
      assert.deepEqual(keys(await store.list(take(1, { under: '/a' }))), ['/a'])
    })

    given('a budget of bytes ends a list with the row that reaches it', async (store) => {
      // Two bytes a character: the budget counts bytes.
      const document = JSON.stringify('é'.repeat(49))
      const rows = ['/a', '/a/1', '/a/2', '/a/3'].map((key) => contractRow(key, { document }))
      await fill(store, rows)
      const within = async (bytesMax: number, rest: Partial<ListQuery> = {}) => {
        const query = take(9, { under: '/a', bytesMax, ...rest })
        const found = await store.list(query)
        return [keys(found).length, isCut(found, query)]
      }
      assert.deepEqual(await within(1), [1, true])
      assert.deepEqual(await within(100), [1, true])
      assert.deepEqual(await within(101), [2, true])
      assert.deepEqual(await within(301), [4, true])
      assert.deepEqual(await within(401), [4, false])
      assert.deepEqual(await within(101, { limit: 1 }), [1, true])
      assert.deepEqual(await within(101, { after: '/a/1' }), [2, true])
      assert.deepEqual(await within(101, { under: '/', tracked: true }), [2, true])
      const { type } = contractRow('/a')
      assert.deepEqual(await within(201, { type }), [3, true])
      assert.deepEqual(await within(201, { type, tracked: true }), [3, true])
      assert.deepEqual(await within(201, { type: 'none' }), [0, false])
    })

    given('type and tracked narrow, the key itself included', async (store) => {
      await fill(store, [
        contractRow('/a', { type: 't/x' }),
        contractRow('/a/1', { type: 't/y' }),
        contractRow('/a/2', { type: 't/x', tracked: false }),
        contractRow('/a/3', { type: 't/x' }),
      ])
      const list = async (rest: Partial<ListQuery>): Promise<readonly string[]> => {
        const query = take(9, { under: '/a', ...rest })
        const found = keys(await store.list(query))
        assert.equal(await store.count(query), found.length)
        return found
      }
      assert.deepEqual(await list({ type: 't/x' }), ['/a', '/a/2', '/a/3'])
      assert.deepEqual(await list({ type: 't/y' }), ['/a/1'])
      assert.deepEqual(await list({ type: 't' }), [])
      assert.deepEqual(await list({ tracked: true }), ['/a', '/a/1', '/a/3'])
      assert.deepEqual(await list({ tracked: false }), ['/a', '/a/1', '/a/2', '/a/3'])
      assert.deepEqual(await list({ type: 't/x', tracked: true }), ['/a', '/a/3'])
      assert.deepEqual(await list({ type: 't/y', under: '/' }), ['/a/1'])
    })

    given('a count stops at its limit', async (store) => {
      await fill(
        store,
        ['/a', '/a/1', '/a/2', '/a/3'].map((key) => contractRow(key)),
      )
      for (const [limit, count] of [
        [0, 0],
        [1, 1],
        [2, 2],
        [4, 4],
        [9, 4],
      ] as const) {
        assert.equal(await store.count({ under: '/a', limit }), count)
        assert.equal(await store.count({ under: '/', limit }), count)
      }
    })

    test('pages of any size, joined, are the list', async (t) => {
      const piece = fc.constantFrom(
        'a',
        'b',
        '_',
        '%',
        "'",
        '"',
        '\\',
        '-',
        '0',
        'é',
        '\u{FF5E}',
        '\u{1F600}',
      )
      const segment = fc.string({ unit: piece, minLength: 1, maxLength: 3 })
      const key = fc.array(segment, { minLength: 1, maxLength: 3 }).map((of) => `/${of.join('/')}`)
      const place = await setting.place(t)
      if (place === undefined) return
      await using store = await place()
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(key, { maxLength: 25 }),
          fc.oneof(key, fc.constant('/')),
          fc.integer({ min: 1, max: 7 }),
          fc.boolean(),
          async (all, under, size, narrowed) => {
            const shape = (at: string): Partial<ResourceRow> => ({
              type: at.length % 2 === 0 ? 't/even' : 't/odd',
              tracked: at.length % 3 !== 0,
            })
            const narrow = narrowed ? { type: 't/odd', tracked: true } : {}
            await store.transact(async (tx) => {
              for (const row of await tx.list(take(1000))) await tx.remove(row.key, row.etag)
              for (const at of all) await tx.insert(contractRow(at, shape(at)))
            })
            const expected = all
              .filter((at) => under === '/' || at === under || at.startsWith(`${under}/`))
              .filter((at) => !narrowed || (at.length % 2 === 1 && at.length % 3 !== 0))
              .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
            const joined: string[] = []
            for (;;) {
              const after = joined.at(-1)
              const rest = after === undefined ? {} : { after }
              const page = keys(await store.list(take(size, { under, ...narrow, ...rest })))
              assert.ok(page.length <= size)
              joined.push(...page)
              if (page.length < size) break
            }
            assert.deepEqual(joined, expected)
            assert.equal(await store.count(take(1000, { under, ...narrow })), expected.length)
          },
        ),
        { numRuns: 60 },
      )
    })
  })
}
