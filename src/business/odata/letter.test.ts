/**
 * OData 4.0 to the letter, on both stores: values of a request, orders of expressions, formats, versions, metadata.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createBusiness } from '../service.ts'
import { dialects, openCompany } from '../testing/books.ts'

const now = Date.UTC(2026, 10, 21, 12)

for (const dialect of dialects) {
  test(`${dialect}: values, orders and formats of OData 4.0`, async (t) => {
    await using opened = await openCompany(t, dialect)
    if (opened === undefined) return
    const business = createBusiness({
      sql: opened.sql,
      clock: { now: () => now },
      ids: { uuid: () => randomUUID(), secret: () => 'x' },
      namespace: 'Vendor',
      publicUrl: () => 'http://host',
      conflictStatus: 412,
      groupsOf: async () => [],
      administers: async () => true,
    })
    const send = async (
      status: number,
      address: string,
      headers: Readonly<Record<string, string>> = {},
    ) => {
      const [path = '', search = ''] = address.split('?')
      const answer = await business.handle({
        method: 'GET',
        version: 'v2.0',
        path,
        search: encodeURI(search).replaceAll('+', '%2B'),
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
      assert.equal(answer.status, status, `${address}: ${answer.body}`)
      return answer
    }
    const company = `companies(${opened.companyId})`
    const list = async (
      query: string,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Record<string, unknown> & { value: Record<string, unknown>[] }> =>
      JSON.parse((await send(200, `${company}/customers?${query}`, headers)).body ?? '')
    const names = async (query: string): Promise<unknown> =>
      (await list(`$filter=startswith(number,'L') and (${query})`)).value.map(
        ({ number }) => number,
      )
    for (const [number, displayName] of [
      ['L1', 'beta'],
      ['L2', 'ALPHA'],
      ['L3', 'Gamma and Sons'],
    ] as const) {
      await opened.create('customers', { number, displayName, creditLimit: number.length })
    }
    const invoiceId = await opened.create('salesInvoices', { customerId: opened.customerId })
    await opened.create(
      'salesInvoiceLines',
      { itemId: opened.itemId, quantity: 3 },
      {
        documentId: invoiceId,
      },
    )
    const invoice = `${company}/salesInvoices(${invoiceId})`

    await t.test('now() is one moment, in filters and in orders', async () => {
      assert.deepEqual(await names('lastModifiedDateTime lt now()'), ['L1', 'L2', 'L3'])
      assert.deepEqual(await names('lastModifiedDateTime gt now()'), [])
      assert.deepEqual(await names('year(now()) eq 2026 and hour(now()) eq 12'), ['L1', 'L2', 'L3'])
      const refused = await send(400, `${company}/customers?$orderby=now()`)
      assert.match(refused.body ?? '', /something of each row/)
    })

    await t.test('parameter aliases are values, and null without one', async () => {
      const told = await list("$filter=number eq @n or number eq @other&@n='L2'")
      assert.deepEqual(
        told.value.map(({ number }) => number),
        ['L2'],
      )
      const late = await list('$filter=lastModifiedDateTime gt @day&@day=now()')
      assert.equal(late.value.length, 0)
      const bad = await send(400, `${company}/customers?$filter=number eq @n&@n=number eq 'L1'`)
      assert.match(bad.body ?? '', /option '@n'.*a value was expected/)
      await send(400, `${company}/customers?$filter=number eq @n&@n='L1`)
    })

    await t.test('orders of expressions, page by page', async () => {
      const query = "$filter=startswith(number,'L')&$orderby=tolower(displayName),number"
      const whole = (await list(query)).value.map(({ number }) => number)
      assert.deepEqual(whole, ['L2', 'L1', 'L3'])
      const paged: unknown[] = []
      let next: string | undefined = `${company}/customers?${query}`
      while (next !== undefined) {
        const page = JSON.parse(
          (await send(200, decodeURI(next), { prefer: 'odata.maxpagesize=1' })).body ?? '',
        )
        paged.push(...page.value.map(({ number }: { number: string }) => number))
        next = page['@odata.nextLink']?.replace('http://host/api/v2.0/', '')
      }
      assert.deepEqual(paged, whole)
      const longest = await list(
        "$filter=startswith(number,'L')&$orderby=length(displayName) mul 2 desc,number desc",
      )
      assert.deepEqual(
        longest.value.map(({ number }) => number),
        ['L3', 'L2', 'L1'],
      )
      await send(400, `${company}/customers?$orderby=nothing(displayName)`)
      await send(400, `${company}/customers?$orderby=5`)
    })

    await t.test('a blank before an expression is refused', async () => {
      for (const query of ["$filter= number eq 'L1'", '$orderby= number']) {
        const refused = await send(400, `${company}/customers?${query}`)
        assert.match(refused.body ?? '', /right behind the equals sign/, query)
      }
    })

    await t.test('odata.metadata=none says nothing about the answer', async () => {
      const answer = await send(200, `${invoice}?$expand=salesInvoiceLines`, {
        accept: 'application/json;odata.metadata=none',
      })
      assert.match(answer.headers['Content-Type'] ?? '', /odata\.metadata=none/)
      assert.doesNotMatch(answer.body ?? '', /@odata/)
      const rows = await list('$count=true&$format=application/json;odata.metadata=none')
      assert.deepEqual(Object.keys(rows), ['@odata.count', 'value'])
      const bare = await list('$format=application/json;odata.metadata=none')
      assert.deepEqual(Object.keys(bare), ['value'])
      const name = await send(200, `${invoice}/customerName`, {
        accept: 'application/json;odata.metadata=none',
      })
      assert.deepEqual(Object.keys(JSON.parse(name.body ?? '')), ['value'])
      await send(400, `${company}/customers?$format=application/json;odata.metadata=some`)
    })

    await t.test('odata.metadata=full says of each row what it is and where', async () => {
      const answer = await send(200, `${invoice}?$expand=salesInvoiceLines`, {
        accept: 'application/json; odata.metadata=full',
      })
      const told = JSON.parse(answer.body ?? '')
      assert.equal(told['@odata.type'], '#Vendor.NAV.salesInvoice')
      assert.equal(told['@odata.id'], `http://host/api/v2.0/${invoice}`)
      assert.equal(told['invoiceDate@odata.type'], '#Date')
      assert.equal(told['status@odata.type'], '#Vendor.NAV.salesInvoiceEntityBufferStatus')
      assert.equal(
        told['customer@odata.navigationLink'],
        `http://host/api/v2.0/${invoice}/customer`,
      )
      const [line] = told.salesInvoiceLines
      assert.equal(line['@odata.type'], '#Vendor.NAV.salesInvoiceLine')
      assert.equal(line['quantity@odata.type'], '#Decimal')
      assert.match(line['@odata.etag'], /^W\//)
    })

    await t.test('IEEE754Compatible: decimals and counts are texts', async () => {
      const answer = await send(200, `${invoice}?$expand=salesInvoiceLines`, {
        accept: 'application/json;IEEE754Compatible=true',
      })
      assert.match(answer.headers['Content-Type'] ?? '', /IEEE754Compatible=true/)
      const told = JSON.parse(answer.body ?? '')
      assert.equal(told.salesInvoiceLines[0].quantity, '3')
      assert.equal(told.salesInvoiceLines[0].sequence, 10_000)
      assert.equal(typeof told.totalAmountIncludingTax, 'string')
      const rows = await list('$count=true', { accept: 'application/json;IEEE754Compatible=true' })
      assert.equal(rows['@odata.count'], String(rows.value.length))
    })

    await t.test('contexts name what is expanded', async () => {
      const rows = await list('$select=number&$expand=currency($select=code)')
      assert.match(
        String(rows['@odata.context']),
        /#companies\([^)]*\)\/customers\(number,currency\(code\)\)$/,
      )
      const one = JSON.parse(
        (await send(200, `${invoice}?$expand=salesInvoiceLines($expand=item)`)).body ?? '',
      )
      assert.match(
        one['@odata.context'],
        /salesInvoices\(salesInvoiceLines\(item\(\)\)\)\/\$entity$/,
      )
    })

    await t.test('versions and tags of a reader', async () => {
      await send(200, invoice, { 'odata-maxversion': '4.01', 'odata-version': '4.0' })
      assert.match((await send(400, invoice, { 'odata-maxversion': '3.0' })).body ?? '', /4\.0/)
      await send(400, invoice, { 'odata-version': '3.0' })
      const { ETag = '' } = (await send(200, invoice, { 'if-match': '*' })).headers
      await send(200, invoice, { 'if-match': ETag })
      await send(412, invoice, { 'if-match': 'W/"b3RoZXI"' })
    })

    await t.test('what describes the interface', async () => {
      const metadata = (await send(200, '$metadata')).body ?? ''
      assert.match(
        metadata,
        /<Property Name="totalTaxAmount"[^>]*><Annotation Term="Org\.OData\.Core\.V1\.Computed" Bool="true"\/>/,
      )
      assert.match(metadata, /edmx:Include Namespace="Org\.OData\.Capabilities\.V1"/)
      const tracked = (set: string) =>
        new RegExp(`<EntitySet Name="${set}"(?:(?!</EntitySet>).)*ChangeTracking`, 's')
      assert.match(metadata, tracked('customers'))
      assert.doesNotMatch(metadata, tracked('salesInvoiceLines'))
      const definitions = JSON.parse((await send(200, 'entityDefinitions')).body ?? '')
      const customers = definitions.value.find(
        ({ entitySetName }: { entitySetName: string }) => entitySetName === 'customers',
      )
      assert.deepEqual(customers.entityCaptions, [{ languageCode: 1033, caption: 'Customer' }])
      assert.ok(customers.properties.some(({ name }: { name: string }) => name === 'displayName'))
    })
  })
}
