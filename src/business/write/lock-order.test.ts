/** Change sets that write the same rows in opposite order, on PostgreSQL, which locks each row. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { insertRow } from '#query/rows.ts'
import { emptyCells } from '#query/table.ts'
import type { SqlTx } from '#stores/store.ts'
import { until } from '../../../tests/until.ts'
import { keptRightsOf } from '../access.ts'
import { collectChanges } from '../notifications/collect.ts'
import { subscriptions } from '../tables.ts'
import { openCompany } from '../testing/books.ts'
import { caller } from '../testing/caller.ts'
import { lockInOrder } from './lock-order.ts'
import { takeTurn } from './rows.ts'

const rounds = 6

/** A receiver that consents. */
const callOut = async (url: string) => {
  const text = new URL(url).searchParams.get('validationToken') ?? ''
  return { status: 200, text }
}

test('change sets in opposite order never stop each other, so that none has to run again', async (t) => {
  await using company = await openCompany(t, 'postgres', { transactionRetriesMax: 1 })
  if (company === undefined) return
  const call = caller(company)
  const [left, right] = [await document(), await document()]
  const root = `companies(${company.companyId})`
  const writes = (id: string) => [
    { method: 'PATCH', url: `${root}/salesInvoiceLines(${id})`, body: { quantity: 2 } },
    { method: 'PATCH', url: `${root}/items(${company.itemId})`, body: { displayName: 'Board' } },
    { method: 'PATCH', url: `${root}/customers(${company.customerId})`, body: { city: 'Bern' } },
  ]
  const batch = async (order: readonly string[]) => {
    const requests = order.flatMap(writes).map((one, at) => ({
      id: `${at}`,
      atomicityGroup: 'all',
      headers: { 'Content-Type': 'application/json', 'If-Match': '*' },
      ...one,
    }))
    const { responses } = await call(200, 'v2.0', 'POST', '$batch', { requests })
    return (responses as { status: number }[]).map(({ status }) => status)
  }
  for (let round = 0; round < rounds; round++) {
    const orders = Array.from({ length: 8 }, (_, at) =>
      at % 2 === 0 ? [left, right] : [right, left],
    )
    for (const statuses of await Promise.all(orders.map(batch)))
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200])
  }

  async function document(): Promise<string> {
    const id = await company?.create('salesInvoices', {
      customerId: company.customerId,
      salesInvoiceLines: [{ itemId: company.itemId, quantity: 1 }],
    })
    const [line] = (await company?.lines(String(id))) ?? []
    return String(line?.['id'])
  }
})

test('who may only read holds up nobody by naming rows in a change set', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const reader = randomUUID()
  const mayWrite = caller(company)
  await mayWrite(201, 'v2.0', 'POST', 'accessRights', { principalId: reader, role: 'read' })
  const { customerId } = company
  const requests = ['0', '1'].map((id) => ({
    id,
    atomicityGroup: 'all',
    method: 'PATCH',
    url: `companies(${company.companyId})/customers(${customerId})`,
    headers: { 'Content-Type': 'application/json', 'If-Match': '*' },
    body: { city: 'Bern' },
  }))
  const mayRead = caller(company, reader)
  const outside = AsyncLocalStorage.snapshot()
  await company.sql.transact(async (tx) => {
    await tx.all('select id from business_customers where id = ? for update', customerId)
    // A wrong order would wait for the row here, while holding another.
    const { responses } = await outside(() => mayRead(200, 'v2.0', 'POST', '$batch', { requests }))
    assert.equal((responses as { status: number }[])[0]?.status, 403)
  })
})

