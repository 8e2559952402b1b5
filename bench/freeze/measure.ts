/**
 * Sends each hostile request to a started server, and reads from the probe inside it what happened to the loop and
 * the memory.
 */

import { connect, type Socket } from 'node:net'
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
import type { FreezeFixture, Hostile } from './hostile.ts'
import { largeProfile } from './large-answers.ts'
import { hostileRequests } from './requests.ts'

/** The aims for each request. */
export const aims = { stopMilliseconds: 50, growthMegabytes: 64 } as const

const customers = 15_000
const groups = 5_000
const invoiceLines = 5_700
/** The longest wait for the beginning of an answer that is not read. */
const unreadSeconds = 10
const largeProfiles = 60
const probeFile = new URL('./probe.mjs', import.meta.url).href

interface Seen {
  /** Milliseconds: the longest stop of the event loop. */
  readonly stop: number
  /** Milliseconds: the most processor time of the main thread between two turns of the loop. */
  readonly processor: number
  /** Bytes of resident memory before the request, and the highest value. */
  readonly first: number
  readonly most: number
}

type Garbage = 'collect' | 'leave'

interface Measured {
  readonly rows: readonly FigureRow[]
  /** Requests that miss an aim. */
  readonly notes: readonly string[]
  /** Requests with an unexpected answer. Their figures mean nothing. */
  readonly unexpected: readonly string[]
}

/** Measures the requests whose name contains `only`. */
export async function measureFreeze(
  name: string,
  only: RegExp,
  { dataFolder, processors, rounds, progress }: Measuring,
): Promise<Measured> {
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
      ARMATURE_GENERIC_RESOURCES: 'on',
      NODE_OPTIONS: `--expose-gc --import=${probeFile}`,
    },
  })
  const access = await waitForAccess(place, child)
  const rows: FigureRow[] = []
  const notes: string[] = []
  const unexpected: string[] = []
  for (const hostile of hostileRequests(fixture)) {
    if (!only.test(hostile.name)) continue
    const measured = await measureOne(hostile, { place, access, child, socket, rounds })
    unexpected.push(...measured.unexpected)
    rows.push(...measured.rows)
    const [stop, clock, growth, garbage] = measured.rows.map(({ median = 0 }) => median.toFixed(0))
    const text = `${hostile.name}: ${stop} ms (${clock} by the clock), ${growth} MB (${garbage} with garbage)`
    progress(`${name}: ${measured.isOver ? 'OVER ' : ''}${text}`)
    if (measured.isOver) notes.push(text)
  }
  return { rows, notes, unexpected }
}

interface Victim {
  readonly place: Place
  readonly access: Access
  readonly child: Child
  /** The socket of the probe. */
  readonly socket: string
  readonly rounds: number
}

/**
 * Measures one request: once to warm up, then twice a round, with garbage left to the engine and with garbage
 * collected.
 */
async function measureOne(
  hostile: Hostile,
  { place, access, child, socket, rounds }: Victim,
): Promise<Pick<Measured, 'rows' | 'unexpected'> & { readonly isOver: boolean }> {
  const unexpected: string[] = []
  let sent = 0
  const sendOnce = async (garbage: Garbage): Promise<Seen> => {
    await child.settle()
    await askProbe(socket, garbage)
    const problem = await sendAll({ place, access, hostile, child }, sent++)
    await sleep(50)
    const seen = await askProbe(socket, 'leave')
    child.assertRunning()
    if (problem !== undefined) unexpected.push(`${hostile.name}: ${problem}`)
    return seen
  }
  // Compiling and loading at first use is no attack.
  await sendOnce('leave')
  const left: Seen[] = []
  const collected: Seen[] = []
  for (let round = 0; round < rounds; round++) {
    left.push(await sendOnce('leave'))
    collected.push(await sendOnce('collect'))
  }
  // Memory that the engine kept from an earlier round counts, too.
  const first = Math.min(...[...left, ...collected].map((seen) => seen.first))
  const best = (figure: string, values: readonly number[]): FigureRow =>
    figureRow({ figure, contestant: hostile.name, values: [Math.min(...values)] })
  const growth = (figure: string, all: readonly Seen[]): FigureRow => {
    const values = all.map(({ most }) => (most - first) / 1024 / 1024)
    return figureRow({ figure, contestant: hostile.name, values })
  }
  const rows = [
    best(
      'longest stop, ms',
      left.map(({ processor }) => processor),
    ),
    best(
      'by the clock, ms',
      left.map(({ stop }) => stop),
    ),
    growth('growth, MB', collected),
    growth('growth with garbage, MB', left),
  ]
  const [stop = 0, , most = 0] = rows.map(({ median }) => median)
  return { rows, unexpected, isOver: stop > aims.stopMilliseconds || most > aims.growthMegabytes }
}

