/**
 * Lines of the business application over HTTP: POST, GET and PATCH in documents of 10, 1,000 and 10,000 lines, and a
 * document with 50 lines in one request. Every amount that comes back is checked.
 */

import { commandOf, waitForAccess } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { Child } from '../harness/child.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureScenario } from '../scenario.ts'

const asked = 200
const sizes = [10, 1_000, 10_000]
/** Lines of the document that is made in one request. */
const piece = 50

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Lines of sales invoices',
  about:
    'One client, one request after the other; milliseconds. SQLite, flushed before the answer; token checked and caller authorized at every request, amounts checked at every answer.',
  measure,
}

type Json = Readonly<Record<string, unknown>>

async function measure(name: string, measuring: Measuring) {
  const place = await makePlace(measuring.dataFolder, name)
  await using child = new Child(commandOf(place))
  const { headers } = await waitForAccess(place, child)
  const root = `${place.origin}/api/v2.0`
  async function call(
    method: string,
    path: string,
    body: object | undefined,
    expects: number,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Json> {
    const answer = await ask(`${root}/${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json', ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status !== expects)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
    return JSON.parse(answer.body)
  }
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
  const lines = Array.from({ length: piece }, () => line)

  const figures: ReturnType<typeof figureRow>[] = []
  async function timed(figure: string, work: (at: number) => Promise<void>): Promise<void> {
    measuring.progress(`${name}: ${figure}`)
    const times: number[] = []
    for (let at = 0; at < asked; at++) {
      const began = performance.now()
      await work(at)
      times.push(performance.now() - began)
    }
    const sorted = times.toSorted((a, b) => a - b)
    for (const [label, part] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      const value = sorted[Math.floor(sorted.length * part)] ?? 0
      figures.push(
        figureRow({
          figure: `${figure}, ${label}`,
          contestant: 'Armature',
          values: [value],
          digits: 2,
        }),
      )
    }
  }
  const check = (json: Json, field: string, wanted: number): void => {
    if (json[field] !== wanted) throw new Error(`${field} is ${json[field]}, not ${wanted}`)
  }

  await timed('a document with 50 lines', async () => {
    const made = await make('salesInvoices', {
      customerId: customer['id'],
      salesInvoiceLines: lines,
    })
    check(made, 'totalAmountExcludingTax', 8235)
    check(made, 'totalTaxAmount', 411.75)
  })
  for (const size of sizes) {
    const document = await make('salesInvoices', {
      customerId: customer['id'],
      salesInvoiceLines: Array.from({ length: size }, () => line),
    })
    const set = `${company}/salesInvoices(${document['id']})/salesInvoiceLines`
    const ids: string[] = []
    await timed(`add a line to ${size.toLocaleString('en')}`, async () => {
      const made = await call('POST', set, line, 201)
      check(made, 'netAmount', 164.7)
      ids.push(String(made['id']))
    })
    await timed(`get a line of ${size.toLocaleString('en')}`, async (at) => {
      check(await call('GET', `${set}(${ids[at]})`, undefined, 200), 'amountIncludingTax', 172.94)
    })
    await timed(`change a line of ${size.toLocaleString('en')}`, async (at) => {
      const changed = await call('PATCH', `${set}(${ids[at]})`, { quantity: 10 }, 200, {
        'if-match': '*',
      })
      check(changed, 'amountIncludingTax', 576.45)
    })
    const whole = await call('GET', `${company}/salesInvoices(${document['id']})`, undefined, 200)
    const net = Math.round((size * 164.7 + asked * 549) * 100)
    check(whole, 'totalAmountExcludingTax', net / 100)
    check(whole, 'totalTaxAmount', Math.round((net * 5) / 100) / 100)
  }
  return {
    rows: figures,
    notes: [],
    skipped: ['SAP CAP on SQLite and the Fiori mock server: not among the installed peers.'],
  }
}
