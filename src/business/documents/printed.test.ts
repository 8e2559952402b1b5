/** A document as a page and as a PDF: its figures, its languages, any text; and how Chromium lays it out. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createBusiness } from '../service.ts'
import { inTurn, openCompany } from '../testing/books.ts'
import { pdfText } from '../testing/pdf-text.ts'
import { pngOf } from '../testing/png.ts'

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: an invoice as a page`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    let mayRead = true
    const business = createBusiness({
      sql: company.sql,
      clock: { now: () => Date.UTC(2026, 10, 21) },
      ids: { uuid: () => randomUUID(), secret: () => 'x' },
      namespace: 'Vendor',
      publicUrl: () => 'http://host',
      conflictStatus: 412,
      groupsOf: async () => [],
      administers: async () => mayRead,
    })
    const get = (path: string, headers: Readonly<Record<string, string>>) =>
      business.handle({
        method: 'GET',
        version: 'v2.0',
        path: `companies(${company.companyId})/${path}`,
        search: '',
        headers,
        body: undefined,
        principal: {
          id: randomUUID(),
          type: 'User',
          tenantId: 't',
          displayName: 'x',
          clientId: 'x',
          groups: [],
        },
        correlationId: 'c0ffee',
      })
    const page = async (path: string, language?: string): Promise<string> => {
      const answer = await get(path, {
        accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
        ...(language === undefined ? {} : { 'accept-language': language }),
      })
      assert.equal(answer.status, 200, answer.body)
      assert.equal(answer.headers['Content-Type'], 'text/html; charset=utf-8')
      assert.match(answer.headers['Content-Security-Policy'] ?? '', /default-src 'none'/)
      return answer.body ?? ''
    }
    const id = await company.create('salesInvoices', {
      customerId: company.customerId,
      customerPurchaseOrderReference: '<script>alert(1)</script>',
      discountAmount: 1000,
      salesInvoiceLines: [
        { itemId: company.itemId, quantity: 1234.5, discountPercent: 10 },
        { description: 'With "thanks" & <b>joy</b>' },
      ],
    })
    const invoice = `salesInvoices(${id})`

    await t.test('its figures, and words that stay words', async () => {
      const text = await page(invoice)
      for (const one of [
        '<html lang="en">',
        'Invoice (Draft)',
        'Adatum',
        '1,234.5 PCS',
        '10 %',
        '111,105.00',
        'Tax 5 % (110,105.00)',
        '5,505.25',
        '115,610.25',
        '-1,000.00',
        '&lt;script&gt;alert(1)&lt;/script&gt;',
        'With &quot;thanks&quot; &amp; &lt;b&gt;joy&lt;/b&gt;',
      ]) {
        assert.ok(text.includes(one), `${one} in ${text}`)
      }
      assert.doesNotMatch(text, /<script|<b>/)
    })

    await t.test('in the language that is asked for, or that of the country', async () => {
      assert.match(await page(invoice, 'pt;q=1, de-CH'), /<html lang="de">.*115\.610,25/s)
      await company.change('customers', company.customerId, { country: 'FR' }, '*')
      const french = await company.create('salesQuotes', { customerId: company.customerId })
      assert.match(await page(`salesQuotes(${french})`), /<html lang="fr">.*Devis/s)
      assert.match(await page(`salesQuotes(${french})`, 'nl'), /Offerte/)
    })

    await t.test('whose invoice it is: what the company tells of itself', async () => {
      const [about] = await company.sql.all('select * from business_company_information')
      assert.equal(about?.['display_name'], 'Cronus')
      assert.match(await page(invoice), /<address class="seller">Cronus<\/address>/)
      const read = await get('companyInformation', {})
      const [shown] = JSON.parse(read.body ?? '').value
      assert.deepEqual([shown.displayName, shown.currencyCode], ['Cronus', 'USD'])
      const body = {
        displayName: 'Cronus & Sons',
        addressLine1: '7 Quay',
        postalCode: '1000',
        city: 'Oslo',
        taxRegistrationNumber: 'NO 1',
        currencyCode: 'EUR',
      }
      await company.change('companyInformation', String(about?.['id']), body, '*')
      const text = await page(invoice)
      assert.match(text, />Cronus &amp; Sons\n7 Quay\n1000 Oslo\nTax number NO 1<\/address>/)
      assert.match(text, /· Cronus &amp; Sons<\/title>/)
      await assert.rejects(company.create('companyInformation', body))
      await assert.rejects(company.remove('companyInformation', String(about?.['id'])))
    })

    await t.test(
      'by the template of the company: its logo, colour, bank and last words',
      async () => {
        const [about] = await company.sql.all('select id from business_company_information')
        const tell = (body: Readonly<Record<string, unknown>>) =>
          company.change('companyInformation', String(about?.['id']), body, '*')
        const logo = pngOf(30, 20, [0, 0x99, 0x33]).toString('base64')
        const animated = pngOf(1, 1, [0, 0, 0], ['acTL', Buffer.alloc(8)])
        // The format forbids a second transparency, and a PDF fails by it.
        const twice = pngOf(1, 1, [0, 0, 0, 9], ['tRNS', Buffer.alloc(6)])
        for (const body of [
          { logo: 'iVBORw0KGgo=' },
          { logo: logo.slice(0, -8) },
          { logo: animated.toString('base64') },
          { logo: twice.toString('base64') },
          { logo: pngOf(1001, 1, [0, 0, 0]).toString('base64') },
          { documentColor: 'red' },
          { documentColor: '#0a5c3}' },
          { iban: 'GB33BUKB20201555555556' },
        ])
          await assert.rejects(tell(body), { code: 'Application_FieldValidationException' })
        assert.doesNotMatch(await page(invoice), /<img|<footer|class="slip"/)
        await tell({
          logo,
          documentColor: '#0a5c36',
          documentFooter: 'Seat: Oslo\n<b>Thanks</b>',
          documentTaxTotalOnly: true,
          bankName: 'Bank of Oslo',
          iban: 'GB33 BUKB 2020 1555 5555 55',
          swiftCode: 'BUKBGB22',
        })
        const draft = await page(invoice)
        assert.ok(draft.includes(`src="data:image/png;base64,${logo}"`))
        assert.match(draft, /h1,h2,tr.total td\{color:#0a5c36\}/)
        assert.match(draft, /<footer>Seat: Oslo\n&lt;b&gt;Thanks&lt;\/b&gt;<\/footer>/)
        assert.match(draft, /<td>Tax<\/td><td>5,505.25<\/td>/)
        assert.doesNotMatch(draft, /class="slip"/, 'a draft is not to be paid')
        const open = await company.create('salesInvoices', {
          customerId: company.customerId,
          salesInvoiceLines: [{ itemId: company.itemId, quantity: 1 }],
        })
        await company.act('salesInvoices', open, 'post')
        const slip = /class="slip"><h2>Zahlschein<.*Empfänger.*Cronus.*IBAN.*GB33 BUKB.*105,00 USD/s
        assert.match(await page(`salesInvoices(${open})`, 'de'), slip)
        const pdf = async () => {
          const english = { 'accept-language': 'en' }
          const answer = await get(`salesInvoices(${open})/pdfDocument/content`, english)
          return answer.bytes ?? assert.fail(answer.body)
        }
        const bytes = await pdf()
        assert.deepEqual(await pdf(), bytes)
        const { text } = pdfText(bytes)
        for (const one of [
          'Payment slip',
          'Bank of Oslo',
          'GB33 BUKB 2020',
          '105.00 USD',
          'Seat: Oslo',
        ])
          assert.ok(text.includes(one), `${one} in ${text}`)
        assert.match(Buffer.from(bytes).toString('latin1'), /\/Subtype \/Image/)
        await company.create('customerPayments', { appliesToInvoiceId: open, amount: 105 })
        assert.doesNotMatch(await page(`salesInvoices(${open})`), /class="slip"/, 'paid')
        const plain = { logo: '', documentColor: '', documentFooter: '', iban: '' }
        await tell({ ...plain, documentTaxTotalOnly: false })
      },
    )

    await t.test('as a PDF: the same words and figures, the same bytes', async () => {
      const pdf = async (path: string, language = 'en') => {
        const answer = await get(`${path}/pdfDocument/content`, { 'accept-language': language })
        assert.equal(answer.status, 200, answer.body)
        assert.equal(answer.headers['Content-Type'], 'application/pdf')
        return answer.bytes ?? assert.fail('no bytes')
      }
      const bytes = await pdf(invoice)
      const { text, pages } = pdfText(bytes)
      assert.equal(pages, 1)
      for (const one of [
        'Invoice (Draft)',
        'Cronus & Sons',
        'Tax number NO 1',
        'Adatum',
        '<script>alert(1)</script>',
        '1,234.5 PCS',
        '10 %',
        '111,105.00',
        'With "thanks" & <b>joy</b>',
        'Tax 5 % (110,105.00)',
        '115,610.25',
        '1 / 1',
      ]) {
        assert.ok(text.includes(one), `${one} in ${text}`)
      }
      assert.deepEqual(await pdf(invoice), bytes)
      assert.match(pdfText(await pdf(invoice, 'de')).text, /Rechnung/)

      const answer = await get(`${invoice}/pdfDocument`, {})
      const {
        parentId,
        parentType,
        'pdfDocumentContent@odata.mediaReadLink': link,
      } = JSON.parse(answer.body ?? '')
      assert.deepEqual([parentId, parentType], [id, 'Sales Invoice'])
      assert.equal(
        link,
        `http://host/api/v2.0/companies(${company.companyId})/${invoice}/pdfDocument/content`,
      )
      const old = await get(`${invoice}/pdfDocument(${id})/pdfDocumentContent`, {})
      assert.deepEqual([old.status, old.bytes?.length], [200, bytes.length])
      for (const path of [
        `customers(${company.customerId})`,
        'salesInvoices',
        `salesInvoices(${randomUUID()})`,
      ])
        assert.equal((await get(`${path}/pdfDocument/content`, {})).status, 404, path)
      mayRead = false
      assert.equal((await get(`${invoice}/pdfDocument/content`, {})).status, 403)
      mayRead = true
    })

    await t.test(
      'a PDF of many lines, in letters of several alphabets, on many pages',
      async () => {
        const many = await company.create('salesInvoices', {
          customerId: company.customerId,
          salesInvoiceLines: Array.from({ length: 120 }, (_, at) => ({
            itemId: company.itemId,
            quantity: 1,
            description: `${at} Łódź Ελλάδα Улица ${'of many words '.repeat(at % 5)}`,
          })),
        })
        const answer = await get(`salesInvoices(${many})/pdfDocument/content`, {
          'accept-language': 'en',
        })
        const { text, pages } = pdfText(answer.bytes ?? assert.fail(answer.body))
        assert.ok(pages > 3, `${pages}`)
        for (let at = 0; at < 120; at++)
          assert.ok(text.includes(`${at} Łódź Ελλάδα Улица`), `${at}`)
        assert.ok(text.includes(`${pages} / ${pages}`))
        assert.equal(text.split('Description').length - 1, pages, 'titles on each page')
      },
    )

    await t.test('the amount to be paid is printed once it is posted', async () => {
      assert.doesNotMatch(await page(invoice), /To be paid/)
      await company.act('salesInvoices', id, 'post')
      const text = await page(invoice)
      assert.match(text, /To be paid/)
      assert.doesNotMatch(text, /Draft/)
    })

    await t.test('only of documents, for who may read them, where they are', async () => {
      const list = await get('salesInvoices', { accept: 'text/html' })
      assert.match(list.headers['Content-Type'] ?? '', /^application\/json/)
      const json = await get(invoice, { accept: 'application/json, text/html' })
      assert.match(json.headers['Content-Type'] ?? '', /^application\/json/)
      const nowhere = await get(`salesInvoices(${randomUUID()})`, { accept: 'text/html' })
      assert.equal(nowhere.status, 404)
      mayRead = false
      assert.equal((await get(invoice, { accept: 'text/html' })).status, 403)
      mayRead = true
    })
  })
}
