/**
 * The business application on PostgreSQL beside SQLite, and beside a peer on its SQLite: lines in a document of 1,000, and
 * posting a document of 10,000 lines with all its entries. The database's own processor time is not counted.
 */

import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { type Books, type Json, openArmature, openCap } from '../business/books.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow } from '../harness/results.ts'
import { median } from '../harness/statistics.ts'
import type { FigureScenario } from '../scenario.ts'

const asked = 400
const warmAsked = 300
const turn = 50
const lines = 1_000
const postedLines = 10_000
const postings = 3

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Sales invoices on both stores',
  about:
    'Lines in a document of 1,000: one client over one connection, in turns of 50, 300 to warm up and 400 that count. Posting: three documents of 10,000 lines of one item, each once. Milliseconds at the median, and microseconds of processor time a request, without the database’s own. Ratios are to SAP CAP.',
  measure,
}

type Work = (books: Books, at: number) => Promise<void>

async function measure(name: string, measuring: Measuring) {
  if (findPostgres() === undefined) return { rows: [], notes: [], skipped: [howToGetPostgres] }
  const { processors } = measuring
  const place = (whose: string) => makePlace(measuring.dataFolder, `${name}-${whose}`)
  await using server = await processors.onAll(() => startPostgres())
  const store = await server.createDatabase()
  const { forServer } = processors
  await using cap = await openCap(await place('cap'), forServer)
  await using sqlite = await openArmature(await place('sqlite'), forServer)
  const named = { name: 'Armature on PostgreSQL', store }
  await using postgres = await openArmature(await place('postgres'), forServer, named)
  const all = [cap, sqlite, postgres]
  const rows: FigureRow[] = []
  const say = (figure: string) => measuring.progress(`${name}: ${figure}`)
  for (const [figure, work] of await lineWork(all)) {
    say(figure)
    rows.push(...(await timed(figure, work, all)))
  }
  const figure = `post ${postedLines.toLocaleString('en')} lines`
  for (const books of [sqlite, postgres]) {
    say(`${figure}, ${books.name}`)
    rows.push(await posted(figure, books))
  }
  return {
    rows,
    notes: all.map(({ name: contestant, note }) => ({ contestant, note })),
    skipped: [],
  }
}

async function lineWork(all: readonly Books[]): Promise<readonly (readonly [string, Work])[]> {
  const documents = new Map<Books, Awaited<ReturnType<Books['open']>>>()
  const added = new Map<Books, Json[]>()
  for (const books of all) {
    documents.set(books, await books.open(lines))
    added.set(books, [])
  }
  const of = (books: Books) => {
    const found = documents.get(books)
    if (found === undefined) throw new Error(`${books.name} has no document`)
    return found
  }
  const one = (books: Books, at: number) => of(books).lineAt(added.get(books)?.[at] ?? {})
  return [
    [
      'add a line',
      async (books) => {
        const { lines: at, line } = of(books)
        added.get(books)?.push(await books.call('POST', at, line, 201))
      },
    ],
    [
      'get a line',
      async (books, at) => void (await books.call('GET', one(books, at), undefined, 200)),
    ],
    [
      'change a line',
      async (books, at) => void (await books.call('PATCH', one(books, at), { quantity: 10 }, 200)),
    ],
  ]
}

async function timed(figure: string, work: Work, all: readonly Books[]): Promise<FigureRow[]> {
  const taken = all.map((books) => ({ books, times: [] as number[], cpu: 0 }))
  for (let from = 0; from < asked + warmAsked; from += turn) {
    for (const one of taken) {
      const before = one.books.cpuMicroseconds()
      for (let at = from; at < from + turn; at++) {
        const began = performance.now()
        await work(one.books, at)
        if (from >= warmAsked) one.times.push(performance.now() - began)
      }
      if (from >= warmAsked) one.cpu += one.books.cpuMicroseconds() - before
    }
  }
  const [peer] = taken
  return taken.flatMap((one) => {
    const contestant = one.books.name
    const to = (value: number | undefined) =>
      one === peer || value === undefined ? {} : { to: [value] }
    const time = median(one.times) ?? 0
    return [
      figureRow({
        figure: `${figure}, ms`,
        contestant,
        values: [time],
        digits: 2,
        ...to(median(peer?.times ?? [])),
      }),
      figureRow({
        figure: `${figure}, CPU µs`,
        contestant,
        values: [one.cpu / asked],
        ...to(peer === undefined ? undefined : peer.cpu / asked),
      }),
    ]
  })
}

async function posted(figure: string, books: Books): Promise<FigureRow> {
  const times: number[] = []
  for (let count = 0; count < postings; count++) {
    const { path } = await books.open(postedLines)
    const began = performance.now()
    await books.call('POST', `${path}/Vendor.NAV.post`, undefined, 204)
    times.push(performance.now() - began)
    const whole = await books.call('GET', path, undefined, 200)
    if (whole['status'] !== 'Open') throw new Error(`${books.name}: it is not posted`)
  }
  return figureRow({ figure: `${figure}, ms`, contestant: books.name, values: times })
}
