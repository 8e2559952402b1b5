/** The contestants of the business scenario: started, given what a document needs, and asked in their own words. */

import { execFileSync } from 'node:child_process'
import { cp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { commandOf, waitForAccess } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { Child } from '../harness/child.ts'
import type { Place } from '../scenario.ts'

export type Json = Readonly<Record<string, unknown>>

/** One server with a company in it, ready for documents. */
export interface Books extends AsyncDisposable {
  readonly name: string
  readonly note: string
  /** Where documents are made, below the origin. */
  readonly documents: string
  /** The body of a document with so many lines of 3 pieces at 54.90 and 5 % tax. */
  document(lines: number): object
  readonly line: object
  idOf(json: Json): string
  call(method: string, path: string, body: object | undefined, expects: number): Promise<Json>
  cpuMicroseconds(): number
}

function caller(
  origin: string,
  headers: Readonly<Record<string, string>>,
): (method: string, path: string, body: object | undefined, expects: number) => Promise<Json> {
  return async (method, path, body, expects) => {
    const answer = await ask(`${origin}/${path}`, {
      method,
      headers: {
        ...headers,
        'content-type': 'application/json',
        ...(method === 'PATCH' ? { 'if-match': '*' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status === expects) return JSON.parse(answer.body)
    throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
  }
}

const cpuOf = (child: Child) => (): number => child.figures()?.cpuMicroseconds ?? 0

export async function openArmature(place: Place): Promise<Books> {
  const child = new Child(commandOf(place))
  const { headers } = await waitForAccess(place, child)
  const call = caller(`${place.origin}/api/v2.0`, headers)
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
  return {
    name: 'Armature',
    note: 'token checked, caller authorized, every request; SQLite, flushed before the answer; item, tax and discount rules looked up',
    documents: `${company}/salesInvoices`,
    document: (count) => ({
      customerId: customer['id'],
      salesInvoiceLines: Array.from({ length: count }, () => line),
    }),
    line,
    idOf: (json) => String(json['id']),
    call,
    cpuMicroseconds: cpuOf(child),
    [Symbol.asyncDispose]: () => child.stop(),
  }
}

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
const project = fileURLToPath(new URL('cap', import.meta.url))
const startTries = 100
const startWaitMilliseconds = 100

/** SAP CAP with the same document and lines, on its SQLite service; amounts by the handlers in `cap/srv`. */
export async function openCap(place: Place): Promise<Books> {
  const folder = join(place.folder, 'cap')
  await cp(project, folder, { recursive: true })
  await symlink(modules, join(folder, 'node_modules'))
  const bin = (name: string): string => join(modules, '@sap/cds/bin', name)
  execFileSync(process.execPath, [bin('deploy.js')], { cwd: folder, stdio: 'ignore' })
  const child = new Child({
    command: [process.execPath, bin('serve.js'), 'all'],
    environment: { PORT: String(place.port), NODE_ENV: 'production' },
    folder,
  })
  const call = caller(`${place.origin}/odata/v4/bench`, {})
  for (let tries = 0; ; tries++) {
    child.assertRunning()
    try {
      await call('GET', 'SalesInvoices?$top=1', undefined, 200)
      break
    } catch (error) {
      // Not listening yet.
      if (tries >= startTries) throw error
      await sleep(startWaitMilliseconds)
    }
  }
  const line = { quantity: 3 }
  return {
    name: 'SAP CAP',
    note: 'no token, no caller; SQLite in WAL mode with its default flush; the least of handlers that gives right amounts, no rules',
    documents: 'SalesInvoices',
    document: (count) => ({ salesInvoiceLines: Array.from({ length: count }, () => line) }),
    line,
    idOf: (json) => String(json['ID']),
    call,
    cpuMicroseconds: cpuOf(child),
    [Symbol.asyncDispose]: () => child.stop(),
  }
}
