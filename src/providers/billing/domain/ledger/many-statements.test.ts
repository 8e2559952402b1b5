/** An account with thousands of invoices: what each request costs does not grow with their number. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Sql, type SqlTx, type SqlValue, type Store, StoreUnavailable } from '#stores/store.ts'
import { put, row } from '../../testing/rows.ts'
import { account, billingStore, profile, startBilling } from '../../testing/start.ts'

type Statement = readonly [text: string, values: readonly SqlValue[]]

/** The store, which notes what it is asked. */
function noting(store: Store, noted: Statement[]): Store {
  const all = (from: Pick<Sql, 'all'>) => (text: string, values: readonly SqlValue[]) => {
    noted.push([text, values])
    return from.all(text, ...values)
  }
  const over = <T extends Pick<Sql, 'all'>>(from: T, more: object): T =>
    new Proxy(from, {
      get(target, name) {
        if (name === 'all')
          return (text: string, ...values: SqlValue[]) => all(target)(text, values)
        const own = Reflect.get(more, name) ?? Reflect.get(target, name)
        return typeof own === 'function' ? own.bind(target) : own
      },
    })
  const sql = over(store.sql, {
    transact: (work: (tx: SqlTx) => Promise<unknown>, ...rest: []) =>
      store.sql.transact((tx) => work(over(tx, {})), ...rest),
  })
  return new Proxy(store, {
    get(target, name) {
      const own = name === 'sql' ? sql : Reflect.get(target, name)
      return typeof own === 'function' ? own.bind(target) : own
    },
  })
}

const invoiceOf = (at: number): string => `G${String(at).padStart(9, '0')}`
const nameOf = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

test('of an account with more invoices than are listed, each transaction is found, by one search', async () => {
  await using store = await billingStore()
  const noted: Statement[] = []
  await using started = await startBilling({ store: noting(store, noted) })
  for (const from of [0, 2000, 4000]) {
    const rows = Array.from({ length: from === 4000 ? 50 : 2000 }, (_, at) =>
      row({ invoice: invoiceOf(from + at) }, { name: nameOf(from + at) }),
    )
    assert.deepEqual(await put(started, rows), [])
  }
  noted.length = 0
  const first = await started.get(`${profile}/transactions/${nameOf(0)}`)
  assert.equal(first.properties?.invoice, invoiceOf(0))
  const refunded = await started.post(`${first.id}/refund`, { amount: 1 })
  assert.equal(refunded.properties.transactionAmount.value, -1)
  assert.deepEqual(await put(started, [row({}, { name: nameOf(0) })]), [])
  const looked = noted.filter(([text]) => /from billing_entries.*\bname (=|in)/s.test(text))
  assert.ok(looked.length > 0 && looked.length < 20, `${looked.length} searches`)
  for (const [text, values] of looked) {
    const explained = `explain query plan ${text}`
    const plan = await store.sql.transact((tx) => tx.all(explained, ...values))
    const steps = plan.map(({ detail }) => String(detail))
    assert.ok(
      steps.some((step) => /billing_entries .*\(name=\?\)/.test(step)),
      `${text}: ${steps.join('; ')}`,
    )
  }
})

test('an old month is listed, however many invoices came after it', async () => {
  await using started = await startBilling()
  assert.deepEqual(await put(started, [row({ invoice: 'GOLDMONTH1', date: '2026-01-05' })]), [])
  const later = Array.from({ length: 1100 }, (_, at) => row({ invoice: invoiceOf(at) }))
  assert.deepEqual(await put(started, later), [])
  const list = (end: string) =>
    started.get(
      `${profile}/transactions?type=Billed&periodStartDate=01-01-2026&periodEndDate=${end}`,
    )
  assert.equal((await list('01-31-2026')).value.length, 1)
  await assert.rejects(list('12-30-9999'), { code: 'PeriodTooLong' })
})

test('statements of an old month are found without a walk through later ones', async () => {
  await using store = await billingStore()
  const noted: Statement[] = []
  await using started = await startBilling({ store: noting(store, noted) })
  assert.deepEqual(await put(started, [row({ invoice: invoiceOf(1) }), row({})]), [])
  for (const type of ['Billed', 'Unbilled']) {
    noted.length = 0
    const period = 'periodStartDate=01-01-2000&periodEndDate=01-31-2000'
    const listed = await started.get(`${profile}/transactions?type=${type}&${period}`)
    assert.deepEqual(listed.value, [])
    const looked = noted.filter(([text]) => /from billing_statements.*month <=/s.test(text))
    assert.equal(looked.length, 1)
    for (const [text, values] of looked) {
      const plan = await store.sql.transact((tx) => tx.all(`explain query plan ${text}`, ...values))
      assert.deepEqual(
        plan.map(({ detail }) => detail),
        [
          'SEARCH billing_statements USING INDEX billing_statements_by_month (account_key=? AND profile_key=? AND <expr>=? AND month<?)',
        ],
      )
    }
  }
})

