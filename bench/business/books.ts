/** The contestants of the business scenario: started, prepared for documents, and called through their own API. */

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { commandOf, waitForAccess } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { Child } from '../harness/child.ts'
import type { Processors } from '../harness/processors.ts'
import type { Place } from '../scenario.ts'

type ForServer = Processors['forServer']

export type Json = Readonly<Record<string, unknown>>

/** One server with a company in it, ready for documents. */
export interface Books extends AsyncDisposable {
  readonly name: string
  readonly note: string
  /** Whether it calculates amounts from quantity and price. If not, there is nothing to check. */
  readonly calculates: boolean
  /** The path under which documents are created. */
  readonly documents: string
  /** The body of a document with this many lines of 3 pieces at 54.90 and 5 % tax. */
  document(lines: number): object
  /** Creates a document with this many lines. */
  open(lines: number): Promise<OpenDocument>
  call(method: string, path: string, body: object | undefined, expects: number): Promise<Json>
  cpuMicroseconds(): number
}

export interface OpenDocument {
  readonly path: string
  /** The path under which lines are added. */
  readonly lines: string
  readonly line: object
  /** The address of a line that was added. */
  lineAt(added: Json): string
}

type Call = Books['call']

/** One connection that stays open, as with any client. */
function caller(origin: string, headers: Readonly<Record<string, string>>): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async (method, path, body, expects) => {
    const answer = await ask(`${origin}/${path}`, {
      method,
      agent,
      headers: {
        ...headers,
        'content-type': 'application/json',
        ...(method === 'PATCH' ? { 'if-match': '*' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status === expects) return answer.body === '' ? {} : JSON.parse(answer.body)
    throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
  }
}

const cpuOf = (child: Child) => (): number => child.figures()?.cpuMicroseconds ?? 0

/** The most lines that are created together with their document. */
const nestedMax = 1_000

const manyOf = (count: number, line: object): object[] => Array.from({ length: count }, () => line)

interface OnStore {
  readonly name: string
  /** A `postgres://` address; undefined for SQLite in the home. */
  readonly store: string | undefined
}

/** Where the business application answers. */
export const businessPath = '/api/v2.0'

const onSqlite: OnStore = { name: 'Armature', store: undefined }

export async function openArmature(
  place: Place,
  forServer: ForServer,
  { name, store }: OnStore = onSqlite,
): Promise<Books> {
  const given = commandOf(place)
  const environment = { ...given.environment, ...(store && { ARMATURE_STORE: store }) }
  const child = new Child({ ...given, environment, command: forServer(given.command) })
  const { headers } = await waitForAccess(place, child)
  return {
    ...(await openCompany(place, headers)),
    name,
    note: `token checked, caller authorized, every request; ${store === undefined ? 'SQLite' : 'PostgreSQL'}, flushed before the answer; item, tax and discount rules looked up`,
    calculates: true,
    cpuMicroseconds: cpuOf(child),
    [Symbol.asyncDispose]: () => child.stop(),
  }
}

/** A company on a started Armature, with what a line needs: an item, a customer, and their taxes. */
export async function openCompany(
  { origin }: Place,
  headers: Readonly<Record<string, string>>,
): Promise<Pick<Books, 'documents' | 'document' | 'open' | 'call'>> {
  const call = caller(`${origin}${businessPath}`, headers)
  const company = `companies(${(await call('POST', 'companies', { name: 'Bench' }, 201))['id']})`
  const make = (set: string, body: object): Promise<Json> =>
    call('POST', `${company}/${set}`, body, 201)
  const area = await make('taxAreas', { code: 'HOME' })
  await make('taxGroups', { code: 'A' })
  await make('taxRates', { taxAreaCode: 'HOME', taxGroupCode: 'A', taxPercent: 5 })
  await make('unitsOfMeasure', { code: 'PCS' })
  const item = await make('items', {
    displayName: 'Chair',
    unitPrice: 54.9,
    baseUnitOfMeasureCode: 'PCS',
    taxGroupCode: 'A',
  })
  const customer = await make('customers', {
    displayName: 'Adatum',
    taxLiable: true,
    taxAreaId: area['id'],
  })
  const line = { itemId: item['id'], quantity: 3 }
  const documents = `${company}/salesInvoices`
  const document = (count: number): object => ({
    customerId: customer['id'],
    salesInvoiceLines: manyOf(count, line),
  })
  return {
    documents,
    document,
    async open(count) {
      const { id } = await call('POST', documents, document(Math.min(count, nestedMax)), 201)
      const path = `${documents}(${id})`
      const lines = `${path}/salesInvoiceLines`
      for (let more = nestedMax; more < count; more++) await call('POST', lines, line, 201)
      return { path, lines, line, lineAt: (added) => `${lines}(${added['id']})` }
    },
    call,
  }
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const modules = here('../node_modules')
const startTries = 100
const startWaitMilliseconds = 100

async function untilAnswers(child: Child, call: Call, path: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    child.assertRunning()
    try {
      await call('GET', path, undefined, 200)
      return
    } catch (error) {
      // Not listening yet.
      if (tries >= startTries) throw error
      await sleep(startWaitMilliseconds)
    }
  }
}

/** SAP CAP with the same document and lines, on its SQLite service; amounts by the handlers in `cap/srv`. */
export async function openCap(place: Place, forServer: ForServer): Promise<Books> {
  const folder = join(place.folder, 'cap')
  await cp(here('cap'), folder, { recursive: true })
  await symlink(modules, join(folder, 'node_modules'))
  const bin = (name: string): string => join(modules, '@sap/cds/bin', name)
  execFileSync(process.execPath, [bin('deploy.js')], { cwd: folder, stdio: 'ignore' })
  const child = new Child({
    command: forServer([process.execPath, bin('serve.js'), 'all']),
    environment: { PORT: String(place.port), NODE_ENV: 'production' },
    folder,
  })
  const call = caller(`${place.origin}/odata/v4/bench`, {})
  await untilAnswers(child, call, 'SalesInvoices?$top=1')
  const line = { quantity: 3 }
  const documents = 'SalesInvoices'
  const document = (count: number): object => ({ salesInvoiceLines: manyOf(count, line) })
  return {
    name: 'SAP CAP',
    note: 'no token, no caller; SQLite, flushed before the answer; the least of handlers that gives right amounts, no rules',
    calculates: true,
    documents,
    document,
    async open(count) {
      const { ID: id } = await call('POST', documents, document(count), 201)
      const path = `${documents}(${id})`
      const lines = `${path}/salesInvoiceLines`
      return { path, lines, line, lineAt: (added) => `${lines}(${added['ID']})` }
    },
    call,
    cpuMicroseconds: cpuOf(child),
    [Symbol.asyncDispose]: () => child.stop(),
  }
}

/** The Fiori elements mock server: the same entities in memory, with documents of these sizes from the start. */
export async function openMockServer(
  place: Place,
  forServer: ForServer,
  sizes: readonly number[],
): Promise<Books> {
  const data = join(place.folder, 'data')
  await mkdir(data)
  const ids = new Map(sizes.map((size) => [size, randomUUID()]))
  const lineOf = (id: string): object => ({ document_ID: id, unitPrice: 54.9, quantity: 3 })
  const write = (name: string, rows: readonly object[]): Promise<void> =>
    writeFile(join(data, `${name}.json`), JSON.stringify(rows))
  await write(
    'SalesInvoices',
    [...ids.values()].map((ID) => ({ ID })),
  )
  await write(
    'SalesInvoiceLines',
    [...ids].flatMap(([size, id]) =>
      Array.from({ length: size }, () => ({ ID: randomUUID(), ...lineOf(id) })),
    ),
  )
  const child = new Child({
    command: forServer([process.execPath, here('fe-mockserver/serve.ts')]),
    environment: { PORT: String(place.port), MOCK_DATA: data, NODE_ENV: 'production' },
  })
  const call = caller(`${place.origin}/odata/v4/bench`, {})
  await untilAnswers(child, call, 'SalesInvoices?$top=1')
  return {
    name: 'Fiori mock server',
    note: 'all in memory, no token, no caller, no amounts; keeps the lines that come with a document inside of it, and changes lines by their set alone',
    calculates: false,
    documents: 'SalesInvoices',
    document: (count) => ({ salesInvoiceLines: manyOf(count, { quantity: 3 }) }),
    async open(size) {
      const id = String(ids.get(size))
      return {
        path: `SalesInvoices(${id})`,
        lines: 'SalesInvoiceLines',
        line: lineOf(id),
        lineAt: (added) => `SalesInvoiceLines(${added['ID']})`,
      }
    },
    call,
    cpuMicroseconds: cpuOf(child),
    [Symbol.asyncDispose]: () => child.stop(),
  }
}
