/** The same queries for json-server: one file with the same rows, kept in memory and scanned for every request. */

import { createWriteStream } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { ask } from '../contestants/ask.ts'
import { Child } from '../harness/child.ts'
import type { Processors } from '../harness/processors.ts'
import type { Place } from '../scenario.ts'
import { type PlainRow, plainRow } from './seed.ts'

const program = fileURLToPath(
  new URL('../node_modules/json-server/lib/cli/bin.js', import.meta.url),
)
const patienceMilliseconds = 180_000

const newest = '_sort=date&_order=desc'
const text = (value: string): string => encodeURIComponent(value)

/** By the same names as ours. It searches for one text where ours searches for words. Every answer has a count. */
export const queries: Readonly<Record<string, string>> = {
  'first page': `${newest}&_limit=50`,
  'first page and count': `${newest}&_page=1&_limit=50`,
  'filter: one product': `product=${text('Product 5 of the catalogue')}&${newest}&_limit=50`,
  'filter: the rare large ones': `subTotal_gte=600.01&${newest}&_limit=50`,
  'filter: half of all': `quantity_gte=26&${newest}&_limit=50`,
  'order: largest first': '_sort=amount&_order=desc&_limit=50',
  'order: product, then date': '_sort=product,date&_order=asc,asc&_limit=50',
  'order: amount, then quantity, then date':
    '_sort=amount,quantity,date&_order=desc,asc,asc&_limit=50',
  'search: two words': `q=${text('product 13')}&${newest}&_limit=50`,
}

export interface JsonServer extends AsyncDisposable {
  ask(query: string): Promise<void>
  /** By page number, as its links do. */
  askPage(number: number): Promise<void>
}

export async function startJsonServer(
  place: Place,
  rows: number,
  processors: Processors,
): Promise<JsonServer> {
  const file = join(place.folder, 'db.json')
  await pipeline(Readable.from(fileOf(rows)), createWriteStream(file))
  const child = new Child({
    command: processors.forServer([
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '--max-old-space-size=8192',
      program,
      ...['--host', '127.0.0.1', '--port', String(place.port), '--quiet', '--no-gzip'],
      file,
    ]),
    folder: place.folder,
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const list = `${place.origin}/transactions?`
  const get = async (query: string): Promise<void> => {
    const { status, body } = await ask(list + query, { agent })
    if (status !== 200 || !body.startsWith('[')) throw new Error(`${status} ${body.slice(0, 200)}`)
  }
  const latest = performance.now() + patienceMilliseconds
  for (;;) {
    child.assertRunning()
    try {
      await get('_limit=1')
      break
    } catch (error) {
      // It is still reading its file. When the time is up, the reason is worth knowing.
      if (performance.now() > latest) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return {
    ask: get,
    askPage: (number) => get(`${newest}&_limit=50&_page=${number}`),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await child[Symbol.asyncDispose]()
    },
  }
}

function* fileOf(rows: number): Generator<string> {
  yield '{"transactions":['
  let part: PlainRow[] = []
  for (let at = 0; at < rows; at++) {
    part.push(plainRow(at))
    if (part.length < 5000 && at < rows - 1) continue
    const shown = JSON.stringify(part).slice(1, -1)
    yield at < rows - 1 ? `${shown},` : shown
    part = []
  }
  yield ']}'
}
