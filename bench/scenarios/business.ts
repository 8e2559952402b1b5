/**
 * Lines of the business application over HTTP: POST, GET and PATCH in documents of 10, 1,000 and 10,000 lines, and a
 * document with 50 lines in one request, ours and SAP CAP's in turns. Every amount that comes back is checked.
 */

import { type Books, type Json, openArmature, openCap } from '../business/books.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureScenario } from '../scenario.ts'

const asked = 400
/** Requests to one contestant before it is the other's turn. */
const turn = 50
const sizes = [10, 1_000, 10_000]
/** Lines of the document that is made in one request. */
const piece = 50

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Lines of sales invoices',
  about:
    'One client, one request after the other, in turns of 50; milliseconds at the median, and microseconds of processor time a request. Ratios are to SAP CAP.',
  measure,
}

type Work = (books: Books, at: number) => Promise<void>

async function measure(name: string, measuring: Measuring) {
  const ours = await makePlace(measuring.dataFolder, `${name}-armature`)
  const theirs = await makePlace(measuring.dataFolder, `${name}-cap`)
  await using armature = await openArmature(ours)
  await using cap = await openCap(theirs)
  const all = [cap, armature]
  const rows: ReturnType<typeof figureRow>[] = []

  async function timed(figure: string, work: Work): Promise<void> {
    measuring.progress(`${name}: ${figure}`)
    const taken = new Map(all.map((books) => [books, { times: [] as number[], cpu: 0 }]))
    for (let from = 0; from < asked; from += turn) {
      for (const [books, so] of taken) {
        const before = books.cpuMicroseconds()
        for (let at = from; at < from + turn; at++) {
          const began = performance.now()
          await work(books, at)
          so.times.push(performance.now() - began)
        }
        so.cpu += books.cpuMicroseconds() - before
      }
    }
    const middle = (times: readonly number[]) =>
      times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
    const peer = taken.get(cap)
    for (const [books, { times, cpu }] of taken) {
      const toPeer = (value: number | undefined) =>
        books === cap || value === undefined ? {} : { to: [value] }
      const contestant = books.name
      rows.push(
        figureRow({
          figure: `${figure}, ms`,
          contestant,
          values: [middle(times)],
          digits: 2,
          ...toPeer(peer === undefined ? undefined : middle(peer.times)),
        }),
        figureRow({
          figure: `${figure}, CPU µs`,
          contestant,
          values: [cpu / asked],
          ...toPeer(peer === undefined ? undefined : peer.cpu / asked),
        }),
      )
    }
  }
  // Decimals may come as texts.
  const check = (json: Json, field: string, wanted: number): void => {
    if (Number(json[field]) !== wanted) throw new Error(`${field} is ${json[field]}, not ${wanted}`)
  }

  await timed('a document with 50 lines', async ({ call, documents, document }) => {
    const made = await call('POST', documents, document(piece), 201)
    check(made, 'totalAmountExcludingTax', 8235)
    check(made, 'totalTaxAmount', 411.75)
  })
  for (const size of sizes) {
    const count = size.toLocaleString('en')
    const documents = new Map<Books, string>()
    const ids = new Map<Books, string[]>()
    for (const books of all) {
      const made = await books.call('POST', books.documents, books.document(size), 201)
      documents.set(books, `${books.documents}(${books.idOf(made)})`)
      ids.set(books, [])
    }
    const set = (books: Books): string => `${documents.get(books)}/salesInvoiceLines`
    const one = (books: Books, at: number): string => `${set(books)}(${ids.get(books)?.[at]})`
    await timed(`add a line to ${count}`, async (books) => {
      const made = await books.call('POST', set(books), books.line, 201)
      check(made, 'netAmount', 164.7)
      ids.get(books)?.push(books.idOf(made))
    })
    await timed(`get a line of ${count}`, async (books, at) => {
      check(await books.call('GET', one(books, at), undefined, 200), 'amountIncludingTax', 172.94)
    })
    await timed(`change a line of ${count}`, async (books, at) => {
      const changed = await books.call('PATCH', one(books, at), { quantity: 10 }, 200)
      check(changed, 'amountIncludingTax', 576.45)
    })
    for (const books of all) {
      const whole = await books.call('GET', String(documents.get(books)), undefined, 200)
      const net = Math.round((size * 164.7 + asked * 549) * 100)
      check(whole, 'totalAmountExcludingTax', net / 100)
      check(whole, 'totalTaxAmount', Math.round((net * 5) / 100) / 100)
    }
  }
  return {
    rows,
    notes: all.map(({ name: contestant, note }) => ({ contestant, note })),
    skipped: ['The Fiori mock server: it is installed, but has no books of its own written yet.'],
  }
}
