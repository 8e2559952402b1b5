/** An invoice as a browser draws it, with the template of its company: what stands where, and in which colour. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { readPrinted } from '#business/documents/printed.ts'
import { asPage } from '#business/documents/printed-page.ts'
import { Budget } from '#business/odata/budget.ts'
import { openCompany } from '#business/testing/books.ts'
import { pngOf } from '#business/testing/png.ts'
import { requireOrSkip } from '../require.ts'
import { faintTexts, openBrowser, overflows } from './browser.ts'
import { findChromium, howToGetChromium } from './find-chromium.ts'

const green = [0, 0x99, 0x33]

test('a picture of an invoice shows the logo, the total in the colour and the payment slip', async (t) => {
  if (!requireOrSkip(t, findChromium() !== undefined, howToGetChromium)) return
  await using company = await openCompany(t, 'sqlite')
  if (company === undefined) return
  const [about] = await company.sql.all('select id from business_company_information')
  const look = {
    logo: pngOf(120, 40, green).toString('base64'),
    documentColor: '#0a5c36',
    documentFooter: 'Seat: Oslo',
    bankName: 'Bank of Oslo',
    iban: 'GB33 BUKB 2020 1555 5555 55',
  }
  await company.change('companyInformation', String(about?.['id']), look, '*')
  const id = await company.create('salesInvoices', {
    customerId: company.customerId,
    salesInvoiceLines: [
      { itemId: company.itemId, quantity: 3, discountPercent: 10 },
      { description: 'of many words '.repeat(7).trim() },
    ],
  })
  await company.act('salesInvoices', id, 'post')
  const budget = Budget.ofTransaction()
  const reading = { reads: company.sql, companyId: company.companyId, id, budget }
  const answer = await asPage(await readPrinted({ ...reading, acceptLanguage: 'en' }), budget)
  await using server = createServer((_, response) => {
    response.writeHead(200, answer.headers).end(answer.body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  await using browser = await openBrowser({ width: 900 })
  const { page, complaints } = browser
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const [logo, slip, total] = await Promise.all(
    ['.logo', '.slip', 'tr.total'].map((one) => page.locator(one).boundingBox()),
  )
  assert.ok(logo && slip && total, 'all are laid out')
  assert.ok(logo.y + logo.height < total.y && total.y + total.height < slip.y, 'in this order')
  const picture = (await page.screenshot({ fullPage: true })).toString('base64')
  const at = [logo.x + logo.width / 2, logo.y + logo.height / 2]
  await page.goto('about:blank')
  const drawn = await page.evaluate<number[]>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${picture}'
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
    canvas.drawImage(image, 0, 0)
    return [...canvas.getImageData(${at[0]}, ${at[1]}, 1, 1).data].slice(0, 3)
  })()`)
  assert.deepEqual(drawn, green, 'the logo in the picture')
  await page.setContent(answer.body ?? '')
  assert.deepEqual(await faintTexts(page), [])
  assert.equal(await overflows(page), false)
  assert.deepEqual(complaints, [])
})
