/**
 * Transactions of one invoice: pages of every kind, by HTTP. `ARMATURE_BENCH_ROWS` sets how many rows there are;
 * the figure is a million.
 */

import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { importRate } from '../billing/import-rate.ts'
import { type JsonServer, queries, startJsonServer } from '../billing/json-server.ts'
import { type Peer, startPeer, statements } from '../billing/postgres.ts'
import { invoice, seedLedger } from '../billing/seed.ts'
import { commandOf, waitForAccess } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { Child, type Command } from '../harness/child.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow, Figures } from '../harness/results.ts'
import { type Patience, takeTimes, timeRows } from '../harness/times.ts'
import type { FigureScenario, Place } from '../scenario.ts'

const rows = Number(process.env['ARMATURE_BENCH_ROWS'] ?? 100_000)
const rowsImported = Math.min(rows, 200_000)
/** A peer that scans everything for an answer is measured for this long, and at least this often. */
const patience: Patience = { milliseconds: 5000, warmMilliseconds: 500, least: 2 }
const followedAtEnds = 500

/** The queries, by their name in the table. */
const questions: Readonly<Record<string, string>> = {
  'first page': '',
  'first page and count': '&count=true',
  'filter: one product': `&filter=${encodeURIComponent("productDescription eq 'Product 5 of the catalogue'")}`,
  'filter: the rare large ones': `&filter=${encodeURIComponent('subTotal/value gt 600')}`,
  'filter: half of all': `&filter=${encodeURIComponent('quantity gt 25')}`,
  'order: largest first': `&orderBy=${encodeURIComponent('transactionAmount/value desc')}`,
  'order: product, then date': `&orderBy=${encodeURIComponent('productDescription, date')}`,
  'order: amount, then quantity, then date': `&orderBy=${encodeURIComponent('transactionAmount/value desc, quantity, date')}`,
  'search: two words': `&search=${encodeURIComponent('product 13 customer')}`,
}

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Transactions of an invoice',
  about: `Pages of 50 out of ${rows.toLocaleString('en')} transactions on one invoice, one client, one request after the other; milliseconds. SQLite, token checked and caller authorized at every request.`,
  measure,
}

async function measure(name: string, measuring: Measuring): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const imported = await measureImports(name, measuring)
  const place = await makePlace(measuring.dataFolder, name)
  const home = join(place.folder, 'home')
  const first = new Child(commandOf(place))
  await waitForAccess(place, first)
  // The server's own file.
  const { tenantId } = JSON.parse(readFileSync(join(home, 'running.json'), 'utf8'))
  await first.stop()
  const rate = await seedLedger(join(home, 'armature.db'), String(tenantId), rows)
  await using child = new Child(started(place, measuring))
  const { headers } = await waitForAccess(place, child)
  const list = `${place.origin}/providers/Vendor.Billing/billingAccounts/${tenantId}/invoices/${invoice}/transactions?api-version=2024-04-01`
  const figures = [
    ...imported,
    figureRow({
      figure: 'recorded by the ledger itself, rows a second',
      contestant: 'Armature',
      values: [rate],
    }),
  ]
  const note = (figure: string, times: readonly number[], contestant = 'Armature'): void => {
    figures.push(...timeRows(figure, contestant, times))
  }
  const timed = async (
    url: string,
  ): Promise<{ milliseconds: number; next: string | undefined }> => {
    const began = performance.now()
    const { status, body } = await ask(url, { headers, agent })
    const milliseconds = performance.now() - began
    if (status !== 200) throw new Error(`${status} ${body}`)
    return { milliseconds, next: JSON.parse(body).nextLink }
  }
  for (const [figure, query] of Object.entries(questions)) {
    measuring.progress(`${name}: ${figure}`)
    note(figure, await takeTimes(async () => (await timed(list + query)).milliseconds))
  }
  const follow = async (pages: number): Promise<readonly number[]> => {
    const followed: number[] = []
    let next: string | undefined = list
    while (followed.length < pages && next !== undefined) {
      const answer: Awaited<ReturnType<typeof timed>> = await timed(next)
      followed.push(answer.milliseconds)
      next = answer.next
    }
    return followed
  }
  measuring.progress(`${name}: following links`)
  // Not counted, as with the questions.
  await follow(followedAtEnds)
  const followed = await follow(pagesMax)
  note(firstPages, followed.slice(0, followedAtEnds))
  note(lastPages, followed.slice(-followedAtEnds))
  // Interleaved with ours, so that both meet the same load of the machine.
  measuring.progress(`${name}: the same, asked of PostgreSQL`)
  const isPeer = await measurePostgres(measuring, note)
  measuring.progress(`${name}: the same, asked of json-server`)
  await measureJsonServer(`${name}-json-server`, measuring, note)
  agent.destroy()
  return {
    rows: figures,
    notes: [
      {
        contestant: direct,
        note: 'SQL over one connection: no HTTP, no token, no caller; one flat table, an index for each order but the one of three fields',
      },
      {
        contestant: inMemory,
        note: `no token, no caller; all rows in memory, looked through at every request, so it is asked each question for ${patience.milliseconds / 1000} seconds at the most, ${patience.least} times at least; its links name pages by number`,
      },
    ],
    skipped: !isPeer ? ['PostgreSQL: none was found on this machine'] : [],
  }
}

