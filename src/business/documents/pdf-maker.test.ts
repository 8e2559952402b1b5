/** PDFs of hostile documents: limited in pages, time and memory, and none affects those that wait behind it. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pdfText } from '../testing/pdf-text.ts'
import { pdfAddress } from './pdf-document.ts'
import { createPdfMaker } from './pdf-maker.ts'
import { type Printed, plainLook } from './printed.ts'

/** Each line is two pages long. */
function printedOf(lines: number, description = '\n'.repeat(99)): Printed {
  return {
    language: 'en',
    title: 'Invoice',
    number: '7',
    company: 'Cronus',
    seller: 'Cronus',
    billTo: 'Adatum',
    facts: [],
    head: ['Description', 'Quantity', 'Price', 'Discount', 'Tax', 'Amount'],
    rows: Array.from({ length: lines }, () => ({ description, cells: [] })),
    left: 1000,
    more: 'more lines',
    sums: [],
    look: plainLook,
    changedAt: 0,
  }
}

describe('a PDF', () => {
  test('of lines that are pages long has a bound of pages, and says what is left out', async () => {
    const { text, pages } = pdfText(await createPdfMaker().make('a', printedOf(300)))
    assert.equal(pages, 502)
    assert.ok(text.includes('… 1050 more lines'), text.slice(-300))
  })

  test('that takes too much memory or time is refused, and the next one is made', async () => {
    const limits = { threadsMax: 1, seconds: 20, heapMegabytes: 32, idleSeconds: 60 }
    const small = createPdfMaker(limits)
    const long = printedOf(300_000, 'x')
    await assert.rejects(small.make('a', long), {
      code: 'BadRequest',
      message: /more than the 32 MB/,
    })
    assert.equal(pdfText(await small.make('a', printedOf(1, 'one'))).pages, 1)
    const quick = createPdfMaker({ ...limits, heapMegabytes: 192, seconds: 0.01 })
    const [first, second] = [quick.make('a', printedOf(300)), quick.make('a', printedOf(300))]
    await assert.rejects(first, { code: 'BadRequest', message: /more than the 0.01 seconds/ })
    await assert.rejects(second, { code: 'BadRequest' })
  })

  test('waits for no queue of another owner', async () => {
    const maker = createPdfMaker()
    const order: string[] = []
    const make = async (owner: string, lines: number): Promise<void> => {
      await maker.make(owner, printedOf(lines))
      order.push(owner)
    }
    const all = [...Array.from({ length: 6 }, () => make('a', 100)), make('b', 1)]
    await Promise.all(all)
    // A slow machine may end some before the thread of this one has loaded its code.
    assert.ok(order.indexOf('b') <= 3, order.join())
  })

  test('is not looked for at the end of an address again and again', () => {
    const path = `salesInvoices(1)${'/pdfDocument('.repeat(100)}`
    assert.equal(pdfAddress({ path }), undefined)
    const own = 'salesInvoices(1)/pdfDocument(2)/content'
    assert.deepEqual(pdfAddress({ path: own }), { path: 'salesInvoices(1)', isContent: true })
  })
})
