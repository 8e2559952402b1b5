/**
 * Transactions of one invoice: pages of every kind, by HTTP as a client asks. `ARMATURE_BENCH_ROWS` sets how many
 * there are; the figure is a million.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Peer, startPeer, statements } from '../billing/postgres.ts'
import { invoice, seedLedger } from '../billing/seed.ts'
import { commandOf, waitForAccess } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { Child } from '../harness/child.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { Figures } from '../harness/results.ts'
import type { FigureScenario } from '../scenario.ts'

const rows = Number(process.env['ARMATURE_BENCH_ROWS'] ?? 100_000)
const asked = 200

/** What is asked, by how the table calls it. */
const questions: Readonly<Record<string, string>> = {
  'first page': '',
  'first page and count': '&count=true',
  'filter: one product': `&filter=${encodeURIComponent("productDescription eq 'Product 5 of the catalogue'")}`,
  'filter: the rare large ones': `&filter=${encodeURIComponent('subTotal/value gt 600')}`,
  'filter: half of all': `&filter=${encodeURIComponent('quantity gt 25')}`,
  'order: largest first': `&orderBy=${encodeURIComponent('transactionAmount/value desc')}`,
  'order: product, then date': `&orderBy=${encodeURIComponent('productDescription, date')}`,
  'search: two words': `&search=${encodeURIComponent('product 13 customer')}`,
}

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Transactions of an invoice',
  about: `Pages of 50 out of ${rows.toLocaleString('en')} transactions on one invoice, one client, one request after the other; milliseconds. SQLite, token checked and caller authorized at every request.`,
  measure,
}

async function measure(name: string, measuring: Measuring): Promise<Figures> {
  const place = await makePlace(measuring.dataFolder, name)
  const home = join(place.folder, 'home')
  const first = new Child(commandOf(place))
  await waitForAccess(place, first)
  // The server's own file.
  const { tenantId } = JSON.parse(readFileSync(join(home, 'running.json'), 'utf8'))
  await first.stop()
  const rate = await seedLedger(join(home, 'armature.db'), String(tenantId), rows)
  await using child = new Child(commandOf(place))
  const { headers } = await waitForAccess(place, child)
  const list = `${place.origin}/providers/Vendor.Billing/billingAccounts/${tenantId}/invoices/${invoice}/transactions?api-version=2024-04-01`
  const figures = [
    figureRow({ figure: 'recorded, rows a second', contestant: 'Armature', values: [rate] }),
  ]
  const note = (figure: string, times: readonly number[], contestant = 'Armature'): void => {
    const sorted = times.toSorted((a, b) => a - b)
    for (const [label, part] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
      figures.push(
        figureRow({ figure: `${figure}, ${label}`, contestant, values: [value], digits: 2 }),
      )
    }
  }
  const timed = async (
    url: string,
  ): Promise<{ milliseconds: number; next: string | undefined }> => {
    const began = performance.now()
    const { status, body } = await ask(url, { headers })
    const milliseconds = performance.now() - began
    if (status !== 200) throw new Error(`${status} ${body}`)
    return { milliseconds, next: JSON.parse(body).nextLink }
  }
  for (const [figure, query] of Object.entries(questions)) {
    measuring.progress(`${name}: ${figure}`)
    const times: number[] = []
    for (let at = 0; at < asked; at++) times.push((await timed(list + query)).milliseconds)
    note(figure, times)
  }
  // Beside ours, so that both meet the same neighbours on the machine.
  await using peer = await startPeer(rows)
  if (peer !== undefined) await measurePeer(peer, note)
  measuring.progress(`${name}: following links`)
  const times: number[] = []
  const pagesMax = Math.min(10_000, Math.floor(rows / 50))
  let next: string | undefined = list
  for (let page = 0; page < pagesMax && next !== undefined; page++) {
    const answer: Awaited<ReturnType<typeof timed>> = await timed(next)
    times.push(answer.milliseconds)
    next = answer.next
  }
  note('by links, pages 1 to 200', times.slice(0, 200))
  note(`by links, the last 200 up to page ${times.length}`, times.slice(-200))
  return {
    rows: figures,
    notes: [
      {
        contestant: direct,
        note: 'SQL over one connection: no HTTP, no token, no caller; one flat table, an index for each order',
      },
    ],
    skipped: peer === undefined ? ['PostgreSQL: none was found on this machine'] : [],
  }
}

const direct = 'PostgreSQL, directly'

async function measurePeer(
  peer: Peer,
  note: (figure: string, times: readonly number[], contestant: string) => void,
): Promise<void> {
  const timed = async (work: () => Promise<void>): Promise<readonly number[]> => {
    const times: number[] = []
    for (let at = 0; at < asked; at++) {
      const began = performance.now()
      await work()
      times.push(performance.now() - began)
    }
    return times
  }
  for (const [figure, texts] of Object.entries(statements)) {
    note(figure, await timed(() => peer.ask(texts)), direct)
  }
  const last = Math.min(10_000, Math.floor(rows / 50)) - 1
  note(`by offset, page ${last + 1}`, await timed(() => peer.askPage(last)), direct)
}