const direct = 'PostgreSQL, directly'
const inMemory = 'json-server'
const pagesMax = Math.min(10_000, Math.floor(rows / 50))
const firstPages = `by links, pages 1 to ${followedAtEnds}`
const lastPages = `by links, the last ${followedAtEnds} up to page ${pagesMax}`

type Note = (figure: string, times: readonly number[], contestant: string) => void

/** Armature on the processor of servers. Otherwise it would share this process's processor. */
function started(place: Place, { processors }: Measuring): Command {
  const given = commandOf(place)
  return { ...given, command: processors.forServer(given.command) }
}

/** In an installation of its own, so that the pages read one invoice alone. */
async function measureImports(name: string, measuring: Measuring): Promise<readonly FigureRow[]> {
  const { dataFolder, progress } = measuring
  const place = await makePlace(dataFolder, `${name}-import`)
  await using child = new Child(started(place, measuring))
  const access = await waitForAccess(place, child)
  const { tenantId } = JSON.parse(readFileSync(join(place.folder, 'home', 'running.json'), 'utf8'))
  const profile = `${place.origin}/providers/Vendor.Billing/billingAccounts/${tenantId}/billingProfiles/default`
  const figures: FigureRow[] = []
  for (const format of ['csv', 'ndjson'] as const) {
    progress(`${name}: ${rowsImported} rows as ${format}`)
    const rate = await importRate(profile, access, format, rowsImported)
    const figure = `imported by HTTP as ${format}, rows a second of ${rowsImported.toLocaleString('en')}`
    figures.push(figureRow({ figure, contestant: 'Armature', values: [rate] }))
  }
  return figures
}

/** False if this machine has none. */
async function measurePostgres({ processors }: Measuring, note: Note): Promise<boolean> {
  // Its processes may use every processor that the client leaves free.
  await using peer: Peer | undefined = await processors.onAll(() => startPeer(rows))
  if (peer === undefined) return false
  for (const [figure, texts] of Object.entries(statements)) {
    note(figure, await takeTimes(() => peer.ask(texts), patience), direct)
  }
  await peer.followPages(followedAtEnds)
  const followed = await peer.followPages(pagesMax)
  note(firstPages, followed.slice(0, followedAtEnds), direct)
  note(lastPages, followed.slice(-followedAtEnds), direct)
  const offset = await takeTimes(() => peer.askPage(pagesMax - 1), patience)
  note(`by offset, page ${pagesMax}`, offset, direct)
  return true
}

async function measureJsonServer(
  name: string,
  { dataFolder, processors }: Measuring,
  note: Note,
): Promise<void> {
  const place = await makePlace(dataFolder, name)
  await using peer: JsonServer = await startJsonServer(place, rows, processors)
  for (const [figure, query] of Object.entries(queries)) {
    note(figure, await takeTimes(() => peer.ask(query), patience), inMemory)
  }
  let page = 0
  const first = await takeTimes(() => peer.askPage(++page), patience)
  note(firstPages, first, inMemory)
  page = pagesMax
  const last = await takeTimes(() => peer.askPage(page--), patience)
  note(lastPages, last, inMemory)
}
