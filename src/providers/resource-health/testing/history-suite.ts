/** Tests of the availability history, for every store. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../tests/until.ts'
import type { AvailabilityCheck } from '../domain/availability-check.ts'
import { openHistory } from '../domain/history.ts'
import { createWatch } from '../domain/watch.ts'
import { refused, vault } from './ask.ts'
import type { Started, startHealth, Wire } from './start.ts'

const fine: AvailabilityCheck = { state: 'Available', summary: 'It answers.' }
const broken: AvailabilityCheck = {
  state: 'Unavailable',
  summary: 'It does not answer.',
  reasonType: 'Unplanned',
}
const at = `${vault}/providers/Vendor.ResourceHealth/availabilityStatuses`
const minute = 60_000

export function historySuite(start: typeof startHealth): void {
  test('every change that is seen is kept, once, and is there by page and by name', async () => {
    let check = fine
    let isOtherFirst = false
    const observers = { 'secrets/vaults': () => check }
    await using started = await start({ observers })
    await started.call('PUT', vault, { location: 'westus', properties: {} })
    const { clock } = started
    const watch = watchOf(started, observers)
    const see = async (next: AvailabilityCheck): Promise<void> => {
      clock.pass(minute)
      check = next
      // Two replicas check at nearly the same time; the clock of one is ahead.
      const looks = [() => watch(clock.now()), () => watchOf(started, observers)(clock.now() + 1)]
      isOtherFirst = !isOtherFirst
      await Promise.all((isOtherFirst ? looks.toReversed() : looks).map((look) => look()))
    }
    const begun = clock.now()
    for (const next of [fine, fine, broken, broken, fine, broken, fine]) await see(next)
    const list = await started.all(`${at}?$top=2`)
    assert.deepEqual(
      list.map(({ properties }) => [
        properties.availabilityState,
        Math.floor((Date.parse(properties.occuredTime) - begun) / minute),
      ]),
      [
        ['Available', 7],
        ['Unavailable', 6],
        ['Available', 5],
        ['Unavailable', 3],
        ['Available', 1],
      ],
    )
    const [current, last] = list
    assert.equal(current.name, 'current')
    assert.deepEqual(current.properties.recentlyResolved, {
      unavailableOccuredTime: last.properties.occuredTime,
      resolvedTime: current.properties.occuredTime,
      unavailableSummary: broken.summary,
    })
    assert.deepEqual(await started.get(`${at}/current`), current)
    assert.equal(last.properties.reasonType, 'Unplanned')
    for (const one of list.slice(1)) assert.deepEqual(await started.get(one.id), one)
    for (const name of ['20261015110000000', '99999999999999999']) {
      await refused(started.get(`${at}/${name}`), 'ResourceNotFound', 404)
    }
    clock.pass(25 * 60 * minute)
    const later = await started.get(`${at}/current`)
    assert.equal(later.properties.recentlyResolved, undefined)
    // A current state that is not recorded yet comes first, and removes nothing.
    check = broken
    assert.equal((await started.all(`${at}?$top=1`)).length, 6)
  })

  test('a resource that is gone leaves nothing behind; others keep theirs, page after page', async () => {
    const observers = {
      'secrets/vaults': () => fine,
      'resources/subscriptions/resourcegroups': () => fine,
    }
    await using started = await start({ observers })
    const put = (name: string) =>
      started.call('PUT', `${vault.slice(0, -1)}${name}`, { location: 'westus', properties: {} })
    for (let at = 0; at < 205; at++) await put(`v${at}`)
    const watch = watchOf(started, observers)
    const round = async (): Promise<void> => {
      while (await watch(started.clock.now())) started.clock.pass(1)
    }
    const kept = async (): Promise<readonly Wire[]> =>
      Promise.all(
        ['health_availability', 'health_availability_past'].map(async (table) => {
          const [row] = await started.store.sql.all(
            `select count(*) as n from ${table} where resource_key like '%/vaults/%'`,
          )
          return Number(row?.['n'])
        }),
      )
    await round()
    assert.deepEqual(await kept(), [205, 205])
    for (const name of ['v0', 'v204', 'v99']) {
      await started.call('DELETE', `${vault.slice(0, -1)}${name}`)
    }
    await round()
    await round()
    assert.deepEqual(await kept(), [202, 202])
  })

  test('the background looks by itself', async () => {
    const observers = { 'secrets/vaults': () => broken }
    await using started = await start({ observers, background: true })
    await started.call('PUT', vault, { location: 'westus', properties: {} })
    const history = openHistory(started.store.sql)
    await until(async () => {
      // Its checks follow the clock.
      started.clock.pass(11_000)
      const past = await history.past(vault.toLowerCase(), started.clock.now() + 1, 10)
      return past.length > 0
    })
  })
}

function watchOf(
  { plane, store }: Started,
  observers: Parameters<typeof createWatch>[0]['observers'],
) {
  return createWatch({ reader: plane.reader, observers, history: openHistory(store.sql) })
}
