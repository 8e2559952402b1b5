/** Sends each hostile request to a started server, and asks the probe inside what it did to the loop and the memory. */

import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { contractWords } from '../../src/kernel/vendor.ts'
import { areaMigrations } from '../../src/main/migrations.ts'
import { openSqlite } from '../../src/stores/sqlite/open.ts'
import { type Access, commandOf, waitForAccess } from '../contestants/armature.ts'
import { fillHome } from '../contestants/fill-home.ts'
import { Child } from '../harness/child.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow } from '../harness/results.ts'
import { resourceBody, resourceName, resourcePath } from '../payload.ts'
import type { Place } from '../scenario.ts'
import { type FreezeFixture, type Hostile, hostileRequests } from './requests.ts'

/** What is aimed at, for each request. */
export const aims = { stopMilliseconds: 50, growthMegabytes: 64 } as const

const customers = 15_000
const groups = 5_000
const probeFile = new URL('./probe.mjs', import.meta.url).href

interface Seen {
  /** Milliseconds, the longest the loop did not come round. */
  readonly stop: number
  /** Milliseconds, the most the main thread worked between two rounds. */
  readonly processor: number
  /** Bytes of resident memory over what was there before. */
  readonly growth: number
}

export async function measureFreeze(
  name: string,
  { dataFolder, processors, rounds, progress }: Measuring,
): Promise<{ readonly rows: readonly FigureRow[]; readonly notes: readonly string[] }> {
  const place = await makePlace(dataFolder, name)
  const fixture = await furnish(place)
  const socket = join(place.folder, 'probe.sock')
  const given = commandOf(place)
  await using child = new Child({
    ...given,
    command: processors.forServer(given.command),
    environment: {
      ...given.environment,
      ARMATURE_BENCH_PROBE: socket,
      NODE_OPTIONS: `--expose-gc --import=${probeFile}`,
    },
  })
  const access = await waitForAccess(place, child)
  const rows: FigureRow[] = []
  const notes: string[] = []
  for (const hostile of hostileRequests(fixture)) {
    const seen: Seen[] = []
    let status = 0
    // Once beforehand: what is compiled and loaded at first use is no attack.
    for (let round = -1; round < rounds; round++) {
      await child.settle()
      await askProbe(socket)
      const sent = Array.from({ length: hostile.atOnce ?? 1 }, () =>
        send(place, access, hostile, round + 1),
      )
      status = (await Promise.all(sent))[0] ?? 0
      await sleep(50)
      const one = await askProbe(socket)
      if (round >= 0) seen.push(one)
      child.assertRunning()
    }
    const figure = (what: string, values: readonly number[]): FigureRow =>
      figureRow({ figure: what, contestant: hostile.name, values })
    const stops = figure(
      'longest stop, ms',
      seen.map(({ processor }) => processor),
    )
    const growth = figure(
      'growth, MB',
      seen.map((one) => one.growth / 1024 / 1024),
    )
    rows.push(stops, growth)
    const clock =
      figure(
        '',
        seen.map(({ stop }) => stop),
      ).median ?? 0
    const over =
      (stops.median ?? 0) > aims.stopMilliseconds || (growth.median ?? 0) > aims.growthMegabytes
    const text = `${hostile.name}: ${status}, ${stops.median?.toFixed(0)} ms (${clock.toFixed(0)} by the clock), ${growth.median?.toFixed(0)} MB`
    progress(`${name}: ${over ? 'OVER ' : ''}${text}`)
    if (over) notes.push(text)
  }
  return { rows, notes }
}

/** Zero: the server cut the connection before it had read the request. */
async function send(
  { origin }: Place,
  access: Access,
  hostile: Hostile,
  time: number,
): Promise<number> {
  const { method, path, type = 'application/json', headers } = hostile
  const body = typeof hostile.body === 'function' ? hostile.body(time) : hostile.body
  try {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { ...access.headers, 'content-type': type, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    // `fetch` has no other way to tell that the connection has gone; `assertRunning` tells whether the server has.
    return 0
  }
}

function askProbe(address: string): Promise<Seen> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(address)
    socket.setEncoding('utf8')
    socket.on('data', (piece: string) => {
      text += piece
    })
    socket.on('error', reject)
    // The probe's own words.
    socket.on('end', () => resolve(JSON.parse(text) as Seen))
  })
}

/** A home with many customers in one company and many resource groups, as an installation would have them. */
async function furnish(place: Place): Promise<FreezeFixture> {
  await using child = new Child(commandOf(place))
  const { subscriptionId, headers } = await waitForAccess(place, child)
  const post = async (method: string, path: string, body: string): Promise<{ id: string }> => {
    const answer = await fetch(`${place.origin}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    })
    const text = await answer.text()
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  const root = '/api/v2.0/companies'
  const { id: companyId } = await post('POST', root, '{"name":"Bench"}')
  const company = `${root}(${companyId})`
  await post('POST', `${company}/unitsOfMeasure`, '{"code":"PCS"}')
  const item = { displayName: 'Chair', unitPrice: 5, baseUnitOfMeasureCode: 'PCS' }
  const { id: itemId } = await post('POST', `${company}/items`, JSON.stringify(item))
  const customer = { displayName: 'Adatum', addressLine1: 'One street', city: 'Town' }
  const { id: customerId } = await post('POST', `${company}/customers`, JSON.stringify(customer))
  const path = resourcePath(subscriptionId, resourceName(0))
  await post('PUT', path, resourceBody('local'))
  const bench = `/subscriptions/${subscriptionId}/resourceGroups/bench?api-version=2021-04-01`
  await post('PUT', bench, '{"location":"local"}')
  const accounts = '/providers/Vendor.Billing/billingAccounts'
  const listed = await fetch(`${place.origin}${accounts}?api-version=2024-04-01`, { headers })
  // The server's own list; an installation has one account from its first start.
  const { value } = (await listed.json()) as { value: readonly { readonly name: string }[] }
  const billingProfile = `${accounts}/${value[0]?.name}/billingProfiles/default`
  await child.stop()
  const database = join(place.folder, 'home', 'armature.db')
  await addCustomers(database, customerId)
  const key = new URL(path, place.origin).pathname.toLowerCase()
  await fillHome({ database, key, nameOf: resourceName, count: groups })
  return { subscriptionId, companyId, customerId, itemId, billingProfile }
}

/** Copies of the one there is, under other numbers. */
async function addCustomers(database: string, customerId: string): Promise<void> {
  await using store = await openSqlite({
    path: database,
    migrations: areaMigrations,
    words: contractWords,
    transactionRetriesMax: 1,
  })
  await store.sql.transact(async (tx) => {
    const [first] = await tx.all('select * from business_customers where id = ?', customerId)
    if (first === undefined) throw new Error('there is no customer to copy')
    const columns = Object.keys(first)
    const text = `insert into business_customers (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    for (let at = 1; at < customers; at++) {
      const id = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
      const row = { ...first, id, number: `B${at}`, display_name: `Customer ${at}` }
      await tx.run(text, ...Object.values(row))
    }
  })
}
