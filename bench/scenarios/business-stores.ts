/**
 * The business application on PostgreSQL beside SQLite, and beside a peer on SQLite: lines in a document of 1,000,
 * and posting a document of 10,000 lines with all entries. The database's own processor time is not counted.
 */

import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { type Json, openArmature, openCap } from '../business/books.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow } from '../harness/results.ts'
import { median } from '../harness/statistics.ts'
import { warmUpRequests } from '../harness/warm-up.ts'
import type { FigureScenario } from '../scenario.ts'

const requests = 400
const turn = 50
const lines = 1_000
const postedLines = 10_000
const postings = 3

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Sales invoices on both stores',
  about: `Lines in a document of 1,000: one client over one connection, in turns of 50, ${warmUpRequests} to warm up and ${requests} that count. Posting: three documents of 10,000 lines of one item, each once. Milliseconds at the median, and microseconds of processor time a request, without the database’s own. Ratios are to SAP CAP.`,
  measure,
}

type Server = Awaited<ReturnType<typeof openArmature>>
type Work = (server: Server, at: number) => Promise<void>

async function measure(name: string, measuring: Measuring) {
  if (findPostgres() === undefined) return { rows: [], notes: [], skipped: [howToGetPostgres] }
  const { processors } = measuring
  const place = (whose: string) => makePlace(measuring.dataFolder, `${name}-${whose}`)
  await using database = await processors.onAll(() => startPostgres())
  const store = await database.createDatabase()
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
  for (const server of [sqlite, postgres]) {
    say(`${figure}, ${server.name}`)
    rows.push(await posted(figure, server))
  }
  return {
    rows,
    notes: all.map(({ name: contestant, note }) => ({ contestant, note })),
    skipped: [],
  }
}

async function lineWork(all: readonly Server[]): Promise<readonly (readonly [string, Work])[]> {
  const documents = new Map<Server, Awaited<ReturnType<Server['open']>>>()
  const added = new Map<Server, Json[]>()
  for (const server of all) {
    documents.set(server, await server.open(lines))
    added.set(server, [])
  }
  const of = (server: Server) => {
    const found = documents.get(server)
    if (found === undefined) throw new Error(`${server.name} has no document`)
    return found
  }
  const one = (server: Server, at: number) => of(server).lineAt(added.get(server)?.[at] ?? {})
  return [
    [
      'add a line',
      async (server) => {
        const { lines: at, line } = of(server)
        added.get(server)?.push(await server.call('POST', at, line, 201))
      },
    ],
    [
      'get a line',
      async (server, at) => void (await server.call('GET', one(server, at), undefined, 200)),
    ],
    [
      'change a line',
      async (server, at) =>
        void (await server.call('PATCH', one(server, at), { quantity: 10 }, 200)),
    ],
  ]
}

async function timed(figure: string, work: Work, all: readonly Server[]): Promise<FigureRow[]> {
  const taken = all.map((server) => ({ server, times: [] as number[], cpu: 0 }))
  for (let from = 0; from < requests + warmUpRequests; from += turn) {
    for (const one of taken) {
      const before = one.server.cpuMicroseconds()
      for (let at = from; at < from + turn; at++) {
        const began = performance.now()
        await work(one.server, at)
        if (from >= warmUpRequests) one.times.push(performance.now() - began)
      }
      if (from >= warmUpRequests) one.cpu += one.server.cpuMicroseconds() - before
    }
  }
  const [peer] = taken
  return taken.flatMap((one) => {
    const contestant = one.server.name
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
        values: [one.cpu / requests],
        ...to(peer === undefined ? undefined : peer.cpu / requests),
      }),
    ]
  })
}

async function posted(figure: string, server: Server): Promise<FigureRow> {
  const times: number[] = []
  for (let count = 0; count < postings; count++) {
    const { path } = await server.open(postedLines)
    const began = performance.now()
    await server.call('POST', `${path}/Vendor.NAV.post`, undefined, 204)
    times.push(performance.now() - began)
    const whole = await server.call('GET', path, undefined, 200)
    if (whole['status'] !== 'Open') throw new Error(`${server.name}: it is not posted`)
  }
  return figureRow({ figure: `${figure}, ms`, contestant: server.name, values: times })
}
