/** The store contract, part one: all or nothing, isolation, and races that are lost. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe } from 'node:test'

import { type Reads, StoreConflict, type Tx } from '../store.ts'
import {
  contractOperation,
  contractOptions,
  contractRow,
  fill,
  type Given,
  isConflict,
  keys,
  take,
} from './setting.ts'

export function transactionContract(name: string, given: Given): void {
  describe(`${name}: transactions`, () => {
    given('what was written is read back as it was', async (store) => {
      const row = contractRow('/a', {
        uniqueKey: 'u',
        tracked: false,
        generation: 2 ** 40,
        document: JSON.stringify({ text: 'nul \0, quote ", é, \u{1F600}' }),
      })
      await fill(store, [row])
      assert.deepEqual(await store.get('/a'), row)
      assert.equal(await store.get('/A'), undefined)
      const changed = { ...row, etag: 'e2', uniqueKey: null, tracked: true, generation: 3 }
      await store.transact((tx) => tx.update(changed, 'e1'))
      assert.deepEqual(await store.get('/a'), changed)
      await store.transact((tx) => tx.remove('/a', 'e2'))
      assert.equal(await store.get('/a'), undefined)
    })

    given('the value of the work is the answer', async (store) => {
      assert.equal(await store.transact(async () => 42), 42)
    })

    given('what the work throws takes back everything and reaches the caller', async (store) => {
      const refusal = new Error('no')
      await assert.rejects(
        store.transact(async (tx) => {
          await tx.insert(contractRow('/a'))
          await tx.putOperation(contractOperation('o1', '/a'))
          await tx.schedule('/a', 5)
          await tx.follow('feed', '/a')
          throw refusal
        }),
        (error) => error === refusal,
      )
      assert.equal(await store.get('/a'), undefined)
      assert.equal(await store.operation('o1'), undefined)
      assert.equal(await store.nextDue(), undefined)
      assert.equal(await store.feed('feed').position(), 0)
      assert.deepEqual(await store.feed('feed').since(0, 10), { position: 0, keys: [] })
    })

    given('a work that asks its store beside its transaction is a fault', async (store) => {
      const beside: readonly ((key: string) => unknown)[] = [
        (key) => store.get(key),
        (key) => store.list({ under: key, limit: 1 }),
        () => store.feed('feed').position(),
        () => store.feed('feed').since(0, 1),
        () => store.sql.all('SELECT 1 AS one'),
        () => store.sql.scan('SELECT 1 AS one'),
        () => store.transact(async () => 1),
      ]
      await store.transact((tx) => tx.insert(contractRow('/a')))
      for (const ask of beside) {
        await assert.rejects(
          store.transact(async (tx) => {
            await tx.get('/a')
            await ask('/a')
          }),
          /beside its transaction/,
        )
        await ask('/a')
      }
      const named = { name: 'one', ready: async () => undefined }
      const nested = () => store.transact(async () => 1, named)
      await assert.rejects(store.transact(nested, named), /beside its transaction/)
      // What a work leaves behind is outside once it has ended.
      const left = Promise.withResolvers<void>()
      const later = await store.transact(async () => [left.promise.then(() => store.get('/a'))])
      left.resolve()
      assert.equal((await later[0])?.key, '/a')
    })

    given('a failing neighbour of the same turn takes nothing with it', async (store) => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) =>
          store.transact(async (tx) => {
            await tx.insert(contractRow(`/r${n}`))
            await tx.follow('feed', `/r${n}`)
            if (n % 3 === 0) throw new Error('no')
          }),
        ),
      )
      for (const [n, { status }] of outcomes.entries()) {
        assert.equal(status, n % 3 === 0 ? 'rejected' : 'fulfilled')
        assert.equal((await store.get(`/r${n}`)) === undefined, n % 3 === 0)
      }
      assert.equal(await store.feed('feed').position(), 13)
    })

    given('a transaction sees its own writes', async (store) => {
      await store.transact(async (tx) => {
        await tx.insert(contractRow('/a/b'))
        assert.equal((await tx.get('/a/b'))?.etag, 'e1')
        assert.deepEqual(keys(await tx.list(take(5))), ['/a/b'])
        assert.equal(await tx.count(take(5)), 1)
        assert.equal((await tx.lock('/a/b', 'change'))?.etag, 'e1')
        await tx.putOperation(contractOperation('o1', '/a/b'))
        assert.equal((await tx.runningOperation('/a/b'))?.id, 'o1')
      })
    })

    given('reads outside see nothing that is not committed', async (store) => {
      const seen: Promise<unknown>[] = []
      const outside = AsyncLocalStorage.snapshot()
      await assert.rejects(
        store.transact(async (tx) => {
          await tx.insert(contractRow('/a'))
          // Asked now, while the row stands in the transaction; read whenever the store thinks fit.
          outside(() => seen.push(store.get('/a'), store.count(take(5)), store.list(take(5))))
          await tx.get('/a')
          throw new Error('no')
        }),
        /no/,
      )
      assert.deepEqual(await Promise.all(seen), [undefined, 0, []])
    })

    given('calls made at once in one transaction are carried out', async (store) => {
      await store.transact(async (tx) => {
        await Promise.all(['/a', '/b', '/c'].map((key) => tx.insert(contractRow(key))))
      })
      assert.equal(await store.count(take(9)), 3)
    })

    given('unique keys that begin alike are found in their order', async (store) => {
      const all = ['a#2', 'a#1', 'a', 'a#', 'b#1', 'a$', 'a#\u{10000}', 'a#\ud7ff', null]
      await fill(
        store,
        all.map((uniqueKey, at) => contractRow(`/${at}`, { uniqueKey })),
      )
      const found = async (reads: Reads, after?: string, limit = 9): Promise<readonly string[]> => {
        const query = { prefix: 'a#', limit, ...(after === undefined ? {} : { after }) }
        return (await reads.listUnique(query)).map(({ uniqueKey, key }) => `${uniqueKey} ${key}`)
      }
      const [one, two, ...others] = ['a#1 /1', 'a#2 /0', 'a#\ud7ff /7', 'a#\u{10000} /6']
      assert.deepEqual(await found(store), [one, two, ...others])
      assert.deepEqual(await found(store, 'a'), [one, two, ...others])
      assert.deepEqual(await found(store, 'a#1', 1), [two])
      assert.deepEqual(await found(store, 'b'), [])
      assert.deepEqual(await found(store, undefined, 0), [])
      await store.transact(async (tx) => {
        await tx.remove('/1', 'e1')
        await tx.insert(contractRow('/new', { uniqueKey: 'a#3' }))
        assert.deepEqual(await found(tx), [two, 'a#3 /new', ...others])
      })
    })

    given('a transaction cannot be used after its end', async (store) => {
      let kept: Tx | undefined
      await store.transact(async (tx) => {
        kept = tx
      })
      await assert.rejects(async () => kept?.insert(contractRow('/a')), /after its end/)
      assert.equal(await store.get('/a'), undefined)
    })
  })

  describe(`${name}: lost races`, () => {
    given('a taken key, a wrong tag and a missing row are conflicts', async (store) => {
      await fill(store, [contractRow('/a')])
      const next = contractRow('/a', { etag: 'e2' })
      for (const work of [
        (tx: Tx) => tx.insert(next),
        (tx: Tx) => tx.update(next, 'e0'),
        (tx: Tx) => tx.update(contractRow('/b'), 'e1'),
        (tx: Tx) => tx.remove('/a', 'e0'),
        (tx: Tx) => tx.remove('/b', 'e1'),
      ]) {
        await assert.rejects(store.transact(work), isConflict)
      }
      assert.equal((await store.get('/a'))?.etag, 'e1')
    })

    given('a lost race is tried again with fresh reads, up to the limit', async (store) => {
      await fill(store, [contractRow('/a')])
      let tries = 0
      await store.transact(async (tx) => {
        tries++
        const row = await tx.get('/a')
        await tx.insert(contractRow(`/try${tries}`))
        await tx.update(contractRow('/a', { etag: 'e2' }), tries < 3 ? 'stale' : (row?.etag ?? ''))
      })
      assert.equal(tries, 3)
      assert.deepEqual(keys(await store.list(take(9))), ['/a', '/try3'])

      tries = 0
      await assert.rejects(
        store.transact(async (tx) => {
          tries++
          await tx.remove('/a', 'stale')
        }),
        isConflict,
      )
      assert.equal(tries, contractOptions.transactionRetriesMax)
    })

    given('a unique key leads to its row, as committed or as written', async (store) => {
      await fill(store, [contractRow('/a', { uniqueKey: 'one' }), contractRow('/b')])
      assert.equal(await store.keyOfUnique('one'), '/a')
      assert.equal(await store.keyOfUnique('two'), undefined)
      await store.transact(async (tx) => {
        await tx.update(contractRow('/b', { uniqueKey: 'two', etag: 'e2' }), 'e1')
        assert.equal(await tx.keyOfUnique('two'), '/b')
        assert.equal(await tx.keyOfUnique('one'), '/a')
      })
      assert.equal(await store.keyOfUnique('two'), '/b')
    })

    given('a taken unique key reaches the caller at once', async (store) => {
      await fill(store, [contractRow('/a', { uniqueKey: 'one' }), contractRow('/b')])
      for (const write of [
        (tx: Tx) => tx.insert(contractRow('/c', { uniqueKey: 'one' })),
        (tx: Tx) => tx.update(contractRow('/b', { uniqueKey: 'one', etag: 'e2' }), 'e1'),
      ]) {
        let tries = 0
        await assert.rejects(
          store.transact((tx) => {
            tries++
            return write(tx)
          }),
          (error) => error instanceof StoreConflict && error.unique === 'one',
        )
        assert.equal(tries, 1)
      }
      // The key counts for more than the unique key where both are taken.
      await assert.rejects(
        store.transact((tx) => tx.insert(contractRow('/a', { uniqueKey: 'one' }))),
        isConflict,
      )
      await store.transact((tx) => tx.remove('/a', 'e1'))
      await store.transact((tx) => tx.insert(contractRow('/c', { uniqueKey: 'one' })))
    })

    given('a work that swallows a lost race has lost it all the same', async (store) => {
      await fill(store, [contractRow('/a')])
      await assert.rejects(
        store.transact(async (tx) => {
          await tx.insert(contractRow('/b'))
          await tx.insert(contractRow('/a')).catch(() => undefined)
        }),
        isConflict,
      )
      assert.equal(await store.get('/b'), undefined)
    })

    given('concurrent counting loses no count', async (store) => {
      await fill(store, [contractRow('/a', { document: '0' })])
      const locked = Array.from({ length: 20 }, (_, n) =>
        store.transact(async (tx) => {
          const row = await tx.lock('/a', 'change')
          assert.ok(row !== undefined)
          const document = String(Number(row.document) + 1)
          await tx.update({ ...row, document, etag: `${row.etag}-${n}` }, row.etag)
        }),
      )
      await Promise.all(locked)
      assert.equal((await store.get('/a'))?.document, '20')
    })

    for (const [what, name] of [
      ['from the beginning', 'areas'],
      ['from a call on', undefined],
    ] as const) {
      given(`whoever is alone ${what} passes no limit beside others`, async (store) => {
        const adding = Array.from({ length: 20 }, (_, n) =>
          store.transact(async (tx) => {
            if (name === undefined) {
              await tx.get('/a')
              await tx.alone('areas')
            }
            if ((await tx.count(take(9))) < 3) await tx.insert(contractRow(`/a${n}`))
          }, name),
        )
        await Promise.all(adding)
        assert.equal(await store.count(take(9)), 3)
      })
    }

    given('work that fails or is refused alone lets the next one begin', async (store) => {
      await fill(store, [contractRow('/a')])
      const refusal = new Error('no')
      const outcomes = await Promise.allSettled([
        store.transact(async () => {
          throw refusal
        }, 'areas'),
        store.transact((tx) => tx.insert(contractRow('/b', { uniqueKey: 'u' })), 'areas'),
        store.transact((tx) => tx.insert(contractRow('/c', { uniqueKey: 'u' })), 'areas'),
        store.sql.transact(async () => 'done', 'areas'),
      ])
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['rejected', 'fulfilled', 'rejected', 'fulfilled'],
      )
    })

    given('of concurrent inserts of one key exactly one wins', async (store) => {
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          store.transact(async (tx) => {
            if ((await tx.lock('/a', 'change')) !== undefined) return false
            await tx.insert(contractRow('/a', { etag: `e${n}` }))
            return true
          }),
        ),
      )
      assert.equal(outcomes.filter((won) => won).length, 1)
    })
  })
}
