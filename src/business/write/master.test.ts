/** What master data keeps, because rows elsewhere depend on it; on the stores in turn. */

import assert from 'node:assert/strict'
import { noGuid } from '../entity.ts'
import { amount, inTurn, openCompany } from '../testing/books.ts'
import { caller } from '../testing/caller.ts'

const isRuleBroken = { code: 'Application_DialogException' }

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: what is fixed at creation is not emptied either`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId, companyId, sql } = company
    const rows = (table: string) => sql.all(`select * from business_${table}`)
    const idOf = async (table: string) => String((await rows(table))[0]?.['id'])
    const right = await company.create('accessRights', { principalId: companyId, role: 'read' })
    const fixed = [
      ['customers', customerId, 'number'],
      ['items', itemId, 'number'],
      ['taxRates', await idOf('tax_rates'), 'taxAreaId'],
      ['taxRates', await idOf('tax_rates'), 'taxGroupCode'],
      ['taxGroups', await idOf('tax_groups'), 'code'],
      ['accounts', await idOf('accounts'), 'number'],
      ['companies', companyId, 'localCurrencyCode'],
      ['accessRights', right, 'principalId'],
    ] as const
    for (const [set, id, name] of fixed) {
      const before = await company.row(set, id)
      for (const value of [null, name.endsWith('Id') ? noGuid : ''])
        await company.change(set, id, { [name]: value }, '*')
      assert.deepEqual(await company.row(set, id), before, `${set} ${name}`)
    }
    await company.change('customers', customerId, { number: null, displayName: 'Other' }, '*')
    assert.equal((await company.row('customers', customerId))['display_name'], 'Other')
    await assert.rejects(
      company.change('customers', customerId, { number: 'X' }, '*'),
      isRuleBroken,
    )
  })

  test(`${dialect}: a company is renamed, but not like another one`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { companyId } = company
    const change = (name: string | null) => company.change('companies', companyId, { name }, '*')
    const before = await company.row('companies', companyId)
    await company.create('companies', { name: 'Other' })
    await assert.rejects(change('Other'), { code: 'Internal_EntityWithSameKeyExists' })
    for (const none of ['', null]) await assert.rejects(change(none), isRuleBroken)
    await change(String(before['name']))
    await change('New')
    assert.equal((await company.row('companies', companyId))['name'], 'New')
  })

  test(`${dialect}: an item in use keeps its type and its base unit`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId } = company
    await company.create('unitsOfMeasure', { code: 'BOX', displayName: 'Box' })
    const others = [{ type: 'Service' }, { baseUnitOfMeasureCode: 'BOX' }]
    await company.change('items', itemId, { type: 'Non-Inventory' }, '*')
    await company.change('items', itemId, { type: 'Inventory' }, '*')
    const invoice = await company.create('salesInvoices', {
      customerId,
      salesInvoiceLines: [{ itemId, quantity: 3 }],
    })
    for (const other of others)
      await assert.rejects(company.change('items', itemId, other, '*'), isRuleBroken)
    await company.act('salesInvoices', invoice, 'post')
    assert.equal(amount(await company.row('items', itemId), 'inventory'), -3)
    for (const other of others)
      await assert.rejects(company.change('items', itemId, other, '*'), isRuleBroken)
    await company.change('items', itemId, { type: 'Inventory', unitPrice: 7 }, '*')
    await company.act('salesInvoices', invoice, 'cancel')
    assert.equal(amount(await company.row('items', itemId), 'inventory'), 0)
  })

  test(`${dialect}: what is canceled gives back the stock that it took, whatever counts for its lines now`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId, sql } = company
    const invoice = await company.create('salesInvoices', {
      customerId,
      salesInvoiceLines: [{ itemId, quantity: 1 }],
    })
    await company.act('salesInvoices', invoice, 'post')
    const inventory = async () => amount(await company.row('items', itemId), 'inventory')
    assert.equal(await inventory(), -1)
    // As an earlier version posted it, in which a base unit could be five.
    await sql.transact(async (tx) => {
      await tx.run('update business_items set inventory = 5 * inventory')
      await tx.run('update business_item_ledger_entries set quantity = 5 * quantity')
    })
    await company.act('salesInvoices', invoice, 'cancel')
    assert.equal(await inventory(), 0)
    const [sum] = await sql.all('select sum(quantity) as sum from business_item_ledger_entries')
    assert.equal(Number(sum?.['sum']), 0)
  })

  test(`${dialect}: an item in use gets a first base unit, in which no line is`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    const boxId = await company.create('unitsOfMeasure', { code: 'BOX', displayName: 'Box' })
    const itemId = await company.create('items', { displayName: 'I' })
    await company.create('itemUnitsOfMeasure', {
      itemId,
      unitOfMeasureId: boxId,
      quantityPerUnit: 5,
    })
    const invoice = await company.create('salesInvoices', {
      customerId,
      salesInvoiceLines: [
        { itemId, quantity: 1 },
        { itemId, quantity: 1, unitOfMeasureCode: 'BOX' },
      ],
    })
    await company.act('salesInvoices', invoice, 'post')
    assert.equal(amount(await company.row('items', itemId), 'inventory'), -6)
    const isKept = (body: Readonly<Record<string, unknown>>) =>
      assert.rejects(company.change('items', itemId, body, '*'), isRuleBroken)
    await isKept({ baseUnitOfMeasureCode: 'BOX' })
    await company.change('items', itemId, { baseUnitOfMeasureCode: 'PCS' }, '*')
    await isKept({ baseUnitOfMeasureId: null })
    await isKept({ type: 'Service' })
    await company.act('salesInvoices', invoice, 'cancel')
    assert.equal(amount(await company.row('items', itemId), 'inventory'), 0)
  })

  test(`${dialect}: a base unit is one in the stock, as in the price`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId, sql } = company
    const { base_unit_of_measure_id: unitOfMeasureId } = await company.row('items', itemId)
    const isRefused = { code: 'Application_FieldValidationException' }
    const unit = { itemId, unitOfMeasureId }
    const wrong = { quantityPerUnit: 5 }
    await assert.rejects(company.create('itemUnitsOfMeasure', { ...unit, ...wrong }), isRefused)
    const id = await company.create('itemUnitsOfMeasure', unit)
    await assert.rejects(company.change('itemUnitsOfMeasure', id, wrong, '*'), isRefused)
    // As an earlier version let it be written.
    const five = 'update business_item_units_of_measure set quantity_per_unit = 500000'
    await sql.transact((tx) => tx.run(five))
    const invoice = await company.create('salesInvoices', {
      customerId,
      salesInvoiceLines: [{ itemId, quantity: 1 }],
    })
    await company.act('salesInvoices', invoice, 'post')
    assert.equal(amount(await company.row('items', itemId), 'inventory'), -1)
  })

  test(`${dialect}: what counts as five becomes no base unit, and a base unit that did counts as one`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, sql } = company
    const isRefused = { code: 'Application_FieldValidationException' }
    const unitOfMeasureId = await company.create('unitsOfMeasure', { code: 'BOX' })
    const itemId = await company.create('items', { displayName: 'I' })
    const unit = { itemId, unitOfMeasureId, quantityPerUnit: 5 }
    const id = await company.create('itemUnitsOfMeasure', unit)
    const based = { baseUnitOfMeasureCode: 'BOX' }
    await assert.rejects(company.change('items', itemId, based, '*'), isRefused)
    const count = (quantityPerUnit: number) =>
      company.change('itemUnitsOfMeasure', id, { quantityPerUnit }, '*')
    await count(1)
    await company.change('items', itemId, based, '*')
    // As an earlier version let it be written.
    const five = 'update business_item_units_of_measure set quantity_per_unit = 500000'
    await sql.transact((tx) => tx.run(five))
    const line = { itemId, quantity: 1 }
    await company.create('salesInvoices', { customerId, salesInvoiceLines: [line] })
    await assert.rejects(count(6), isRefused)
    await count(1)
    assert.equal(amount(await company.row('itemUnitsOfMeasure', id), 'quantity_per_unit'), 1)
  })

  test(`${dialect}: lines of an account have the tax of its group, however that was written`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, sql } = company
    const account = { number: '4711', displayName: 'Odds', taxGroupCode: 'furniture' }
    const accountId = await company.create('accounts', account)
    assert.equal((await company.row('accounts', accountId))['tax_group_code'], 'FURNITURE')
    await sql.transact((tx) =>
      tx.run("update business_accounts set tax_group_code = 'furniture' where id = ?", accountId),
    )
    const line = { lineType: 'Account', accountId, quantity: 1, unitPrice: 100 }
    const invoice = await company.create('salesInvoices', { customerId, salesInvoiceLines: [line] })
    assert.equal(amount(await company.row('salesInvoices', invoice), 'total_tax_amount'), 5)
  })

  test(`${dialect}: what a line or a document names is kept`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId } = company
    const locationId = await company.create('locations', { code: 'EAST', displayName: 'East' })
    const itemVariantId = await company.create('itemVariants', { itemId, code: 'RED' })
    const taxAreaId = await company.create('taxAreas', { code: 'AWAY', displayName: 'Away' })
    const unit = await company.create('unitsOfMeasure', { code: 'HOUR', displayName: 'Hour' })
    const accountId = await company.create('accounts', { number: '4711', displayName: 'Odds' })
    await company.change('customers', customerId, { taxAreaId }, '*')
    const invoice = await company.create('salesInvoices', {
      customerId,
      salesInvoiceLines: [
        { itemId, quantity: 1, locationId, itemVariantId },
        { lineType: 'Account', accountId, quantity: 1, unitOfMeasureCode: 'HOUR' },
      ],
    })
    await company.change('customers', customerId, { taxAreaId: null }, '*')
    const named = [
      ['locations', locationId],
      ['itemVariants', itemVariantId],
      ['taxAreas', taxAreaId],
      ['unitsOfMeasure', unit],
    ] as const
    for (const [set, id] of named)
      await assert.rejects(company.remove(set, id), { message: /is in use by a (?:line|document)/ })
    await company.remove('salesInvoices', invoice)
    for (const [set, id] of named) await company.remove(set, id)
  })

  test(`${dialect}: the trail has what a write changed, whatever its answer shows`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, sql } = company
    const call = caller(company)
    const last = async (): Promise<unknown> => {
      const [row] = await sql.all('select detail from events order by number desc limit 1')
      return JSON.parse(String(row?.['detail'])).changes
    }
    for (const [at, options] of ['', '?$select=id', '?$expand=salesInvoices'].entries()) {
      const one = `customers(${customerId})${options}`
      await call(200, 'v2.0', 'PATCH', one, {
        city: `City ${at + 1}`,
        blocked: at === 1 ? 'All' : ' ',
      })
      const before = at === 0 ? '' : `City ${at}`
      const [city] = (await last()) as { path: string }[]
      assert.deepEqual(city, { path: 'city', before, after: `City ${at + 1}` }, options)
    }
    await call(201, 'v2.0', 'POST', 'customers?$select=id', { displayName: 'Shown to the trail' })
    assert.match(JSON.stringify(await last()), /Shown to the trail/)
    const logo = 'A'.repeat(100_000)
    await sql.transact((tx) => tx.run('update business_company_information set logo = ?', logo))
    const [own] = await sql.all('select id from business_company_information')
    await call(200, 'v2.0', 'PATCH', `companyInformation(${String(own?.['id'])})`, { city: 'Ulm' })
    assert.deepEqual(await last(), [{ path: 'city', before: '', after: 'Ulm' }])
  })
}
