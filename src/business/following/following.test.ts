/**
 * Delta links, on the stores in turn: a client's copy that applies them is what a new read gives, over random writes; what is
 * too old, forged or of another company is refused.
 */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { StoreConflict } from '#stores/store.ts'
import type { BusinessAnswer } from '../message.ts'
import { createBusiness } from '../service.ts'
import { type BusinessFixture, inTurn, openCompany } from '../testing/books.ts'
import { forgetHistory } from './history.ts'

const tracking = { prefer: 'odata.track-changes' }
const owner = '11111111-1111-1111-1111-111111111111'
const start = Date.UTC(2026, 10, 21)
const day = 86_400_000

interface Row {
  readonly id: string
  readonly '@removed'?: { readonly reason: string }
}

interface Page {
  readonly value: readonly Row[]
  readonly '@odata.nextLink'?: string
  readonly '@odata.deltaLink'?: string
}

function openClient(company: BusinessFixture) {
  const clock = { at: start }
  const { sql } = company
  const business = createBusiness({
    sql: {
      ...sql,
      all(text, ...values) {
        assert.doesNotMatch(text, /from business_row_changes/, 'the log is read by a scan')
        return sql.all(text, ...values)
      },
    },
    clock: { now: () => clock.at },
    ids: { uuid: () => randomUUID(), secret: () => randomUUID() },
    namespace: 'Vendor',
    publicUrl: () => 'http://host',
    conflictStatus: 412,
    groupsOf: async () => [],
    administers: async ({ id }) => id === owner,
  })
  const get = async (
    address: string,
    headers: Readonly<Record<string, string>> = {},
    as = owner,
  ): Promise<BusinessAnswer & { readonly page: Page }> => {
    const [path = '', search = ''] = address.replace(/^http:\/\/host\/api\/v2\.0\//, '').split('?')
    const answer = await business.handle({
      method: 'GET',
      version: 'v2.0',
      path,
      search: search.replaceAll(' ', '%20'),
      headers,
      body: undefined,
      principal: {
        id: as,
        type: 'User',
        tenantId: 't',
        displayName: 'x',
        clientId: 'x',
        groups: [],
      },
      correlationId: 'c0ffee',
    })
    return { ...answer, page: JSON.parse(answer.body ?? '{}') }
  }
  return { get, clock }
}

type Get = ReturnType<typeof openClient>['get']

/** A copy of a set at a client. `between` runs after each page but the last. */
class Copy {
  readonly rows = new Map<string, Row>()
  readonly #get: Get
  link: string
  pages = 0

  constructor(get: Get, address: string) {
    this.#get = get
    this.link = address
  }

  async follow(pageSize: number, between: () => Promise<unknown> = async () => {}): Promise<void> {
    for (let next: string | undefined = this.link; next !== undefined; ) {
      const prefer = `odata.track-changes, odata.maxpagesize=${pageSize}`
      const { status, body, headers, page } = await this.#get(next, { prefer })
      assert.equal(status, 200, body)
      assert.match(headers['Preference-Applied'] ?? '', /^odata\.track-changes/)
      assert.ok(page.value.length <= pageSize)
      for (const row of page.value) {
        if (row['@removed'] === undefined) this.rows.set(row.id, row)
        else this.rows.delete(row.id)
      }
      this.pages++
      next = page['@odata.nextLink']
      if (next === undefined) this.link = page['@odata.deltaLink'] ?? assert.fail('no delta link')
      else await between()
    }
  }

  /** The copy is what a new read gives. */
  async check(address: string): Promise<void> {
    const { page } = await this.#get(address)
    const byId = (rows: Iterable<Row>) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))
    assert.deepEqual(byId(this.rows.values()), byId(page.value), address)
  }
}

const isLong = process.env['ARMATURE_TEST_LONG'] === '1'

/** Writes anything, several at once on a store that has several writers. */
class Writers {
  readonly #company: BusinessFixture
  readonly #random: (below: number) => number
  done = 0
  readonly #ids: Record<string, string[]> = { customers: [], salesInvoices: [], items: [] }