test('what a write refers to is not removed at the same moment, nor is a company in which is posted', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const call = caller(company)
  const isDone = (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => true,
      () => false,
    )
  const make = async (at: typeof call, set: string, body: object): Promise<string> =>
    String((await at(201, 'v2.0', 'POST', set, body))['id'])
  for (let round = 0; round < 10; round++) {
    const customerId = await make(call, 'customers', { displayName: 'C' })
    const itemId = await make(call, 'items', { displayName: 'I', baseUnitOfMeasureCode: 'PCS' })
    const line = { itemId, quantity: 1 }
    const [isMade, ...areGone] = await Promise.all([
      isDone(make(call, 'salesInvoices', { customerId, salesInvoiceLines: [line] })),
      isDone(call(204, 'v2.0', 'DELETE', `customers(${customerId})`)),
      isDone(call(204, 'v2.0', 'DELETE', `items(${itemId})`)),
    ])
    assert.ok(!(isMade && areGone.includes(true)), `${isMade}, ${areGone}`)

    const other = await company.create('companies', { name: `Other ${round}` })
    const inOther = caller({ ...company, companyId: other })
    await make(inOther, 'unitsOfMeasure', { code: 'PCS', displayName: 'Piece' })
    const item = { displayName: 'I', unitPrice: 1, baseUnitOfMeasureCode: 'PCS' }
    const invoiceId = await make(inOther, 'salesInvoices', {
      customerId: await make(inOther, 'customers', { displayName: 'C' }),
      salesInvoiceLines: [{ itemId: await make(inOther, 'items', item), quantity: 1 }],
    })
    const post = `salesInvoices(${invoiceId})/Vendor.NAV.post`
    const [isPosted, isRemoved] = await Promise.all([
      isDone(inOther(204, 'v2.0', 'POST', post)),
      setTimeout(2 * round).then(() => isDone(company.remove('companies', other))),
    ])
    assert.notEqual(isPosted, isRemoved, `${isPosted}, ${isRemoved}`)
  }
  const last = await company.create('companies', { name: 'Last' })
  const inLast = caller({ ...company, companyId: last })
  await Promise.all([
    company.remove('companies', last),
    ...Array.from({ length: 6 }, () =>
      // Made before the removal, or refused as one that came after it.
      inLast(201, 'v2.0', 'POST', 'customers', { displayName: 'x' }).catch((error: Error) =>
        assert.match(error.message, /Internal_CompanyNotFound/),
      ),
    ),
  ])
})

test('an item and its units stay as they are while lines are being written', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { sql, itemId } = company
  const unitOfMeasureId = await company.create('unitsOfMeasure', { code: 'BOX' })
  const unit = { itemId, unitOfMeasureId, quantityPerUnit: 5 }
  const unitId = await company.create('itemUnitsOfMeasure', unit)
  const outside = AsyncLocalStorage.snapshot()
  const isWaiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  for (const [set, table, id, body] of [
    ['items', 'items', itemId, { type: 'Service' }],
    ['items', 'items', itemId, { baseUnitOfMeasureId: null }],
    ['itemUnitsOfMeasure', 'item_units_of_measure', unitId, { quantityPerUnit: 6 }],
  ] as const) {
    let isChanged = false
    const changes = await sql.transact(async (tx) => {
      // As lines do that name it.
      await tx.all(`select id from business_${table} where id = ? for key share`, id)
      // Other changes do not wait.
      await outside(() => company.change('items', itemId, { unitPrice: 7, type: 'Inventory' }, '*'))
      const change = outside(() => company.change(set, id, body, '*')).then(() => {
        isChanged = true
      })
      await until(async () => isChanged || (await outside(() => sql.all(isWaiting))).length === 1)
      assert.equal(isChanged, false, JSON.stringify(body))
      return [change]
    })
    await Promise.all(changes)
    await company.change('items', itemId, { type: 'Inventory', baseUnitOfMeasureCode: 'PCS' }, '*')
  }
})

