/** Token buckets against an oracle that keeps the history and counts. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fc, runsOf } from '../../tests/property.ts'
import { createThrottle, type ThrottleSettings } from './throttle.ts'

const settings: ThrottleSettings = {
  subscription: {
    reads: { size: 4, refillPerSecond: 2 },
    writes: { size: 3, refillPerSecond: 1 },
    deletes: { size: 2, refillPerSecond: 1 },
  },
  tenant: {
    reads: { size: 5, refillPerSecond: 1 },
    writes: { size: 2, refillPerSecond: 1 },
    deletes: { size: 1, refillPerSecond: 1 },
  },
  anonymous: { size: 1, refillPerSecond: 1 },
  allPrincipalsFactor: 1.5,
  bucketsMax: 1000,
  atOnceMax: 3,
  ownerId: 'owner',
  refusesOwner: false,
}

const call = fc.record({
  principal: fc.constantFrom('a', 'b', 'c', 'owner'),
  subscription: fc.constantFrom('s1', 's2', undefined),
  kind: fc.constantFrom('reads' as const, 'writes' as const, 'deletes' as const),
  // Quarter seconds, so that tokens stay exact in binary. Sometimes back in time.
  wait: fc.integer({ min: -2, max: 6 }),
})

/** Thousandths of a token after a history of (time, taken), replayed from the beginning. */
function tokens(
  history: readonly (readonly [at: number, taken: number])[],
  size: number,
  rate: number,
): number {
  let level = size
  let last: number | undefined
  for (const [at, taken] of history) {
    if (last !== undefined && at > last) level = Math.min(size, level + ((at - last) / 1000) * rate)
    last = at
    level = Math.max(0, level - taken)
  }
  return level
}