  constructor(company: BusinessFixture, random: (below: number) => number) {
    this.#company = company
    this.#random = random
  }

  #one(set: string): string {
    const ids = this.#ids[set] ?? []
    return ids[this.#random(ids.length)] ?? this.#company.customerId
  }

  /** Fewer than the smallest page, or a reader would never come to the end. */
  async one(): Promise<void> {
    await this.#tried()
  }

  async some(): Promise<void> {
    await Promise.all(Array.from({ length: 3 + this.#random(7) }, () => this.#tried()))
  }

  async #tried(): Promise<void> {
    try {
      await this.#write()
      this.done++
    } catch (error) {
      // A rule or a race may refuse a write.
      assert.ok(error instanceof ApiError || error instanceof StoreConflict, String(error))
    }
  }

  async #write(): Promise<void> {
    const { create, change, remove, act, customerId, itemId } = this.#company
    const displayName = `N${this.#random(4)}`
    switch (this.#random(9)) {
      case 0:
      case 1:
        this.#ids['customers']?.push(await create('customers', { displayName }))
        return
      case 2:
        return await change('customers', this.#one('customers'), { displayName }, '*')
      case 3:
        return await remove('customers', this.#one('customers'))
      case 4:
      case 5: {
        const lines = [{ itemId, quantity: 1 }]
        const body = { customerId, salesInvoiceLines: lines }
        this.#ids['salesInvoices']?.push(await create('salesInvoices', body))
        return
      }
      case 6:
        return await remove('salesInvoices', this.#one('salesInvoices'))
      case 7:
        await act('salesInvoices', this.#one('salesInvoices'), 'post')
        return
      default: {
        const [area] = await this.#company.sql.all('select id from business_tax_areas')
        return await change('taxAreas', String(area?.['id']), { displayName }, '*')
      }
    }
  }
}

function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('postgres: who begins to follow waits for no writer, and no writer waits for them', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { get } = openClient(company)
  const { customerId, sql } = company
  const address = `companies(${company.companyId})/customers`
  const outside = AsyncLocalStorage.snapshot()
  await sql.transact(async (tx) => {
    await tx.run("update business_customers set city = 'Bern' where id = ?", customerId)
    await outside(async () => {
      const { status, headers, body, page } = await get(address, tracking)
      assert.equal(status, 200, body)
      // What the writer changed is in no log.
      assert.equal(headers['Preference-Applied'], undefined)
      assert.equal(page['@odata.deltaLink'], undefined)
      await company.create('customers', { displayName: 'Written meanwhile' })
    })
  })
  const { page } = await get(address, tracking)
  assert.equal(page.value.length, 2)
  const link = page['@odata.deltaLink'] ?? assert.fail('no delta link')
  await company.change('customers', customerId, { city: 'Basel' }, '*')
  const changed = await get(link)
  assert.deepEqual(
    changed.page.value.map(({ id }) => id),
    [customerId],
  )
})

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: a copy kept by delta links is what a new read gives`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { get } = openClient(company)
    const random = randomOf(7)
    const writers = new Writers(company, random)
    for (let at = 0; at < 12; at++) await writers.some()
    const root = `companies(${company.companyId})`
    const addresses = [
      `${root}/customers`,
      `${root}/customers?$filter=displayName eq 'N1'&$select=id,displayName`,
      `${root}/salesInvoices`,
      `${root}/generalLedgerEntries`,
      `${root}/items?$orderby=displayName desc`,
    ]
    const copies = addresses.map((address) => ({ address, copy: new Copy(get, address) }))
    for (let round = 0; round < (isLong ? 200 : 12); round++) {
      // Writers run while the pages are read.
      await Promise.all([
        ...copies.map(({ copy }) => copy.follow(1 + random(6), () => writers.one())),
        writers.some().then(() => writers.some()),
      ])
      for (const { address, copy } of copies) {
        await copy.follow(1_000)
        await copy.check(address)
      }
    }
    const pages = copies.reduce((sum, { copy }) => sum + copy.pages, 0)
    // Two pages of each copy in each round are the least. PostgreSQL, which runs writers at once, comes to some 143.
    assert.ok(
      pages > copies.length * 2 * 12 + 10,
      `${pages} pages, ${writers.done} writes, ${copies.map(({ copy }) => copy.rows.size)} rows`,
    )
    assert.ok(writers.done > 100, `${writers.done} writes`)
    assert.ok(copies.every(({ copy }) => copy.rows.size > 0))
  })

  test(`${dialect}: delta links that are forged, of another company, or too old`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { get, clock } = openClient(company)
    const root = `companies(${company.companyId})`
    const linkOf = async (address: string): Promise<string> => {
      const { page } = await get(address, tracking)
      return page['@odata.deltaLink'] ?? assert.fail('no delta link')
    }
    const link = await linkOf(`${root}/customers`)
    const filtered = await linkOf(`${root}/customers?$filter=displayName eq 'Adatum'`)

    await t.test('what it gives: nothing, what changed, and why what is gone is gone', async () => {
      const none = await get(link)
      assert.deepEqual(none.page.value, [])
      const id = await company.create('customers', { displayName: 'Short' })
      await company.change('customers', company.customerId, { displayName: 'Else' }, '*')
      const { page } = await get(link)
      assert.deepEqual(page.value.map((row) => row.id).sort(), [id, company.customerId].sort())
      assert.match(
        JSON.stringify(page),
        /"@odata.context":"[^"]+#companies\([^)]+\)\/customers\/\$delta"/,
      )
      await company.remove('customers', id)
      const reasons = async (from: string) =>
        Object.fromEntries(
          (await get(from)).page.value.map((row) => [row.id, row['@removed']?.reason]),
        )
      assert.deepEqual(await reasons(link), { [id]: 'deleted', [company.customerId]: undefined })
      assert.deepEqual(await reasons(filtered), {
        [id]: 'deleted',
        [company.customerId]: 'changed',
      })
    })

    await t.test('a preference that cannot be met is not applied', async () => {
      for (const more of [
        '?$top=1',
        '?$expand=currency',
        `(${company.customerId})/salesInvoices`,
      ]) {
        const { status, headers, page } = await get(`${root}/customers${more}`, tracking)
        assert.equal(status, 200)
        assert.equal(headers['Preference-Applied'], undefined)
        assert.equal(page['@odata.deltaLink'], undefined)
      }
      const lines = await get(`${root}/accessRights`, tracking)
      assert.equal(lines.page['@odata.deltaLink'], undefined)
      assert.equal((await get(`${link}&$top=1`)).status, 400)
    })

    await t.test('changed by a client, or for another set, company or query', async () => {
      const token = link.slice(link.indexOf('$deltatoken=') + '$deltatoken='.length)
      const [text = '', signature] = token.split('.')
      const content = Buffer.from(text, 'base64url').toString().split(' ')
      const other = await company.create('companies', { name: 'Other' })
      const encoded = (value: readonly unknown[]) =>
        Buffer.from(value.join(' ')).toString('base64url')
      const earlier = encoded(content.with(3, String(Number(content[3]) + 1)))
      const there = encoded(content.with(1, other))
      const forged = [
        `${root}/customers?$deltatoken=${earlier}.${signature}`,
        `${root}/customers?$deltatoken=${text}`,
        `${root}/customers?$deltatoken=${text}.`,
        `${root}/customers?$deltatoken=nothing`,
        `${root}/items?$deltatoken=${token}`,
        `companies(${other})/customers?$deltatoken=${token}`,
        `${root}/customers?$filter=displayName eq 'x'&$deltatoken=${token}`,
      ]
      for (const address of forged) {
        const { status, body } = await get(address)
        assert.equal(status, 400, `${address}: ${body}`)
        assert.match(body ?? '', /deltatoken/)
      }
      await linkOf(`companies(${other})/customers`)
      const gone = await get(`companies(${other})/customers?$deltatoken=${there}.${signature}`)
      assert.equal(gone.status, 410)
    })

    await t.test('what many rows show is one entry of the log', async () => {
      const count = async () => {
        const [row] = await company.sql.all('select count(*) as n from business_row_changes')
        return Number(row?.['n'])
      }
      const [area] = await company.sql.all('select id from business_tax_areas')
      const taxAreaId = String(area?.['id'])
      const ids: string[] = [company.customerId]
      for (const displayName of ['One', 'Two', 'Three']) {
        ids.push(await company.create('customers', { displayName, taxAreaId }))
      }
      const begin = await linkOf(`${root}/customers`)
      const before = await count()
      await company.change('taxAreas', taxAreaId, { displayName: 'Shown' }, '*')
      assert.equal(await count(), before + 1)
      const told: string[] = []
      for (let next: string | undefined = begin; next !== undefined; ) {
        const { page } = await get(next, { prefer: 'odata.maxpagesize=1' })
        told.push(...page.value.map(({ id }) => id))
        next = page['@odata.nextLink']
      }
      assert.deepEqual(told, ids.toSorted())
    })

    await t.test('more changes than the log keeps', async () => {
      const begin = await linkOf(`${root}/items`)
      const add = (rows: number) =>
        company.sql.transact((tx) =>
          tx.run(
            `insert into business_row_changes (${dialect === 'sqlite' ? '' : 'position, '}company_id, set_name, row_id)
               with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows})
               select ${dialect === 'sqlite' ? '' : 'txid_current(), '}'${company.companyId}', 'items', '${company.itemId}' from n`,
          ),
        )
      await add(100_000)
      const { page } = await get(begin)
      assert.deepEqual(
        page.value.map(({ id }) => id),
        [company.itemId],
      )
      await add(1)
      const { status, body } = await get(begin)
      assert.equal(status, 410, body)
      assert.match(body ?? '', /"code":"Request_DeltaLinkExpired"/)
    })

    await t.test('only for who may read the company', async () => {
      const stranger = randomUUID()
      assert.equal((await get(link, {}, stranger)).status, 403)
      assert.equal((await get(`${root}/items`, tracking, stranger)).status, 403)
      const right = await company.create('accessRights', { principalId: stranger, role: 'read' })
      assert.equal((await get(link, {}, stranger)).status, 200)
      await company.remove('accessRights', right)
      assert.equal((await get(link, {}, stranger)).status, 403)
    })

    await t.test('too old: changes are kept from a week to two', async () => {
      const young = async () => {
        clock.at += 3 * day
        await forgetHistory(company.sql, clock.at)
        const { page, status, body } = await get(link)
        return { status, body, link: page['@odata.deltaLink'] ?? '' }
      }
      await young()
      await young()
      const used = await young()
      assert.equal(used.status, 200)
      await company.change('customers', company.customerId, { displayName: 'Later' }, '*')
      await young()
      assert.equal((await young()).status, 200)
      // The log is cut where it was a week ago, which is behind the first link and before the second.
      await young()
      const old = await get(link)
      assert.equal(old.status, 410, old.body)
      assert.match(old.body ?? '', /"code":"Request_DeltaLinkExpired"/)
      const left = await get(used.link)
      assert.equal(left.status, 200)
      assert.deepEqual(
        left.page.value.map(({ id }) => id),
        [company.customerId],
      )
    })

    await t.test('not followed any more', async () => {
      const last = await linkOf(`${root}/customers`)
      clock.at += 15 * day
      await forgetHistory(company.sql, clock.at)
      assert.equal((await get(last)).status, 410)
      assert.deepEqual(await company.sql.all('select row_id from business_row_changes'), [])
      await company.change('customers', company.customerId, { displayName: 'Unseen' }, '*')
      assert.deepEqual(await company.sql.all('select row_id from business_row_changes'), [])
    })
  })
}
