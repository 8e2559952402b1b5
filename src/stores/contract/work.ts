/** The store contract, part three: operations, events, and work that is due, claimed and given back. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'

import type { Store } from '../store.ts'
import { contractEvent, contractOperation, contractRow, type Given, isConflict } from './setting.ts'

export function workContract(name: string, given: Given): void {
  describe(`${name}: operations and events`, () => {
    given('an operation is put, found while it runs, and put again when it ends', async (store) => {
      const running = contractOperation('o1', '/a')
      await store.transact((tx) => tx.putOperation(running))
      assert.deepEqual(await store.operation('o1'), running)
      assert.deepEqual(await store.runningOperation('/a'), running)
      assert.equal(await store.runningOperation('/b'), undefined)
      const ended = { ...running, running: false, endedAt: 7, document: '{"status":"Succeeded"}' }
      await store.transact((tx) => tx.putOperation(ended))
      assert.deepEqual(await store.operation('o1'), ended)
      assert.equal(await store.runningOperation('/a'), undefined)
    })

    given('a second running operation on a resource is a lost race', async (store) => {
      await store.transact((tx) => tx.putOperation(contractOperation('o1', '/a')))
      const second = contractOperation('o2', '/a')
      await assert.rejects(
        store.transact((tx) => tx.putOperation(second)),
        isConflict,
      )
      await store.transact(async (tx) => {
        await tx.putOperation({ ...contractOperation('o1', '/a'), running: false, endedAt: 1 })
        await tx.putOperation(second)
      })
      assert.equal((await store.runningOperation('/a'))?.id, 'o2')
    })

    given('the sweep takes the oldest ended ones, up to its limit', async (store) => {
      await store.transact(async (tx) => {
        for (const n of [1, 2, 3, 4, 5]) {
          await tx.putOperation({
            ...contractOperation(`o${n}`, '/a'),
            running: false,
            endedAt: n * 10,
          })
        }
        await tx.putOperation(contractOperation('running', '/a'))
      })
      assert.equal(await store.sweepOperations(41, 3), 3)
      assert.equal(await store.operation('o3'), undefined)
      assert.notEqual(await store.operation('o4'), undefined)
      assert.equal(await store.sweepOperations(41, 3), 1)
      assert.equal(await store.sweepOperations(41, 3), 0)
      assert.notEqual(await store.operation('o5'), undefined)
      assert.notEqual(await store.operation('running'), undefined)
    })

    given('work that is due too late is due now, if nobody has it', async (store) => {
      await store.transact(async (tx) => {
        for (const [key, due] of [
          ['/a', 40],
          ['/b', 41],
          ['/c', 90],
        ] as const) {
          await tx.schedule(key, due)
        }
      })
      const [held] = await store.claimDue('x', 40, 30, 1)
      assert.equal(held?.key, '/a')
      assert.ok(held)
      await store.release(held, 95, false)
      assert.equal((await store.claimDue('x', 10, 30, 5)).length, 0)
      await store.hasten(10, 50)
      const due = await store.claimDue('x', 10, 30, 5)
      assert.deepEqual(due.map(({ key }) => key).sort(), ['/a', '/c'])
      await store.hasten(5, 5)
      assert.deepEqual(
        (await store.claimDue('y', 5, 30, 5)).map(({ key }) => key),
        ['/b'],
      )
    })

    given('events are appended in their order', async (store) => {
      for (const action of ['first', 'second']) {
        await store.transact((tx) =>
          tx.record({
            at: 5,
            key: '/a',
            action,
            status: 'Succeeded',
            principalId: 'p',
            caller: 'somebody',
            correlationId: 'c',
            operationId: action === 'first' ? null : 'o',
            subscription: 's',
            detail: '{}',
          }),
        )
      }
      const found = await store.sql.all(
        'SELECT at, key, action, caller, operation_id, subscription FROM events ORDER BY number',
      )
      const same = { at: 5, key: '/a', caller: 'somebody', subscription: 's' }
      assert.deepEqual(found, [
        { ...same, action: 'first', operation_id: null },
        { ...same, action: 'second', operation_id: 'o' },
      ])
    })

    given(
      'a relational transaction appends events too, and takes them back with itself',
      async (store) => {
        const event = (action: string) => ({ ...contractEvent, at: 7, key: '/b', action })
        await store.sql.transact((tx) => tx.record(event('kept')))
        const lost = store.sql.transact(async (tx) => {
          await tx.record(event('lost'))
          throw new Error('no')
        })
        await assert.rejects(lost, /^Error: no$/)
        assert.deepEqual(await store.sql.all("SELECT action FROM events WHERE key = '/b'"), [
          { action: 'kept' },
        ])
      },
    )
  })

  describe(`${name}: work`, () => {
    const schedule = (store: Store, key: string, dueAt: number): Promise<void> =>
      store.transact((tx) => tx.schedule(key, dueAt))
    const isLost = async (
      store: Store,
      fence: { key: string; fence: number },
    ): Promise<boolean> => {
      const claim = { ...fence, attempt: 0 }
      const outcome = await Promise.allSettled([store.transact((tx) => tx.assertClaim(claim))])
      return outcome[0]?.status === 'rejected'
    }

    given('what is due is claimed, oldest first, each by one owner', async (store) => {
      for (const [key, dueAt] of [
        ['/c', 30],
        ['/a', 10],
        ['/b', 20],
        ['/later', 99],
      ] as const) {
        await schedule(store, key, dueAt)
      }
      assert.equal(await store.nextDue(), 10)
      const first = await store.claimDue('one', 50, 30, 2)
      assert.deepEqual(new Set(first.map(({ key }) => key)), new Set(['/a', '/b']))
      const second = await store.claimDue('two', 50, 30, 9)
      assert.deepEqual(
        second.map(({ key }) => key),
        ['/c'],
      )
      assert.deepEqual(await store.claimDue('three', 50, 30, 9), [])
      const fences = [...first, ...second].map(({ fence }) => fence)
      assert.equal(new Set(fences).size, 3)
      for (const claim of [...first, ...second]) {
        assert.equal(claim.attempt, 0)
        assert.equal(await isLost(store, claim), false)
      }
      assert.deepEqual(await store.claimDue('one', 99, 30, 0), [])
    })

    given('many claimants at once share the work without overlap', async (store) => {
      await store.transact(async (tx) => {
        for (let n = 0; n < 40; n++) await tx.schedule(`/r${n}`, n)
      })
      const shares = await Promise.all(
        Array.from({ length: 8 }, (_, n) => store.claimDue(`owner${n}`, 100, 30, 10)),
      )
      const claimed = shares.flat().map(({ key }) => key)
      assert.equal(new Set(claimed).size, claimed.length)
      let rest = 0
      for (;;) {
        const more = await store.claimDue('last', 100, 30, 10)
        if (more.length === 0) break
        rest += more.length
      }
      assert.equal(claimed.length + rest, 40)
    })

    given('released work is due again, its failures counted in a row', async (store) => {
      await schedule(store, '/a', 10)
      let [claim] = await store.claimDue('one', 10, 30, 1)
      for (const attempt of [0, 1, 2]) {
        assert.ok(claim !== undefined)
        assert.equal(claim.attempt, attempt)
        await store.release(claim, 20, true)
        assert.equal(await isLost(store, claim), true)
        assert.deepEqual(await store.claimDue('one', 19, 30, 1), [])
        assert.equal(await store.nextDue(), 20)
        claim = (await store.claimDue('one', 20, 30, 1))[0]
      }
      assert.ok(claim !== undefined)
      await store.release(claim, 20, false)
      claim = (await store.claimDue('one', 20, 30, 1))[0]
      assert.equal(claim?.attempt, 0)
    })

    given('scheduling anew moves the due time and resets the attempts', async (store) => {
      await schedule(store, '/a', 10)
      const [claim] = await store.claimDue('one', 10, 30, 1)
      assert.ok(claim !== undefined)
      await store.release(claim, 15, true)
      await schedule(store, '/a', 40)
      assert.equal(await store.nextDue(), 40)
      assert.deepEqual(await store.claimDue('one', 39, 30, 1), [])
      assert.equal((await store.claimDue('one', 40, 30, 1))[0]?.attempt, 0)
    })

    given('work scheduled during a claim is not lost', async (store) => {
      await schedule(store, '/a', 10)
      let [claim] = await store.claimDue('one', 10, 30, 1)
      assert.ok(claim !== undefined)
      await schedule(store, '/a', 12)
      assert.deepEqual(await store.claimDue('two', 12, 30, 1), [])
      assert.equal(await isLost(store, claim), false)
      await store.release(claim, 500, true)
      assert.equal(await store.nextDue(), 12)
      claim = (await store.claimDue('one', 12, 30, 1))[0]
      assert.ok(claim !== undefined)
      assert.equal(claim.attempt, 0)
      // A wish for later than the worker's own does not delay it, and the wish is spent.
      await schedule(store, '/a', 900)
      await store.release(claim, 500, false)
      assert.equal(await store.nextDue(), 500)
    })

    given('unscheduled work is gone, and its claims with it for good', async (store) => {
      await schedule(store, '/a', 10)
      const [claim] = await store.claimDue('one', 10, 30, 1)
      assert.ok(claim !== undefined)
      await store.transact((tx) => tx.unschedule('/a'))
      assert.equal(await store.nextDue(), undefined)
      assert.equal(await store.renew(claim, 10, 30), false)
      await schedule(store, '/a', 10)
      const [next] = await store.claimDue('two', 10, 30, 1)
      assert.ok(next !== undefined && next.fence > claim.fence)
      assert.equal(await isLost(store, claim), true)
      await store.release(claim, 10, false)
      assert.equal(await isLost(store, next), false)
    })

    given('an expired lease is taken over, and its first owner has lost', async (store) => {
      await schedule(store, '/a', 10)
      const [first] = await store.claimDue('one', 10, 0, 1)
      assert.ok(first !== undefined)
      assert.equal(await store.renew(first, 10, 0), true)
      // A lease of no length has ended on either clock.
      const [second] = await store.claimDue('two', 1_000_000, 3600, 1)
      assert.ok(second !== undefined && second.fence > first.fence)
      assert.equal(await store.renew(first, 10, 30), false)
      assert.equal(await store.renew(second, 10, 3600), true)
      await store.release(first, 10, true)
      assert.equal(await isLost(store, second), false)
      let tries = 0
      await assert.rejects(
        store.transact(async (tx) => {
          tries++
          await tx.insert(contractRow('/late'))
          await tx.assertClaim(first)
        }),
        isConflict,
      )
      assert.equal(tries, 1)
      assert.equal(await store.get('/late'), undefined)
    })

    given('the holder of a claim ends the work it claimed, and nobody else does', async (store) => {
      await schedule(store, '/a', 10)
      const [claim] = await store.claimDue('one', 10, 3600, 1)
      assert.ok(claim !== undefined)
      const end = (fence: number): Promise<void> =>
        store.transact(async (tx) => {
          await tx.assertClaim({ ...claim, fence })
          await tx.unschedule('/a')
        })
      await assert.rejects(end(claim.fence + 1), isConflict)
      assert.equal(await isLost(store, claim), false)
      await end(claim.fence)
      assert.equal(await store.nextDue(), undefined)
    })

    given('a held lease keeps others out until it is renewed no more', async (store) => {
      await schedule(store, '/a', 10)
      const [claim] = await store.claimDue('one', 10, 3600, 1)
      assert.ok(claim !== undefined)
      assert.deepEqual(await store.claimDue('two', 20, 30, 1), [])
      const wake = await store.nextDue()
      assert.ok(wake !== undefined && wake > 10)
      await store.renew(claim, 10, 0)
      assert.equal((await store.claimDue('two', 20, 30, 1)).length, 1)
    })

    given('committed schedules call back', async (store) => {
      const called = new Promise<void>((resolve) => store.onWork(resolve))
      await schedule(store, '/a', 10)
      await called
    })
  })
}
