/** A statement has so many characters and values, whatever filter, order and token it is made of. Both stores. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../../tests/property.ts'
import { statementCharactersMax } from '../compile/fragment.ts'
import type { Reads } from '../message.ts'
import { businessModel } from '../model.ts'
import { dialects, fixtureNow, openCompany } from '../testing/books.ts'
import { createReader } from './read.ts'
import { parseRequest } from './request.ts'

const refused = { status: 400, message: /statement that is too long/ }

/** Reads customers through `reads`, and keeps the last statement. */
function readerOf(dialect: (typeof dialects)[number], companyId: string, reads: Reads) {
  const clock = { now: () => fixtureNow }
  const options = { model: businessModel, namespace: 'Vendor', publicUrl: 'http://host/api' }
  const reader = createReader({ ...options, dialect, clock })
  return async (address: string): Promise<string> => {
    const [path = '', search = ''] = `companies(${companyId})/${address}`.split('?')
    const given = { method: 'GET', version: 'v2.0' as const, path, search, body: undefined }
    // Parsing does not use the principal.
    const principal = {} as Parameters<typeof parseRequest>[2]['principal']
    const headers = { prefer: 'odata.maxpagesize=1' }
    const whole = { ...given, headers, principal, correlationId: 'c' }
    const request = parseRequest(businessModel, 'Vendor', whole, 0)
    if (request.kind !== 'rows' && request.kind !== 'count') throw new Error('not a set')
    const { body = '' } = await reader.read({ reads }, request, { companyId, visible: undefined })
    return String(body)
  }
}

function lengthsOf(dialect: (typeof dialects)[number]) {
  let longest = 0
  const note: Reads['all'] = async (text) => {
    longest = Math.max(longest, text.length)
    return []
  }
  const read = readerOf(dialect, '11111111-2222-4333-8444-555555555555', { all: note, scan: note })
  return async (address: string): Promise<number> => {
    longest = 0
    await read(address)
    return longest
  }
}

/** A text of so many sums of a row, put together as a tree that is not deep. */
function sums(count: number): string {
  const sum = 'agedAccountsReceivable/periodLengthFilter'
  if (count === 1) return sum
  return `concat(${sums(Math.floor(count / 2))},${sums(Math.ceil(count / 2))})`
}

test('what is written again and again is refused while it is written', async () => {
  for (const dialect of dialects) {
    const lengthOf = lengthsOf(dialect)
    const computed = `length(${sums(25)})${' mod 7'.repeat(8)} gt 1`
    const few = [`customers?$filter=${computed}`, `customers/$count?$filter=${computed}`]
    for (const one of few) assert.ok((await lengthOf(one)) > 100_000, one)
    const order = `length(${sums(20)})${' mod 7'.repeat(8)}`
    assert.ok((await lengthOf(`customers?$orderby=${order}`)) > 150_000)
    const many = [
      `customers?$filter=length(${sums(75)}) gt 1`,
      `customers/$count?$filter=length(${sums(75)}) gt 1`,
      `customers?$orderby=length(${sums(40)})`,
      `customers?$orderby=${Array.from({ length: 8 }, () => `length(${sums(8)})`).join(',')}`,
    ]
    for (const one of many) await assert.rejects(lengthOf(one), refused, one)
  }
})

test('no statement is longer than a statement may be', async () => {
  const { number, text } = fc.letrec((tie) => ({
    number: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('creditLimit', '7', 'agedAccountsReceivable/balanceDue'),
      tie('text').map((one) => `length(${one})`),
      fc
        .tuple(tie('number'), fc.constantFrom('add', 'mul', 'div', 'mod'), tie('number'))
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      tie('number').map((one) => `round(${one})`),
    ),
    text: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('city', "'x'", 'agedAccountsReceivable/periodLengthFilter'),
      fc.tuple(tie('text'), tie('text')).map(([left, right]) => `concat(${left},${right})`),
      fc.tuple(tie('text'), tie('text')).map(([one, at]) => `substring(${one},length(${at}))`),
    ),
  }))
  const condition = fc.oneof(
    fc.tuple(number, number).map(([left, right]) => `${left} gt ${right}`),
    fc.tuple(text, text).map(([left, right]) => `endswith(${left},${right})`),
  )
  const asked = fc.record({
    filter: fc.array(condition, { minLength: 1, maxLength: 2 }),
    order: fc.array(condition, { minLength: 1, maxLength: 4 }),
  })
  let made = 0
  await fc.assert(
    fc.asyncProperty(asked, fc.constantFrom(...dialects), async ({ filter, order }, dialect) => {
      const query = `$filter=${filter.join(' and ')}&$orderby=${order.map((one) => `(${one})`)}`
      try {
        const length = await lengthsOf(dialect)(`customers?${query}`)
        made++
        assert.ok(length <= statementCharactersMax)
      } catch (error) {
        if ((error as { status?: unknown }).status !== 400) throw error
      }
    }),
    { numRuns: runsOf(500) },
  )
  assert.ok(made > 5, `${made}`)
})

for (const dialect of dialects) {
  test(`${dialect}: a page that would need more values than a statement may have is refused`, async (t) => {
    await using opened = await openCompany(t, dialect)
    if (opened === undefined) return
    const { sql, companyId } = opened
    const read = readerOf(dialect, companyId, sql)
    const list = Array.from({ length: 195 }, (_, at) => at % 10).join(',')
    const listed = Array.from({ length: 15 }, () => `creditLimit in (${list})`).join(' or ')
    const fields = 'city,state,country,email,website,phoneNumber,postalCode,type,displayName'
    const address = `customers?$orderby=${listed},${fields}`
    await sql.transact(async (tx) => {
      for (const id of ['a', 'b']) {
        const values = [id, companyId, `C${id}`]
        const names = 'id, company_id, number, revision'
        await tx.run(`insert into business_customers (${names}) values (?, ?, ?, 1)`, ...values)
      }
    })
    const { '@odata.nextLink': next = '' } = JSON.parse(await read(address))
    assert.ok(next.includes('$skiptoken='))
    await assert.rejects(read(next.slice(next.indexOf('customers?'))), refused)
  })
}
