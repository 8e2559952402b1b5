/** Fault rules: which requests they match, how often and how long. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName } from '../config/nearest-name.ts'
import { type FaultRule, openFaults, scenarios } from './faults.ts'

const request = {
  method: 'GET',
  path: '/subscriptions/s/resourceGroups/g/providers/Vendor.Sample/widgets/w',
  type: 'Vendor.Sample/widgets',
  principalId: 'p',
  principalName: 'Pat',
  correlationId: 'c',
}

function open() {
  const time = { now: 1_800_000_000_000, chance: 0.5 }
  const faults = openFaults({ now: () => time.now, chance: () => time.chance })
  return { faults, time }
}

test('a rule meets what it names and nothing else', () => {
  for (const [rule, isMet] of [
    [{}, true],
    [{ method: 'get' }, true],
    [{ method: 'PUT' }, false],
    [{ path: '/SUBSCRIPTIONS/s/*' }, true],
    [{ path: '/subscriptions/s' }, false],
    [{ path: request.path.toLowerCase() }, true],
    [{ type: 'Sample/widgets' }, true],
    [{ type: 'vendor.sample/WIDGETS' }, true],
    [{ type: 'widgets' }, false],
    [{ principal: 'p' }, true],
    [{ principal: 'Pat' }, true],
    [{ principal: 'q' }, false],
    [{ rate: 0.6 }, true],
    [{ rate: 0.5 }, false],
    [{ step: 'fail' }, false],
    [{ store: 'away' }, false],
    [{ engine: 'loses', path: request.path }, false],
  ] as const satisfies readonly (readonly [FaultRule, boolean])[]) {
    const { faults } = open()
    faults.add({ status: 500, ...rule })
    assert.equal(faults.ofRequest(request) !== undefined, isMet, JSON.stringify(rule))
  }
})

test('a rule ends by its count and its time, and says whom it met', () => {
  const { faults, time } = open()
  const id = faults.add({ status: 429, after: 1, count: 2 })
  assert.deepEqual(
    Array.from({ length: 4 }, () => faults.ofRequest(request)?.status),
    [undefined, 429, 429, undefined],
  )
  assert.equal(faults.list()[0]?.met, 2)
  assert.equal(faults.list()[0]?.latest[0]?.correlationId, 'c')
  faults.clear(id)
  assert.throws(() => faults.clear(id), { code: 'ControlNotFound' })
  faults.add({ step: 'hang', seconds: 5 })
  assert.equal(faults.ofStep('/r', 'Vendor.Sample/widgets'), 'hang')
  time.now += 5000
  assert.equal(faults.ofStep('/r', 'Vendor.Sample/widgets'), undefined)
  faults.clear()
  faults.add({ store: 'away' })
  assert.equal(faults.ofStore()?.store, 'away')
  time.now += 60_000
  assert.equal(faults.ofStore(), undefined, 'a store comes back by itself')
})

test('a rule of a type that nothing has is refused, with the nearest name', () => {
  const { faults } = open()
  const types = ['Vendor.Resources/subscriptions/resourceGroups', 'Vendor.Sample/widgets']
  faults.onlyTypes({ types, nearest: nearestName })
  for (const type of ['Sample/widgets', 'Resources/resourceGroups', 'VENDOR.Sample/Widgets']) {
    faults.add({ status: 500, type })
  }
  for (const [type, named] of [
    ['Sample/widget', /type: expected .* such as 'Sample\/widgets', not 'Sample\/widget'/],
    ['widgets', /not 'widgets'/],
    ['Other.Sample/widgets', /such as 'Vendor\.Sample\/widgets'/],
  ] as const) {
    assert.throws(() => faults.add({ status: 500, type }), named)
  }
  assert.equal(faults.list().length, 3)
})

test('an engine loses what it runs for one resource, once unless lost otherwise', () => {
  const { faults } = open()
  const lost: string[] = []
  faults.onLoss((key) => lost.push(key))
  for (const path of [undefined, '/subscriptions/*']) {
    const rule: FaultRule = { engine: 'loses', ...(path === undefined ? {} : { path }) }
    assert.throws(() => faults.add(rule), { code: 'BadRequest' })
  }
  faults.add({ engine: 'loses', path: '/R' })
  assert.deepEqual(lost, ['/r'])
  assert.equal(faults.ofEngine('/other', 'Vendor.Sample/widgets'), false)
  assert.deepEqual(
    [1, 2].map(() => faults.ofEngine('/r', 'Vendor.Sample/widgets')),
    [true, false],
  )
})

test('scenarios are sets of rules', () => {
  const { faults } = open()
  for (const name of Object.keys(scenarios)) assert.ok(faults.play(name).length > 0)
  assert.throws(() => faults.play('constructor'), /take one of region-outage, throttled/)
})
