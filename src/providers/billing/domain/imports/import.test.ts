/** Files of three kinds: what is imported, what is refused with line, column and reason, and parts sent twice. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ApiError } from '#kernel/error.ts'
import { fc, runsOf } from '../../../../../tests/property.ts'
import { account, profile, type Started, startBilling, type Wire } from '../../testing/start.ts'
import { readRecords } from './formats.ts'

const send = (started: Started, more: object): Promise<Wire> =>
  started.post(`${profile}/importTransactions`, {
    name: 'file',
    format: 'ndjson',
    position: 0,
    digest: '',
    nextPosition: 10,
    nextDigest: 'x',
    firstLine: 1,
    text: '',
    ...more,
  })

const list = `${profile}/transactions?periodStartDate=01-01-2026&periodEndDate=12-31-2026`

test('CSV in the contract’s shape; what is wrong is reported with line and column, the rest goes in', async () => {
  await using started = await startBilling()
  const answer = await send(started, {
    format: 'csv',
    header: 'date,properties/subTotal/value,tax.value,transactionAmount/value,productDescription',
    firstLine: 2,
    text: [
      '2026-05-01,10,1.9,11.9,"a ""quoted"", name\nover two lines"',
      '2026-05-02,ten,0,10,b',
      '2026-05-03,10,1,12,c',
      'someday,1,0,1,d',
      '2026-05-04,1,0',
      '2026-05-05,1.005,0,1.01,e',
    ].join('\n'),
  })
  assert.deepEqual(
    answer.refused.map(({ line, column }: Wire) => [line, column]),
    [
      [4, 'subTotal'],
      [5, 'transactionAmount'],
      [6, 'date'],
      [7, ''],
    ],
  )
  const { recorded, refused } = answer.properties
  assert.deepEqual([recorded, refused], [2, 4])
  const { value } = await started.get(`${list}&type=Unbilled&orderBy=date`)
  assert.equal(value[0].properties.productDescription, 'a "quoted", name\nover two lines')
  assert.equal(value[1].properties.subTotal.value, 1.01)
  const kept = await started.get(`${profile}/imports/file/refusals`)
  assert.equal(kept.value.length, 4)
  assert.equal((await started.get(`${profile}/imports/file`)).properties.recorded, 2)
  assert.equal((await started.get(`${profile}/imports`)).value.length, 1)
})

test('a quote out of place costs its line alone; tags are columns, also with a dot in their name', async () => {
  await using started = await startBilling()
  const answer = await send(started, {
    format: 'csv',
    header: 'date,transactionAmount,productDescription,tags/cost.center,__proto__/x,unknown',
    firstLine: 2,
    text: [
      '2026-05-01,1,a,north,1,1',
      '2026-05-01,2,5" wide,,,',
      '2026-05-01,3,"open,,,',
      '2026-05-01,4,"b, c","""south""",,',
    ].join('\r\n'),
  })
  assert.deepEqual(
    answer.refused.map(({ line, reason }: Wire) => [line, reason]),
    [
      [3, 'not CSV: a quote inside of a cell that has none around it'],
      [4, 'not CSV: a cell goes on behind its closing quote'],
    ],
  )
  const { value } = await started.get(`${list}&type=Unbilled&orderBy=transactionAmount/value`)
  assert.deepEqual(
    value.map(({ properties, tags }: Wire) => [properties.productDescription, tags]),
    [
      ['a', { 'cost.center': 'north' }],
      ['b, c', { 'cost.center': '"south"' }],
    ],
  )
})

test('the columns of FOCUS', async () => {
  await using started = await startBilling()
  const header =
    'BilledCost,BillingCurrency,ChargeCategory,ChargeDescription,ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,InvoiceId,ListUnitPrice,ContractedUnitPrice,PricingQuantity,PricingUnit,ServiceName,ServiceCategory,SkuPriceId,SubAccountName,PublisherName,ProviderName'
  const row = (cost: string, category: string) =>
    `${cost},EUR,${category},Some use,2026-05-03 10:00:00,2026-05-03T11:00:00Z,2026-05-01,2026-06-01,GABCDEFGH1,0.2,0.1,3.5,Hours,Compute,Machines,sku-1,Team A,A,B`
  const answer = await send(started, {
    format: 'focus',
    header,
    firstLine: 2,
    text: [row('0.35', 'Usage'), row('0.07', 'Tax'), row('x', 'Usage')].join('\n'),
  })
  assert.deepEqual(
    answer.refused.map(({ line, column }: Wire) => [line, column]),
    [[4, 'BilledCost']],
  )
  const { value } = await started.get(
    `${account}/invoices/GABCDEFGH1/transactions?orderBy=units,tax/value`,
  )
  const [usage, tax] = value.map((one: Wire) => one.properties)
  assert.deepEqual(
    [usage.transactionType, usage.subTotal.value, usage.units, usage.date, usage.isThirdParty],
    ['Usage Charge', 0.35, 3.5, '2026-05-03T10:00:00.000Z', true],
  )
  assert.equal(usage.servicePeriodEndDate, '2026-06-01T00:00:00.000Z')
  assert.deepEqual([tax.transactionType, tax.subTotal.value, tax.tax.value], ['Tax', 0, 0.07])
})

test('a piece sent twice, or after the wrong one, is recorded once', async () => {
  await using started = await startBilling()
  const row = (at: number) => `${JSON.stringify({ date: '2026-05-01', transactionAmount: at })}\n`
  const first = { text: row(1) + row(2) }
  await send(started, first)
  await assert.rejects(
    send(started, first),
    (error) =>
      error instanceof ApiError &&
      error.code === 'ImportOutOfStep' &&
      /byte 10/.test(error.message),
  )
  const second = {
    position: 10,
    digest: 'x',
    nextPosition: 20,
    nextDigest: 'y',
    firstLine: 3,
    text: row(3),
    completed: true,
  }
  await assert.rejects(send(started, { ...second, digest: 'z' }), ApiError)
  const done = await send(started, second)
  assert.deepEqual([done.properties.recorded, done.properties.completed], [3, true])
  assert.equal((await started.get(`${list}&type=Unbilled&count=true`)).count, 3)
  // The same transaction, by its name, in another file.
  const named = {
    name: 'other',
    text: `${JSON.stringify({ name: '11111111-2222-4333-8444-0000000000aa', date: '2026-05-01', transactionAmount: 1 })}\n`.repeat(
      2,
    ),
  }
  const other = await send(started, named)
  assert.deepEqual([other.properties.recorded, other.properties.present], [1, 1])
})

test('more records than one transaction may record are refused before any is', async () => {
  await using started = await startBilling()
  const text = '2026-05-01,1\n'.repeat(2_001)
  const refused = (error: { readonly status?: number; readonly message: string }): boolean =>
    error.status === 400 && /at most 2000 records/.test(error.message)
  const at = { format: 'csv', header: 'date,transactionAmount', text }
  await assert.rejects(send(started, at), refused)
  await assert.rejects(send(started, { ...at, text: '\n'.repeat(20_000) }), refused)
})

test('records deeper or wider than a transaction are refused, and others have their turns meanwhile', async () => {
  await using started = await startBilling()
  const reasonsOf = async (more: object): Promise<readonly string[]> => {
    const { refused } = await send(started, { name: `f${seed++}`, ...more })
    assert.ok(JSON.stringify(refused).length < 500_000, 'the answer is bounded')
    return refused.map(({ reason }: Wire) => reason)
  }
  let seed = 0
  // A column of ten thousand levels created as many objects for each record.
  const deep = Array.from({ length: 9_000 }, () => 'a').join('/')
  const [first] = readRecords('csv', `${deep},date`, 'x,1\n', 2)
  assert.deepEqual(first, { line: 2, length: 3, column: '', transaction: { date: '1' } })
  const json = [
    `{"tags":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
    `{"date":[${'[],'.repeat(20_000)}1]}`,
    `{"tags":{${Array.from({ length: 2_000 }, (_, at) => `"k${at}":"x"`).join()}}}`,
    `{"date":"${'x'.repeat(200_000)}"}`,
  ]
  for (const reason of await reasonsOf({ text: json.join('\n') })) {
    assert.match(reason, /deeper than a transaction|longer than 131072/)
  }
  const columns = Array.from({ length: 1_800 }, (_, at) => `tags/t${at}`)
  const running = { isOver: false }
  const wide = reasonsOf({
    format: 'csv',
    header: columns.join(),
    text: `${columns.map(() => 'x').join()}\n`.repeat(100),
  }).finally(() => {
    running.isOver = true
  })
  let turns = 0
  for (; !running.isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal((await wide).length, 100)
  assert.ok(turns >= 20, `${turns} turns`)
})

test('no text of a file and no query makes it fail but by a refusal', async () => {
  await using started = await startBilling()
  await send(started, {
    name: 'seed',
    text: '{"date":"2026-05-01","transactionAmount":1,"invoice":"G123456789"}\n',
  })
  let seed = 0
  const cell = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('', '1', '-1e9', '2026-05-01', 'USD', '"', 'NaN', '1e400', '\0', '{"a":{}}'),
  )
  const json = fc.oneof(
    fc.json({ maxDepth: 2 }),
    fc
      .dictionary(
        fc.constantFrom(
          'date',
          'name',
          'transactionAmount',
          'subTotal',
          'tax',
          'tags',
          'invoice',
          'quantity',
          'units',
          'billingCurrency',
          '__proto__',
          'refundTransactionDetails',
        ),
        fc.oneof(fc.jsonValue({ maxDepth: 2 }), cell),
      )
      .map((one) => JSON.stringify(one)),
  )
  const isRefusal = (error: unknown): void => {
    assert.ok(error instanceof ApiError && error.status < 500, String(error))
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(json, { maxLength: 4 }),
      fc.array(fc.array(cell, { maxLength: 4 }), { maxLength: 4 }),
      fc.array(cell, { maxLength: 4 }),
      async (lines, rows, header) => {
        await send(started, { name: `n${seed++}`, text: lines.join('\n') }).catch(isRefusal)
        const text = rows.map((row) => row.join(',')).join('\n')
        for (const format of ['csv', 'focus']) {
          const more = { name: `n${seed++}`, format, header: header.join(','), text }
          await send(started, more).catch(isRefusal)
        }
      },
    ),
    { numRuns: runsOf(150) },
  )
  const field = fc.constantFrom(
    'date',
    'quantity',
    'subTotal/value',
    'productDescription',
    'kind',
    'name',
    'id',
    'units',
    'creditType',
    'isThirdParty',
    'nosuch',
    'vendorCreditApplied/currency',
  )
  const value = fc.constantFrom(
    '1',
    '-1.5',
    '1e300',
    "'a'",
    'null',
    '2026-01-01',
    'true',
    "'2026-13-01'",
    'INF',
    'NaN',
    '99999999999999999999',
  )
  const term = fc.oneof(
    fc
      .tuple(field, fc.constantFrom('eq', 'ne', 'gt', 'le', 'in', 'has', 'add'), value)
      .map((p) => p.join(' ')),
    fc.tuple(field, value).map(([f, v]) => `${f} in (${v},${v})`),
    fc
      .tuple(fc.constantFrom('contains', 'tolower', 'year', 'length'), field, value)
      .map(([c, f, v]) => `${c}(${f},${v})`),
    fc.string({ maxLength: 20 }),
  )
  const filter = fc
    .array(term, { minLength: 1, maxLength: 3 })
    .chain((terms) =>
      fc.constantFrom(terms.join(' and '), terms.join(' or '), `not (${terms.join(' or ')})`),
    )
  await fc.assert(
    fc.asyncProperty(
      filter,
      fc.oneof(field, fc.string({ maxLength: 8 })),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('0', '3', '1000', 'x'),
      async (text, orderBy, search, skip) => {
        const query = new URLSearchParams({ filter: text, orderBy, search, skip, count: 'true' })
        await started.get(`${account}/invoices/G123456789/transactions?${query}`).catch(isRefusal)
        await started
          .get(`${account}/invoices/G123456789/transactionSummary?${query}`)
          .catch(isRefusal)
        await started.get(`${account}/invoices?${query}`).catch(isRefusal)
        await started.get(`${list}&type=Billed&${query}`).catch(isRefusal)
      },
    ),
    { numRuns: runsOf(400) },
  )
})

test('a cell whose column is named by a number takes no more than its text', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const heap = (): number => {
    collect()
    collect()
    return process.memoryUsage().heapUsed
  }
  const columns = Array.from({ length: 1000 }, (_, at) => `c${at}/1000`)
  const cells = columns.map(() => '1').join(',')
  const before = heap()
  const records = [...readRecords('csv', columns.join(','), `${cells}\n${cells}\n`, 2)]
  const bytes = (heap() - before) / (2 * columns.length)
  assert.ok(bytes < 1000, `${bytes} bytes`)
  assert.deepEqual(
    records.map((one) => 'transaction' in one && Object.entries(one.transaction)[999]),
    [0, 1].map(() => ['c999', { 1000: '1' }]),
  )
})