interface Sending {
  readonly place: Place
  readonly access: Access
  readonly hostile: Hostile
  readonly child: Child
}

/** Sends as many at once as the request says. Returns what was unexpected in an answer, or nothing. */
async function sendAll(sending: Sending, time: number): Promise<string | undefined> {
  const { hostile, child } = sending
  const count = hostile.atOnce ?? 1
  if (hostile.isUnread === true) {
    const sockets = Array.from({ length: count }, () => sendUnread(sending))
    const isBegun = (): boolean => sockets.some(({ readableLength }) => readableLength > 0)
    for (let waited = 0; waited < unreadSeconds && !isBegun(); waited++) await sleep(1_000)
    const problem = isBegun() ? undefined : 'no answer was begun'
    await child.settle()
    for (const one of sockets) one.destroy()
    return problem
  }
  const sent = Array.from({ length: count }, () => send(sending, time))
  return (await Promise.all(sent)).find((problem) => problem !== undefined)
}

/** Reads only what its own buffer takes. */
function sendUnread({ place, access, hostile }: Sending): Socket {
  const { host, port, hostname } = new URL(place.origin)
  const socket = connect(Number(port), hostname)
  // The connection is expected to be cut.
  socket.on('error', () => {})
  const lines = Object.entries({ host, ...access.headers, ...hostile.headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  socket.write(`${hostile.method} ${hostile.path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  // Begins to read, and stops when its buffer is full.
  socket.once('readable', () => {})
  return socket
}

/** Returns what was unexpected in the answer, or nothing. */
async function send(
  { place: { origin }, access, hostile }: Sending,
  time: number,
): Promise<string | undefined> {
  const { method, path, type = 'application/json', headers } = hostile
  const body = typeof hostile.body === 'function' ? hostile.body(time) : hostile.body
  try {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { ...access.headers, 'content-type': type, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    return problemOf(hostile, answer.status, await answer.text())
  } catch {
    // `fetch` cannot tell otherwise that the connection was closed. `assertRunning` tells whether the server has
    // ended.
    return problemOf(hostile, 0, '')
  }
}

function problemOf(
  { expects, expectsAnswers }: Hostile,
  status: number,
  text: string,
): string | undefined {
  const all = Array.isArray(expects) ? expects : [expects]
  if (!all.includes(status))
    return `answered ${status}, not ${all.join(' or ')}: ${text.slice(0, 300)}`
  if (expectsAnswers === undefined) return undefined
  // The answer of a batch, by its status and type.
  const { responses } = JSON.parse(text) as { responses: readonly { readonly status: number }[] }
  const found = [...new Set(responses.map((one) => one.status))].sort()
  if (found.join() === expectsAnswers.join()) return undefined
  return `its requests were answered ${found.join(', ')}, not ${expectsAnswers.join(', ')}`
}

/** Returns what was seen since the last call. From now on garbage is collected soon, or left to the engine. */
function askProbe(address: string, garbage: Garbage): Promise<Seen> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(address)
    socket.write(garbage)
    socket.setEncoding('utf8')
    socket.on('data', (piece: string) => {
      text += piece
    })
    socket.on('error', reject)
    // The probe's own JSON.
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
  const commented = async (description: string): Promise<string> => {
    const line = { lineType: 'Comment', description }
    const body = JSON.stringify({ customerId, salesInvoiceLines: [line] })
    return (await post('POST', `${company}/salesInvoices`, body)).id
  }
  const invoiceId = await commented('x'.repeat(100))
  const tallInvoiceId = await commented(`x${'\n'.repeat(98)}x`)
  const path = resourcePath(subscriptionId, resourceName(0))
  await post('PUT', path, resourceBody('local'))
  const bench = `/subscriptions/${subscriptionId}/resourceGroups/bench?api-version=2021-04-01`
  await post('PUT', bench, '{"location":"local"}')
  const profiles = `/subscriptions/${subscriptionId}/resourceGroups/bench/providers/Vendor.ContainerInstance/containerGroupProfiles`
  const profileName = (at: number): string => `large${String(at).padStart(2, '0')}`
  const version = 'api-version=2025-09-01'
  const largest = JSON.stringify({ location: 'local', properties: largeProfile(4) })
  await post('PUT', `${profiles}/${profileName(0)}?${version}`, largest)
  const service = `/subscriptions/${subscriptionId}/resourceGroups/bench/providers/Vendor.ApiManagement/service/s?api-version=2021-08-01`
  const publisher = { publisherEmail: 'a@example.test', publisherName: 'A' }
  const sku = { name: 'Developer', capacity: 1 }
  await post('PUT', service, JSON.stringify({ location: 'local', sku, properties: publisher }))
  const accounts = '/providers/Vendor.Billing/billingAccounts'
  const listed = await fetch(`${place.origin}${accounts}?api-version=2024-04-01`, { headers })
  // The server's own list. An installation has one account from its first start.
  const { value } = (await listed.json()) as { value: readonly { readonly name: string }[] }
  const billingProfile = `${accounts}/${value[0]?.name}/billingProfiles/default`
  await child.stop()
  const database = join(place.folder, 'home', 'armature.db')
  await addCopies(
    database,
    { table: 'business_customers', key: 'id', of: customerId },
    customers,
    (at) => ({
      number: `B${at}`,
      display_name: `Customer ${at}`,
    }),
  )
  await addCopies(
    database,
    { table: 'business_lines', key: 'document_id', of: invoiceId },
    invoiceLines,
    (at) => ({ sequence: 1_000_000 + at }),
  )
  await addCopies(
    database,
    { table: 'business_lines', key: 'document_id', of: tallInvoiceId },
    invoiceLines,
    (at) => ({
      id: `10000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      sequence: 1_000_000 + at,
    }),
  )
  const key = new URL(path, place.origin).pathname.toLowerCase()
  await fillHome({ database, key, nameOf: resourceName, count: groups })
  const profileKey = `${profiles}/${profileName(0)}`.toLowerCase()
  await fillHome({ database, key: profileKey, nameOf: profileName, count: largeProfiles })
  const lists = { billingProfile, largeProfiles: `${profiles}?${version}` }
  return { subscriptionId, companyId, customerId, itemId, invoiceId, tallInvoiceId, ...lists }
}

/** Copies of the existing one, each with a value of its own. */
async function addCopies(
  database: string,
  { table, key, of }: { readonly table: string; readonly key: string; readonly of: string },
  count: number,
  own: (at: number) => Readonly<Record<string, string | number>>,
): Promise<void> {
  await using store = await openSqlite({
    path: database,
    migrations: areaMigrations,
    words: contractWords,
    transactionRetriesMax: 1,
  })
  await store.sql.transact(async (tx) => {
    const [first] = await tx.all(`select * from ${table} where ${key} = ?`, of)
    if (first === undefined) throw new Error(`there is no row of ${table} to copy`)
    const columns = Object.keys(first)
    const text = `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    for (let at = 1; at < count; at++) {
      const id = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
      await tx.run(text, ...Object.values({ ...first, id, ...own(at) }))
    }
  })
}