test('who loses a right while a write waits has written before that is answered', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { customerId, companyId, sql } = company
  const call = caller(company)
  const outside = AsyncLocalStorage.snapshot()
  // Of this database: other tests share the server.
  const waits =
    'select l.pid from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()'
  const waiting = async (): Promise<number> => (await sql.all(waits)).length
  for (const [method, status, body] of [
    ['PATCH', 200, { role: 'read' }],
    ['DELETE', 204, undefined],
  ] as const) {
    const seller = randomUUID()
    const right = { principalId: seller, role: 'sales' }
    const { id } = await call(201, 'v2.0', 'POST', 'accessRights', right)
    const answered: string[] = []
    const done: Promise<unknown>[] = []
    await sql.transact(async (tx) => {
      const series = 'select code from business_number_series where company_id = ? for update'
      await tx.all(series, companyId)
      await outside(async () => {
        const sells = caller(company, seller)
        const written = sells(201, 'v2.0', 'POST', 'salesInvoices', { customerId })
        done.push(written.then(() => answered.push('written')))
        await until(async () => (await waiting()) >= 1)
        const lost = call(status, 'v2.0', method, `accessRights(${String(id)})`, body)
        done.push(lost.then(() => answered.push('lost')))
        const isNext = async () => answered.length > 0 || (await waiting()) >= 2
        await until(isNext)
        // Both are committed in their order then, while their answers may come in any.
        assert.deepEqual(answered, [], method)
      })
    })
    await Promise.all(done)
    await caller(company, seller)(403, 'v2.0', 'POST', 'salesInvoices', { customerId })
  }
})

test('who goes on writing keeps no right that is being removed', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { sql, companyId } = company
  const outside = AsyncLocalStorage.snapshot()
  const isWaiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  const waiting = async () => (await outside(() => sql.all(isWaiting))).length
  const seller = { isAdministrator: false, names: [randomUUID(), randomUUID()] }
  const rightIn = (tx: SqlTx) => keptRightsOf({ tx, dialect: 'postgres' }, seller, companyId)
  for (const remove of [true, false]) {
    const right = { principalId: seller.names[1], role: 'sales' }
    const id = await company.create('accessRights', right)
    const roles: unknown[] = []
    const later: Promise<unknown>[] = []
    await sql.transact(async (tx) => {
      assert.equal((await rightIn(tx)).byCompany.get(companyId), 'sales')
      const removal = outside(() =>
        remove
          ? company.remove('accessRights', id)
          : company.change('accessRights', id, { role: 'read' }, '*'),
      )
      later.push(removal)
      await until(async () => (await waiting()) === 1)
      const next = outside(() =>
        sql.transact(async (after) => roles.push((await rightIn(after)).byCompany.get(companyId))),
      )
      later.push(next)
      await until(async () => roles.length > 0 || (await waiting()) === 2)
      assert.deepEqual(roles, [])
    })
    await Promise.all(later)
    assert.deepEqual(roles, [remove ? undefined : 'read'])
  }
})

test('who goes on writing keeps no company from being renamed or removed', async (t) => {
  await using company = await openCompany(t, 'postgres', { transactionRetriesMax: 1 })
  if (company === undefined) return
  const { sql, customerId, companyId } = company
  const outside = AsyncLocalStorage.snapshot()
  const isWaiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  const waiting = async () => (await outside(() => sql.all(isWaiting))).length
  const call = caller(company)
  const other = { displayName: 'Other' }
  const rename = () => company.change('companies', companyId, { name: 'New' }, '*')
  const add = (status: number) => call(status, 'v2.0', 'POST', 'customers', other)
  const addInSet = async (status: number) => {
    const url = `companies(${companyId})/customers`
    const headers = { 'Content-Type': 'application/json' }
    const one = { atomicityGroup: 'all', method: 'POST', url, headers, body: other }
    const requests = ['1', '2'].map((id) => ({ id, ...one }))
    const { responses } = await call(200, 'v2.0', 'POST', '$batch', { requests })
    assert.equal((responses as { status: number }[])[0]?.status, status)
  }
  const subscribe = (status: number) => {
    const resource = `api/v2.0/companies(${companyId})/items`
    const body = { notificationUrl: 'http://receiver/', resource }
    return caller(company, undefined, { callOut })(status, 'v2.0', 'POST', 'subscriptions', body)
  }
  const later = await sql.transact(async (tx) => {
    const url = `companies(${companyId})/customers`
    await lockInOrder(tx, [{ method: 'POST', url, body: undefined }], undefined)
    const renamed = outside(rename)
    await until(async () => (await waiting()) === 1)
    // For the turn, not for the row: a set keeps no row whose turn is another's.
    const held =
      'select locktype from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()'
    assert.deepEqual(await outside(() => sql.all(held)), [{ locktype: 'advisory' }])
    return [renamed]
  })
  await Promise.all(later)
  for (const [end, write, status] of [
    [rename, add, 201],
    [rename, addInSet, 201],
    [rename, subscribe, 201],
    [() => company.remove('companies', companyId), add, 404],
  ] as const) {
    const done: string[] = []
    const works = await sql.transact(async (tx) => {
      await tx.all('select id from business_customers where id = ? for update', customerId)
      const begun = outside(() => call(200, 'v2.0', 'PATCH', `customers(${customerId})`, other))
      await until(async () => (await waiting()) === 1)
      const ended = outside(end).then(() => done.push('ended'))
      await until(async () => done.length > 0 || (await waiting()) === 2)
      const written = outside(() => write(status)).then(() => done.push('written'))
      await until(async () => done.length > 0 || (await waiting()) === 3)
      assert.deepEqual(done, [])
      return [begun, ended, written]
    })
    await Promise.all(works)
  }
})