test('the newest invoices are listed without a look at all others, and at what is pending', async () => {
  await using store = await billingStore()
  const noted: Statement[] = []
  await using started = await startBilling({ store: noting(store, noted) })
  assert.deepEqual(
    await put(started, [row({ invoice: invoiceOf(1) }), row({ invoice: undefined })]),
    [],
  )
  for (const path of [account, profile]) {
    noted.length = 0
    assert.equal((await started.get(`${path}/invoices`)).value.length, 1)
    const [[text, values] = ['', []]] = noted.filter((one) => /invoice is not null/.test(one[0]))
    const plan = await store.sql.transact((tx) => tx.all(`explain query plan ${text}`, ...values))
    const steps = plan.map(({ detail }) => String(detail)).join('; ')
    assert.match(steps, /^SEARCH billing_statements USING INDEX billing_invoices_of_\w+ \([^;]*\)$/)
  }
})

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
/** 676 statements: one for each currency. */
const manyPending = letters
  .flatMap((one) => letters.map((other) => `X${one}${other}`))
  .map((billingCurrency) => row({ invoice: undefined, date: '2026-09-01', billingCurrency }))

/** Called with the number of the transaction that closes some, before its first write. */
function beforeClosing(store: Store, then: (step: number) => void): void {
  const { transact } = store.sql
  let step = 0
  store.sql.transact = (work, mode) =>
    transact((tx) => {
      let isClosing = false
      const run = tx.run.bind(tx)
      tx.run = async (text, ...values) => {
        if (!isClosing && text.startsWith('update billing_statements set invoice')) {
          isClosing = true
          then(++step)
        }
        return run(text, ...values)
      }
      return work(tx)
    }, mode)
}

test('what was closed before a later step failed is answered, and the next request answers the rest', async () => {
  await using store = await billingStore()
  await using started = await startBilling({ store })
  assert.deepEqual(await put(started, manyPending), [])
  let failing = 3
  beforeClosing(store, (step) => {
    if (step === failing) throw new StoreUnavailable('away', 'later')
  })
  const close = async (): Promise<string[]> =>
    (await started.post(`${profile}/closeInvoices`, {})).value.map(
      (one: { readonly invoice: string }) => one.invoice,
    )
  const first = await close()
  assert.equal(first.length, 400)
  failing = 4
  await assert.rejects(close(), StoreUnavailable)
  const rest = await close()
  assert.equal(new Set([...first, ...rest]).size, manyPending.length)
})

test('a round that is stopped closes no more than some of many statements', async () => {
  await using store = await billingStore()
  await using started = await startBilling({ store })
  assert.deepEqual(await put(started, manyPending), [])
  let end: Promise<void> | undefined
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  beforeClosing(store, () => {
    end ??= rounds?.[Symbol.asyncDispose]() as Promise<void>
    resolve()
  })
  const rounds = started.plane.registry.providers[1]?.start?.()
  await begun
  await end
  const [closed] = await store.sql.all(
    'select count(*) as n from billing_statements where invoice is not null',
  )
  assert.equal(Number(closed?.['n']), 200)
})

test('however many statements are pending, no transaction closes more than some of them', async () => {
  await using store = await billingStore()
  let most = 0
  const { transact } = store.sql
  store.sql.transact = (work, mode) =>
    transact((tx) => {
      let closed = 0
      const run = tx.run.bind(tx)
      tx.run = (text, ...values) => {
        if (text.startsWith('update billing_statements set invoice'))
          most = Math.max(most, ++closed)
        return run(text, ...values)
      }
      return work(tx)
    }, mode)
  await using started = await startBilling({ store })
  assert.deepEqual(await put(started, manyPending), [])
  const { value } = await started.post(`${profile}/closeInvoices`, {})
  assert.equal(
    new Set(value.map((one: { readonly invoice: string }) => one.invoice)).size,
    manyPending.length,
  )
  assert.ok(most > 0 && most <= 200, `${most} at once`)
  await assert.rejects(started.post(`${profile}/closeInvoices`, {}), { code: 'NothingToInvoice' })
})
