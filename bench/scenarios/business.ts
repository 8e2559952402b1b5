/**
 * Lines of the business application over HTTP: POST, GET and PATCH in documents of 10, 1,000 and 10,000 lines, and
 * a document with 50 lines in one request, ours and two peers' in turns. Every amount in an answer is checked.
 */

import {
  type Books,
  type Json,
  type OpenDocument,
  openArmature,
  openCap,
  openMockServer,
} from '../business/books.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import { warmUpRequests } from '../harness/warm-up.ts'
import type { FigureScenario } from '../scenario.ts'

const asked = 800
/** Requests to one contestant before the next one's turn. */
const turn = 50
const sizes = [10, 1_000, 10_000]
/** Lines of the document that is created by one request. */
const piece = 50

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Lines of sales invoices',
  about: `One client over one connection, one request after the other, in turns of 50, ${warmUpRequests} to warm up and ${asked} that count, a processor for the servers and one for the client; milliseconds at the median, and microseconds of processor time a request. Ratios are to SAP CAP.`,
  measure,
}

type Work = (books: Books, at: number) => Promise<void>

async function measure(name: string, measuring: Measuring) {
  const { forServer } = measuring.processors
  const place = (whose: string) => makePlace(measuring.dataFolder, `${name}-${whose}`)
  await using armature = await openArmature(await place('armature'), forServer)
  await using cap = await openCap(await place('cap'), forServer)
  await using mock = await openMockServer(await place('mock'), forServer, sizes)
  const all = [cap, mock, armature]
  const rows: ReturnType<typeof figureRow>[] = []

  async function timed(figure: string, work: Work, of: readonly Books[] = all): Promise<void> {
    measuring.progress(`${name}: ${figure}`)
    const taken = new Map(of.map((books) => [books, { times: [] as number[], cpu: 0 }]))
    for (let from = 0; from < asked + warmUpRequests; from += turn) {
      for (const [books, so] of taken) {
        const before = books.cpuMicroseconds()
        for (let at = from; at < from + turn; at++) {
          const began = performance.now()
          await work(books, at)
          if (from >= warmUpRequests) so.times.push(performance.now() - began)
        }
        if (from >= warmUpRequests) so.cpu += books.cpuMicroseconds() - before
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
  // Decimals may be written as texts.
  const check = (books: Books, json: Json, field: string, wanted: number): void => {
    if (!books.calculates || Number(json[field]) === wanted) return
    throw new Error(`${books.name}: ${field} is ${json[field]}, not ${wanted}`)
  }

  await timed('a document with 50 lines', async (books) => {
    const made = await books.call('POST', books.documents, books.document(piece), 201)
    check(books, made, 'totalAmountExcludingTax', 8235)
    check(books, made, 'totalTaxAmount', 411.75)
  })
  for (const size of sizes) {
    const count = size.toLocaleString('en')
    const documents = new Map<Books, OpenDocument>()
    const added = new Map<Books, Json[]>()
    for (const books of all) {
      documents.set(books, await books.open(size))
      added.set(books, [])
    }
    const of = (books: Books): OpenDocument => documents.get(books) as OpenDocument // just set
    const one = (books: Books, at: number): string => of(books).lineAt(added.get(books)?.[at] ?? {})
    await timed(`add a line to ${count}`, async (books) => {
      const { lines, line } = of(books)
      const made = await books.call('POST', lines, line, 201)
      check(books, made, 'netAmount', 164.7)
      added.get(books)?.push(made)
    })
    await timed(`get a line of ${count}`, async (books, at) => {
      const line = await books.call('GET', one(books, at), undefined, 200)
      check(books, line, 'amountIncludingTax', 172.94)
    })
    await timed(`change a line of ${count}`, async (books, at) => {
      const changed = await books.call('PATCH', one(books, at), { quantity: 10 }, 200)
      check(books, changed, 'amountIncludingTax', 576.45)
    })
    for (const books of all) {
      const whole = await books.call('GET', of(books).path, undefined, 200)
      const net = Math.round((size * 164.7 + (asked + warmUpRequests) * 549) * 100)
      check(books, whole, 'totalAmountExcludingTax', net / 100)
      check(books, whole, 'totalTaxAmount', Math.round((net * 5) / 100) / 100)
    }
  }
  for (const size of sizes) {
    const { path, lines, line } = await armature.open(size)
    await armature.call('PATCH', path, { discountAmount: 100 }, 200)
    await timed(
      `add a line to ${size.toLocaleString('en')} with an invoice discount`,
      async ({ call }) => {
        await call('POST', lines, line, 201)
      },
      [armature],
    )
    const whole = await armature.call('GET', path, undefined, 200)
    const net = Math.round(((size + asked + warmUpRequests) * 164.7 - 100) * 100)
    check(armature, whole, 'totalAmountExcludingTax', net / 100)
  }
  return {
    rows,
    notes: all.map(({ name: contestant, note }) => ({ contestant, note })),
    skipped: [],
  }
}