test('who changes a right waits longer than usual for its turn alone', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  await company.sql.transact(async (tx) => {
    const before = await tx.all('show lock_timeout')
    await takeTurn({ tx, dialect: 'postgres' }, randomUUID())
    assert.deepEqual(await tx.all('show lock_timeout'), before)
  })
})

test('writes of a company that wait for its rows leave connections to others, and are judged when their turn has come', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { sql, customerId, companyId } = company
  const customer = `customers(${customerId})`
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const holder = sql.transact(async (tx) => {
    await tx.run('update business_customers set city = ? where id = ?', 'Ulm', customerId)
    begun.resolve()
    await held.promise
  })
  await begun.promise
  let isActive = true
  const client = new AbortController()
  const [call, leaving] = [{}, { signal: client.signal }].map((given) =>
    caller(company, undefined, { ...given, isActive: () => isActive }),
  ) as [ReturnType<typeof caller>, ReturnType<typeof caller>]
  const written = Array.from({ length: 2 }, () =>
    call(200, 'v2.0', 'PATCH', customer, { city: 'Bern' }),
  )
  const waiting = () =>
    sql.all(
      "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  await until(async () => (await waiting()).length === 2)
  const gone = leaving(200, 'v2.0', 'PATCH', customer, { city: 'Rome' })
  const requests = ['1', '2'].map((id) => ({
    id,
    atomicityGroup: 'all',
    method: 'PATCH',
    url: `companies(${companyId})/${customer}`,
    headers: { 'Content-Type': 'application/json', 'If-Match': '*' },
    body: { city: 'Rome' },
  }))
  const late = [
    ...Array.from({ length: 12 }, () => call(401, 'v2.0', 'PATCH', customer, { city: 'Rome' })),
    call(401, 'v2.0', 'POST', '$batch', { requests }),
  ]
  // All connections would be held by now.
  assert.equal((await call(200, 'v2.0', 'GET', `items(${company.itemId})`))['number'], '1996-S')
  assert.equal((await waiting()).length, 2)
  isActive = false
  client.abort(new Error('gone'))
  await assert.rejects(gone, /gone/)
  held.resolve()
  await Promise.all([holder, ...written, ...late])
  assert.equal((await company.row('customers', customerId))['city'], 'Bern')
})

test('who waits for a right that is being changed holds up no subscription of others', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { sql } = company
  const resource = `api/v2.0/companies(${company.companyId})/items`
  const subscribe = (reader: string) => {
    const body = { notificationUrl: 'http://receiver/', resource }
    return caller(company, reader, { callOut })(201, 'v2.0', 'POST', 'subscriptions', body)
  }
  const readers = [randomUUID(), randomUUID()] as const
  for (const principalId of readers)
    await caller(company)(201, 'v2.0', 'POST', 'accessRights', { principalId, role: 'read' })
  const outside = AsyncLocalStorage.snapshot()
  const waiting = await sql.transact(async (tx) => {
    const lock = 'select id from business_access_rights where principal_id = ? for update'
    await tx.all(lock, readers[0])
    const late = outside(() => subscribe(readers[0]))
    late.catch(() => undefined)
    const isWaiting =
      "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await until(async () => (await outside(() => sql.all(isWaiting))).length === 1)
    await outside(() => subscribe(readers[1]))
    return [late]
  })
  await Promise.all(waiting)
})

