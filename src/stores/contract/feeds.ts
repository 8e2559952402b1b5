/** The store contract, part four: feeds, and the tables of other areas. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import { FeedMoved, StoreConflict, StoreUnavailable } from '../store.ts'
import { contractEvent, contractMigration, contractRow, type Given } from './setting.ts'

export function feedContract(name: string, given: Given): void {
  describe(`${name}: feeds`, () => {
    given('positions are dense and in the order of the commits', async (store) => {
      const feed = store.feed('f')
      assert.equal(await feed.position(), 0)
      await store.transact(async (tx) => {
        await tx.follow('f', '/a')
        await tx.follow('other', '/x')
        await tx.follow('f', '/b')
      })
      assert.equal(await feed.position(), 2)
      assert.deepEqual(await feed.since(0, 9), { position: 2, keys: ['/a', '/b'] })
      assert.deepEqual(await feed.since(0, 1), { position: 1, keys: ['/a'] })
      assert.deepEqual(await feed.since(2, 9), { position: 2, keys: [] })
      assert.deepEqual(await store.feed('other').since(0, 9), { position: 1, keys: ['/x'] })
      await store.transact(async (tx) => {
        await tx.follow('f', '/c')
        assert.deepEqual([await tx.position('f'), await tx.position('none')], [2, 0])
      })
    })

    given(
      'rows that statements replaced are read anew, also by what is handed in meanwhile',
      async (store) => {
        await store.transact((tx) => tx.insert(contractRow('/a')))
        const before = await store.get('/a')
        const replaced = store.replace((tx) => tx.run("update resources set etag = 'other'"))
        const locked = store.transact((tx) => tx.lock('/a', 'change'))
        assert.equal(await replaced, 1)
        assert.notEqual(before?.etag, 'other')
        assert.equal((await locked)?.etag === before?.etag && store.dialect === 'sqlite', false)
        assert.equal((await store.get('/a'))?.etag, 'other')
        await store.transact(async (tx) => {
          assert.equal((await tx.lock('/a', 'change'))?.etag, 'other')
        })
      },
    )

    given('a reader that follows while others write misses nothing', async (store) => {
      const writers = Array.from({ length: 30 }, (_, n) =>
        store.transact(async (tx) => {
          await tx.insert(contractRow(`/r${n}`))
          await tx.follow(n % 2 === 0 ? 'f' : 'g', `/r${n}`)
          await tx.follow('f', `/r${n}`)
        }),
      )
      let position = 0
      const seen: string[] = []
      const read = async (): Promise<void> => {
        for (;;) {
          const next = await store.feed('f').since(position, 4)
          if (next.keys.length === 0) return
          assert.equal(next.position, position + next.keys.length)
          // Whoever sees the entry sees the row.
          for (const key of next.keys) assert.notEqual(await store.get(key), undefined)
          position = next.position
          seen.push(...next.keys)
        }
      }
      let writing = true
      const written = Promise.all(writers).finally(() => {
        writing = false
      })
      while (writing) {
        await read()
        await turn()
      }
      await written
      await read()
      assert.equal(seen.length, 45)
      assert.equal(await store.feed('f').position(), 45)
      assert.equal(new Set(seen).size, 30)
    })

    given('what was decided by a feed that moved on since is taken back', async (store) => {
      await store.transact((tx) => tx.follow('f', '/a'))
      const write = (name: string, expected: Readonly<Record<string, number>>): Promise<void> =>
        store.transact(
          async (tx) => {
            await tx.insert(contractRow(`/${name}`))
            await tx.record(contractEvent)
          },
          { expected },
        )
      const positions = { f: 1, g: 0 }
      await assert.rejects(write('late', { f: 0, g: 0 }), (error) => {
        assert.ok(error instanceof FeedMoved)
        assert.deepEqual(error.positions, positions)
        return true
      })
      assert.equal(await store.get('/late'), undefined)
      await write('in time', positions)
      assert.notEqual(await store.get('/in time'), undefined)
    })

    given('whoever is ready first is so by all that comes before under the name', async (store) => {
      const seen = new Map<number, readonly [ready: number, inside: number]>()
      const write = async (_: unknown, n: number): Promise<void> => {
        let known = -1
        const ready = async (): Promise<void> => {
          known = await store.feed('f').position()
        }
        await store.transact(
          async (tx) => {
            seen.set(n, [known, await tx.position('f')])
            await tx.follow('f', `/${n}`)
          },
          { name: 'f', ready },
        )
      }
      await Promise.all(Array.from({ length: 12 }, write))
      for (const [known, inside] of seen.values()) assert.equal(known, inside)
      assert.equal(await store.feed('f').position(), 12)
    })

    given('an acknowledged change is seen by the next call', async (store) => {
      for (let n = 1; n <= 5; n++) {
        await store.sql.transact((tx) => tx.follow('f', `/${n}`))
        assert.equal(await store.feed('f').position(), n)
      }
    })
  })

  describe(`${name}: the relational port`, () => {
    const own = { migrations: [contractMigration] }

    given(
      'values come back as they went in',
      async (store) => {
        const bytes = new Uint8Array([0, 1, 255])
        const changed = await store.sql.transact(async (tx) => {
          const insert = 'INSERT INTO parts (id, amount, bytes, label) VALUES (?, ?, ?, ?)'
          await tx.run(insert, 'p1', 2 ** 53 - 1, bytes, "it's ? é")
          await tx.run(insert, 'p2', null, null, null)
          return tx.run('UPDATE parts SET amount = ? WHERE id IN (?, ?)', -5, 'p2', 'p3')
        })
        assert.equal(changed, 1)
        assert.deepEqual(
          await store.sql.all('SELECT id, amount, bytes, label FROM parts ORDER BY id'),
          [
            { id: 'p1', amount: 2 ** 53 - 1, bytes, label: "it's ? é" },
            { id: 'p2', amount: -5, bytes: null, label: null },
          ],
        )
        assert.deepEqual(
          await store.sql.all(
            "SELECT count(*) AS n, sum(amount) AS total FROM parts WHERE amount < ? AND id <> '?'",
            0,
          ),
          [{ n: 1, total: -5 }],
        )
        assert.deepEqual(await store.sql.all('SELECT id FROM parts WHERE id = ?', 'none'), [])
      },
      own,
    )

    given(
      'a transaction is all or nothing, and sees its own writes',
      async (store) => {
        const insert = 'INSERT INTO parts (id, label) VALUES (?, ?)'
        await assert.rejects(
          store.sql.transact(async (tx) => {
            await tx.run(insert, 'p1', 'x')
            assert.equal((await tx.all('SELECT id FROM parts')).length, 1)
            await tx.follow('f', 'p1')
            throw new Error('no')
          }),
          /no/,
        )
        assert.deepEqual(await store.sql.all('SELECT id FROM parts'), [])
        assert.equal(await store.feed('f').position(), 0)
      },
      own,
    )

    given(
      'what is sent is there for the next query, and fails the transaction where it fails',
      async (store) => {
        const insert = 'INSERT INTO parts (id, label) VALUES (?, ?)'
        const count = 'SELECT count(*) AS n FROM parts WHERE label <> ?'
        await store.sql.transact(async (tx) => {
          tx.prefetch(count, '')
          assert.deepEqual(await tx.all(count, ''), [{ n: 0 }])
          tx.prefetch(count, '')
          for (let at = 0; at < 100; at++) await tx.send(insert, `p${at}`, `${at}`)
          assert.deepEqual(await tx.all(count, ''), [{ n: 100 }])
          tx.prefetch(count, '0')
          assert.deepEqual(await tx.all(count, 'x'), [{ n: 100 }])
          assert.deepEqual(await tx.all(count, '0'), [{ n: 99 }])
          await tx.send('DELETE FROM parts WHERE id <> ?', 'p7')
        })
        const isTaken = (error: unknown) =>
          error instanceof StoreConflict && error.unique === 'parts'
        for (const later of [0, 1, 40]) {
          const lost = store.sql.transact(async (tx) => {
            await tx.send(insert, 'p8', 'y')
            await tx.send(insert, 'p7', 'x')
            for (let at = 0; at < later; at++) await tx.send(insert, `q${at}`, `q${at}`)
          })
          await assert.rejects(lost, isTaken)
          const seen = store.sql.transact(async (tx) => {
            await tx.send(insert, 'p7', 'x')
            return await tx.all(count, '')
          })
          await assert.rejects(seen, isTaken)
        }
        assert.deepEqual(await store.sql.all('SELECT id FROM parts'), [{ id: 'p7' }])
      },
      own,
    )

    given(
      'a taken unique value names its table',
      async (store) => {
        const insert = 'INSERT INTO parts (id, label) VALUES (?, ?)'
        await store.sql.transact((tx) => tx.run(insert, 'p1', 'x'))
        for (const values of [
          ['p1', 'y'],
          ['p2', 'x'],
        ] as const) {
          await assert.rejects(
            store.sql.transact((tx) => tx.run(insert, ...values)),
            (error) => error instanceof StoreConflict && error.unique === 'parts',
          )
        }
      },
      own,
    )

    given(
      'a scan reads what is committed, and only reads',
      async (store) => {
        const insert = 'INSERT INTO parts (id, label) VALUES (?, ?)'
        await store.sql.transact((tx) => tx.run(insert, 'p1', 'x'))
        const found = await store.sql.scan('SELECT id, label FROM parts WHERE label = ?', 'x')
        assert.deepEqual(found, [{ id: 'p1', label: 'x' }])
        await store.sql.transact((tx) => tx.run(insert, 'p2', 'y'))
        assert.equal((await store.sql.scan('SELECT id FROM parts')).length, 2)
        await assert.rejects(store.sql.scan('DELETE FROM parts'), /Only a query/)
        await assert.rejects(store.sql.scan('SELECT id FROM parts WHERE id = ?', 'a\0'), /NUL/)
        await assert.rejects(store.sql.scan('SELECT nothing FROM nowhere'), (error) => {
          assert.ok(!(error instanceof StoreConflict || error instanceof StoreUnavailable))
          return true
        })
      },
      own,
    )

    given(
      'a snapshot reads alike by either way, and what its work throws reaches the caller',
      async (store) => {
        const insert = 'INSERT INTO parts (id, label) VALUES (?, ?)'
        await store.sql.transact((tx) => tx.run(insert, 'p1', 'x'))
        const count = 'SELECT count(*) AS n FROM parts'
        const seen = await store.sql.snapshot(async (reads) => [
          await reads.all(count),
          await reads.scan(count),
        ])
        assert.deepEqual(seen, [[{ n: 1 }], [{ n: 1 }]])
        const failing = store.sql.snapshot(async (reads) => {
          await reads.all(count)
          throw new Error('enough')
        })
        await assert.rejects(failing, /enough/)
        assert.deepEqual(await store.sql.all(count), [{ n: 1 }])
      },
      own,
    )

    given(
      'a snapshot sees nothing that is written while it reads',
      async (store) => {
        const insert = 'INSERT INTO parts (id, label) VALUES (?, ?)'
        await store.sql.transact((tx) => tx.run(insert, 'p1', 'x'))
        const outside = AsyncLocalStorage.snapshot()
        const query = 'SELECT id, label FROM parts ORDER BY id'
        const seen = await store.sql.snapshot(async (reads) => {
          const before = await reads.all(query)
          // Where nothing else may be awaited, a writer waits until the snapshot has ended.
          if (reads.pauses) {
            await outside(() =>
              store.sql.transact(async (tx) => {
                await tx.run("UPDATE parts SET label = 'y'")
                await tx.run(insert, 'p2', 'x')
              }),
            )
          }
          return [before, await reads.all(query), await reads.scan(query)]
        })
        const [before] = seen
        assert.deepEqual(before, [{ id: 'p1', label: 'x' }])
        assert.deepEqual(seen, [before, before, before])
      },
      own,
    )

    given(
      'faults are thrown as they are',
      async (store) => {
        await assert.rejects(store.sql.all('SELECT nothing FROM nowhere'), (error) => {
          assert.ok(!(error instanceof StoreConflict || error instanceof StoreUnavailable))
          return true
        })
        await assert.rejects(store.sql.all('DELETE FROM parts'), /Only a query/)
        await assert.rejects(store.sql.all('SELECT id FROM parts WHERE id = ?', 'a\0'), /NUL/)
        await assert.rejects(
          store.sql.transact((tx) => tx.run('INSERT INTO parts (id) VALUES (?)', 'a\0')),
          /NUL/,
        )
      },
      own,
    )
  })
}