describe('createThrottle', () => {
  test('answers as the oracle does', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 120 }), (calls) => {
        const throttle = createThrottle(settings)
        const own = new Map<string, [number, number][]>()
        const all = new Map<string, [number, number][]>()
        const of = (map: typeof own, key: string): [number, number][] => {
          const known = map.get(key) ?? []
          map.set(key, known)
          return known
        }
        let now = 10_000
        for (const { principal, subscription, kind, wait } of calls) {
          now += wait * 250
          const rule = settings[subscription === undefined ? 'tenant' : 'subscription'][kind]
          const mine = of(own, `${principal}/${subscription}/${kind}`)
          const ours = of(all, `${subscription}/${kind}`)
          const factor = settings.allPrincipalsFactor
          mine.push([now, 0])
          const left = tokens(mine, rule.size, rule.refillPerSecond)
          const exempt = principal === 'owner'
          let refused = !exempt && left < 1
          if (!refused && !exempt && subscription !== undefined) {
            ours.push([now, 0])
            refused = tokens(ours, rule.size * factor, rule.refillPerSecond * factor) < 1
            if (!refused) ours.push([now, 1])
          }
          if (!refused) mine.push([now, 1])
          const allowance = throttle.take(principal, subscription, kind, now)
          assert.equal(allowance?.refusal !== undefined, refused)
          if (!refused) {
            assert.equal(
              allowance?.remaining,
              Math.floor(tokens(mine, rule.size, rule.refillPerSecond)),
            )
          }
        }
      }),
      { numRuns: runsOf(300) },
    )
  })

  test('waiting as the answer says is enough, and asking before does not prolong it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(900), (extra, early) => {
        const throttle = createThrottle(settings)
        const take = (now: number) => throttle.take('a', 's', 'writes', now)
        for (let index = 0; index < 3; index++) assert.equal(take(0)?.refusal, undefined)
        const refusal = take(0)?.refusal
        assert.equal(refusal?.status, 429)
        assert.equal(refusal?.code, 'SubscriptionRequestsThrottled')
        const seconds = Number(refusal?.extra.headers?.['Retry-After'])
        for (let index = 0; index < extra; index++) assert.ok(take(early)?.refusal)
        assert.equal(take(seconds * 1000)?.refusal, undefined)
      }),
    )
  })

  test('memory is bounded, and a bucket in use is not forgotten', () => {
    const throttle = createThrottle({ ...settings, bucketsMax: 10 })
    for (let index = 0; index < 1000; index++) {
      throttle.take('a', 's', 'deletes', 0)
      throttle.take(`p${index}`, undefined, 'reads', 0)
      assert.ok(throttle.size() <= 10)
    }
    assert.ok(throttle.take('a', 's', 'deletes', 0)?.refusal)
  })

  test('tells tenant and subscription apart', () => {
    const throttle = createThrottle(settings)
    assert.equal(
      throttle.take('a', undefined, 'reads', 0)?.header,
      'x-ms-ratelimit-remaining-tenant-reads',
    )
    assert.equal(
      throttle.take('a', 's', 'writes', 0)?.header,
      'x-ms-ratelimit-remaining-subscription-writes',
    )
    throttle.take('a', undefined, 'deletes', 0)
    assert.equal(throttle.take('a', undefined, 'deletes', 0)?.refusal?.code, 'TooManyRequests')
  })

  test('names the bucket of all principals when that one is empty', () => {
    const throttle = createThrottle({ ...settings, allPrincipalsFactor: 1 })
    for (const id of ['a', 'b', 'c']) throttle.take(id, 's', 'writes', 0)
    assert.deepEqual(
      { ...throttle.take('d', 's', 'writes', 0), refusal: undefined },
      {
        header: 'x-ms-ratelimit-remaining-subscription-global-writes',
        remaining: 0,
        refusal: undefined,
      },
    )
  })

  test('refuses the owner where the setting says so', () => {
    const throttle = createThrottle({ ...settings, refusesOwner: true })
    throttle.take('owner', 's', 'deletes', 0)
    throttle.take('owner', 's', 'deletes', 0)
    assert.ok(throttle.take('owner', 's', 'deletes', 0)?.refusal)
  })

  test('what a batch holds is taken wholly or not at all', () => {
    const throttle = createThrottle(settings)
    const counts = { reads: 5, writes: 2, deletes: 0 }
    assert.equal(throttle.takeMany('a', counts, 0), undefined)
    const refusal = throttle.takeMany('a', { reads: 0, writes: 2, deletes: 1 }, 0)
    assert.equal(refusal?.status, 429)
    assert.equal(refusal?.extra.headers?.['Retry-After'], '2')
    // The deletes that were refused together with the writes are still available.
    assert.equal(throttle.takeMany('a', { reads: 0, writes: 0, deletes: 1 }, 0), undefined)
    assert.notEqual(throttle.take('a', undefined, 'reads', 0)?.refusal, undefined)
    // More than a bucket holds is allowed from a full bucket, or it would never be.
    assert.equal(throttle.takeMany('b', { reads: 100, writes: 0, deletes: 0 }, 0), undefined)
    assert.notEqual(throttle.takeMany('b', { reads: 100, writes: 0, deletes: 0 }, 0), undefined)
    assert.equal(
      throttle.takeMany('owner', { reads: 100, writes: 100, deletes: 100 }, 0),
      undefined,
    )
    assert.equal(
      throttle.takeMany('owner', { reads: 100, writes: 100, deletes: 100 }, 0),
      undefined,
    )
  })

  test('so many requests of a principal run at once, and each that ends makes room', () => {
    const throttle = createThrottle(settings)
    const enter = (principal: string): (() => void) | undefined => {
      const entered = throttle.enter(principal)
      return 'leave' in entered ? entered.leave : undefined
    }
    const leaves = [enter('a'), enter('a'), enter('a')]
    assert.ok(leaves.every((leave) => leave !== undefined))
    assert.equal(enter('a'), undefined)
    assert.notEqual(enter('b'), undefined)
    for (let more = 0; more < 5; more++) assert.notEqual(enter('owner'), undefined)
    leaves[0]?.()
    assert.notEqual(enter('a'), undefined)
    assert.equal(enter('a'), undefined)
  })
})