test('notifications wait for no transaction that holds what waits already', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { sql, companyId: company_id } = company
  const resource = `api/v2.0/companies(${company_id})/customers`
  await sql.transact((tx) =>
    insertRow(tx, subscriptions, {
      ...emptyCells(subscriptions),
      id: 's',
      company_id,
      set_name: 'customers',
      resource,
      notification_url: 'http://receiver/',
      expires_at: 1_000,
    }),
  )
  const change = async (now: number): Promise<void> => {
    await company.create('customers', { displayName: `C${now}` })
    await collectChanges(sql, now, randomUUID)
  }
  for (let now = 0; now < 6; now++) await change(now)
  const waiting = 'select id from business_outbox_entries'
  assert.equal((await sql.all(waiting)).length, 4)
  const outside = AsyncLocalStorage.snapshot()
  await sql.transact(async (tx) => {
    await tx.all(`${waiting} for update`)
    await outside(() => change(7))
  })
  assert.equal((await sql.all(waiting)).length, 5)
})

test('a batch goes no further when its caller is disabled', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  if (company === undefined) return
  let left = 0
  const call = caller(company, undefined, { isActive: () => left-- > 0 })
  const send = async (status: number, group: object) => {
    const requests = Array.from({ length: 4 }, (_, at) => ({
      id: `${at}`,
      method: 'POST',
      url: `companies(${company.companyId})/customers`,
      headers: { 'Content-Type': 'application/json' },
      body: { displayName: `c${at}` },
      ...group,
    }))
    const { responses } = await call(status, 'v2.0', 'POST', '$batch', { requests })
    return (responses as { status: number }[] | undefined)?.map((one) => one.status)
  }
  left = 2
  assert.deepEqual(await send(200, {}), [201, 201, 401])
  left = 0
  await send(401, { atomicityGroup: 'all' })
  left = 1
  assert.deepEqual(await send(200, { atomicityGroup: 'all' }), [201, 201, 201, 201])
})

// After its deadline a request does nothing more, and uncommitted work is rolled back.
for (const dialect of ['sqlite', 'postgres'] as const) {
  test(`on ${dialect}, a write ends at the deadline, and nothing of its transaction stays`, async (t) => {
    await using fixture = await openCompany(t, dialect)
    if (fixture === undefined) return
    const list = async (): Promise<number> => {
      const { value } = await caller(fixture)(200, 'v2.0', 'GET', 'customers')
      return (value as readonly unknown[]).length
    }
    const before = await list()
    const late = new AbortController()
    let made = 0
    const uuid = (): string => {
      // Aborted while the second one is created.
      if (++made === 2) late.abort(new Error('too late'))
      return randomUUID()
    }
    const url = `companies(${fixture.companyId})/customers`
    const headers = { 'Content-Type': 'application/json' }
    const requests = Array.from({ length: 5 }, (_, n) => {
      const body = { displayName: `c${n}` }
      return { id: String(n), atomicityGroup: 'all', method: 'POST', url, headers, body }
    })
    const call = caller(fixture, undefined, { signal: late.signal, uuid })
    await assert.rejects(call(200, 'v2.0', 'POST', '$batch', { requests }), /too late/)
    assert.ok(made < 5, `${made} were made`)
    assert.equal(await list(), before)
    await assert.rejects(call(200, 'v2.0', 'GET', 'customers'), /too late/)
    await assert.rejects(call(201, 'v2.0', 'POST', 'customers', { displayName: 'c' }), /too late/)
    assert.equal(await list(), before)
  })
}
