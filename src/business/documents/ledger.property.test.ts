/**
 * The books after any life of documents, on both stores. An oracle keeps totals, balances and stock by rules of its own
 * out of the facts (5.1 to 5.7, 9.1, 9.2), without a line of what is tested; the ledgers must agree with it and with each other.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { dialects, openBooks } from '../testing/books.ts'

type Company = NonNullable<Awaited<ReturnType<typeof openBooks>>>

/** Amounts in hundredths of a cent's hundredth, as they are stored. */
const unit = 100_000n
const cent = 1_000n

/** `above / below` to a multiple of `step`, halves away from zero. */
function rounded(above: bigint, below: bigint, step: bigint): bigint {
  const whole = below * step
  const size = above < 0n ? -above : above
  const times = (2n * size + whole) / (2n * whole)
  return (above < 0n ? -times : times) * step
}

interface Line {
  readonly id: string
  quantity: bigint
  price: bigint
  percent: bigint
  code: 'FULL' | 'LOW'
}

interface Paper {
  readonly id: string
  readonly set: 'salesInvoices' | 'salesCreditMemos'
  readonly currency: string
  lines: Line[]
  status: 'Draft' | 'Open' | 'Paid' | 'Canceled' | 'Corrective'
  open: bigint
  total: bigint
  credited: bigint
  paid: bigint
  readonly of: Paper | undefined
}

const taxes = { FULL: 20n, LOW: 5n } as const
/** What 100 of a currency are worth, from a day on. */
const rates: Readonly<Record<string, readonly (readonly [day: string, worth: bigint])[]>> = {
  EUR: [
    ['2026-01-01', 108n],
    ['2026-11-22', 113n],
  ],
  JPY: [
    ['2026-01-01', 0n],
    ['2026-11-22', 0n],
  ],
}
/** Of the yen in hundredths: 0.64 and 0.71. */
const yen = [64n, 71n] as const

function stepOf(currency: string): bigint {
  return currency === 'JPY' ? unit : cent
}

/** In the company's own currency, on the day before the rates change or after. */
function worth(amount: bigint, currency: string, isLater: boolean): bigint {
  if (currency === '') return amount
  const at = isLater ? 1 : 0
  if (currency === 'JPY') return rounded(amount * yen[at], 10_000n, cent)
  return rounded(amount * (rates['EUR']?.[at]?.[1] ?? 0n), 100n, cent)
}

/** What the lines come to: each group of taxes is taxed as a whole. */
function totalOf({ lines, currency }: Paper): bigint {
  const step = stepOf(currency)
  let total = 0n
  for (const code of ['FULL', 'LOW'] as const) {
    let net = 0n
    for (const line of lines.filter((one) => one.code === code)) {
      const gross = rounded(line.quantity * line.price, unit, step)
      net += gross - rounded(gross * line.percent, 100n, step)
    }
    total += net + rounded(net * taxes[code], 100n, step)
  }
  return total
}

function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const number = (stored: bigint): number => Number(stored) / Number(unit)

class Life {
  readonly #company: Company
  readonly #random: (below: number) => number
  readonly #items: readonly string[]
  readonly #papers: Paper[] = []
  readonly #customerId: string
  owed = 0n
  bank = 0n
  gains = 0n
  readonly stock: bigint[] = [0n, 0n]

  constructor(company: Company, items: readonly string[], customerId: string, seed: number) {
    this.#company = company
    this.#items = items
    this.#customerId = customerId
    this.#random = randomOf(seed)
  }

  async step(): Promise<void> {
    const papers = this.#papers.filter(({ status }) => status !== 'Corrective')
    const paper = papers[this.#random(papers.length)]
    if (paper === undefined || this.#random(7) === 0) return await this.#create()
    switch (this.#random(8)) {
      case 0:
      case 1:
        return await this.#edit(paper)
      case 2:
      case 3:
        return await this.#post(paper)
      case 4:
        return await this.#cancel(paper)
      case 5:
        return await this.#credit(paper)
      default:
        return await this.#pay(paper)
    }
  }

  #line(): Omit<Line, 'id'> {
    return {
      quantity: BigInt(1 + this.#random(9)) * (unit / 2n),
      price: BigInt(1 + this.#random(30_000)) * cent,
      percent: BigInt(this.#random(3) * 10),
      code: this.#random(2) === 0 ? 'FULL' : 'LOW',
    }
  }

  async #create(): Promise<void> {
    const currency = ['', '', 'EUR', 'JPY'][this.#random(4)] ?? ''
    const set = this.#random(5) === 0 ? 'salesCreditMemos' : 'salesInvoices'
    const id = await this.#company.create(set, {
      customerId: this.#customerId,
      ...(currency === '' ? {} : { currencyCode: currency }),
    })
    const nothing = { lines: [], open: 0n, total: 0n, credited: 0n, paid: 0n, of: undefined }
    const paper: Paper = { id, set, currency, status: 'Draft', ...nothing }
    this.#papers.push(paper)
    for (let at = this.#random(4); at >= 0; at--) await this.#add(paper)
  }

  #linesSet(paper: Paper): string {
    return `${paper.set.slice(0, -1)}Lines`
  }

  async #add(paper: Paper): Promise<void> {
    const line = this.#line()
    const id = await this.#company.create(
      this.#linesSet(paper),
      { itemId: this.#itemOf(line.code), ...bodyOf(line), taxCode: line.code },
      { documentId: paper.id },
    )
    paper.lines.push({ id, ...line })
  }

  #itemOf(code: Line['code']): string | undefined {
    return this.#items[code === 'FULL' ? 0 : 1]
  }

  async #edit(paper: Paper): Promise<void> {
    const line = paper.lines[this.#random(paper.lines.length)]
    if (line === undefined) return
    const { quantity, price, percent } = this.#line()
    const isOpen = paper.status === 'Draft'
    if (this.#random(4) === 0) {
      const done = this.#company.remove(this.#linesSet(paper), line.id)
      if (!isOpen) return await refused(done)
      await done
      paper.lines = paper.lines.filter((one) => one !== line)
      return
    }
    const done = this.#company.change(
      this.#linesSet(paper),
      line.id,
      bodyOf({ quantity, price, percent }),
      '*',
    )
    if (!isOpen) return await refused(done)
    await done
    Object.assign(line, { quantity, price, percent })
    if (this.#random(3) === 0) await this.#add(paper)
    if (this.#random(3) === 0)
      await this.#company.change(paper.set, paper.id, { externalDocumentNumber: 'P' }, '*')
  }

  async #post(paper: Paper): Promise<void> {
    const done = this.#company.act(paper.set, paper.id, 'post')
    if (paper.status !== 'Draft' || paper.lines.length === 0) return await refused(done)
    const total = totalOf(paper)
    const { of } = paper
    if (of !== undefined) {
      const isCreditable = of.status === 'Open' || of.status === 'Paid'
      if (!isCreditable || total > of.total - of.credited) return await refused(done)
    }
    await done
    paper.total = total
    const isInvoice = paper.set === 'salesInvoices'
    this.#moveStock(paper, isInvoice ? -1n : 1n)
    const row = await this.#company.row(paper.set, paper.id)
    assert.equal(BigInt(Number(row['total_amount_including_tax'])), total, 'the total')
    if (of === undefined) {
      paper.status = total === 0n ? 'Paid' : 'Open'
      paper.open = total
      this.owed += (isInvoice ? 1n : -1n) * worth(total, paper.currency, false)
      return
    }
    paper.status = 'Corrective'
    of.credited += total
    const isClosed = total >= of.open
    const applied = isClosed ? of.open : total
    this.owed -= worth(of.open, of.currency, false)
    of.open -= applied
    this.owed += worth(of.open, of.currency, false) - worth(total - applied, of.currency, false)
    if (applied > 0n && isClosed) of.status = 'Paid'
  }

  #moveStock({ lines }: Paper, sign: bigint): void {
    for (const { code, quantity } of lines) {
      const at = code === 'FULL' ? 0 : 1
      this.stock[at] = (this.stock[at] ?? 0n) + sign * quantity
    }
  }

  async #cancel(paper: Paper): Promise<void> {
    const done = this.#company.act(paper.set, paper.id, 'cancel')
    const isInvoice = paper.set === 'salesInvoices'
    const isPosted = paper.status === 'Open' || paper.status === 'Paid'
    if (!isPosted || (isInvoice && paper.open !== paper.total)) return await refused(done)
    await done
    paper.status = 'Canceled'
    paper.open = 0n
    this.#moveStock(paper, isInvoice ? 1n : -1n)
    this.owed -= (isInvoice ? 1n : -1n) * worth(paper.total, paper.currency, false)
  }

  async #credit(paper: Paper): Promise<void> {
    if (paper.set !== 'salesInvoices') return
    const done = this.#company.act(paper.set, paper.id, 'makeCorrectiveCreditMemo')
    if (paper.status !== 'Open' || paper.open !== paper.total) return await refused(done)
    const id = await done
    const rows = await this.#company.lines(id)
    const lines = paper.lines.map((line, at) => ({ ...line, id: String(rows[at]?.['id']) }))
    const nothing = { open: 0n, total: 0n, credited: 0n, paid: 0n }
    const { currency } = paper
    this.#papers.push({
      id,
      set: 'salesCreditMemos',
      currency,
      lines,
      status: 'Draft',
      ...nothing,
      of: paper,
    })
  }

  async #pay(paper: Paper): Promise<void> {
    if (paper.set !== 'salesInvoices') return
    const step = stepOf(paper.currency)
    const isBack = this.#random(3) === 0
    const most = isBack ? paper.paid : paper.open
    const part = [most, rounded(most, 2n, step), most + step][this.#random(3)] ?? most
    const amount = isBack ? -part : part
    if (amount === 0n) return
    const isLater = this.#random(2) === 0
    const done = this.#company.create('customerPayments', {
      appliesToInvoiceId: paper.id,
      amount: number(amount),
      postingDate: isLater ? '2026-11-23' : '2026-11-21',
    })
    const isPosted = paper.status === 'Open' || paper.status === 'Paid'
    if (!isPosted || part > most) return await refused(done)
    await done
    const before = worth(paper.open, paper.currency, false)
    paper.open -= amount
    paper.paid += amount
    const off = before - worth(paper.open, paper.currency, false)
    const received = isLater && paper.currency !== '' ? worth(amount, paper.currency, true) : off
    this.owed -= off
    this.bank += received
    this.gains += received - off
    paper.status = paper.open === 0n ? 'Paid' : 'Open'
  }
}

function bodyOf({ quantity, price, percent }: Pick<Line, 'quantity' | 'price' | 'percent'>) {
  return { quantity: number(quantity), unitPrice: number(price), discountPercent: Number(percent) }
}

/** Refused by a rule, with nothing written. */
async function refused(done: Promise<unknown>): Promise<void> {
  await assert.rejects(done, (error: unknown) => {
    assert.ok(error instanceof ApiError, String(error))
    return true
  })
}

async function numberOf(company: Company, select: string, ...values: string[]): Promise<bigint> {
  const [row] = await company.sql.all(
    `select cast(coalesce(${select}, 0) as bigint) as n`,
    ...values,
  )
  return BigInt(Number(row?.['n'] ?? 0))
}

/** The ledgers agree with each other, and with what the oracle says. */
async function checkEntries(
  company: Company,
  customerId: string,
  life: Life,
  items: readonly string[],
) {
  const of = (select: string, ...values: string[]) => numberOf(company, select, ...values)
  const account = (code: string) =>
    of(
      `(select sum(debit_amount - credit_amount) from business_general_ledger_entries
         where account_id = (select account_id from business_posting_accounts where code = ?))`,
      code,
    )
  const customers =
    '(select sum(amount_local) from business_customer_ledger_entries where customer_id = ?)'
  assert.equal(await of(customers, customerId), life.owed, 'what the customer owes')
  const balance = '(select balance_due from business_customers where id = ?)'
  assert.equal(await of(balance, customerId), life.owed, 'the balance')
  assert.equal(await account('Receivables'), life.owed, 'the receivables')
  assert.equal(await account('Bank'), life.bank, 'the bank')
  const gained = (await account('Exchange Gains')) + (await account('Exchange Losses'))
  assert.equal(-gained, life.gains, 'gains less losses')
  const off = await company.sql.all(
    `select document_id from business_general_ledger_entries group by document_id
       having sum(debit_amount) <> sum(credit_amount)`,
  )
  assert.deepEqual(off, [], 'every document balances')
  const moved = await company.sql.all(
    `select accounts.number from business_accounts accounts where net_change <> (
       select coalesce(sum(debit_amount - credit_amount), 0) from business_general_ledger_entries
         where account_id = accounts.id)
       or net_change <> total_debit - total_credit or net_change <> balance_debit - balance_credit`,
  )
  assert.deepEqual(moved, [], 'accounts are the sums of their entries')
  const taxes = '(select sum(amount) from business_tax_entries)'
  assert.equal(await of(taxes), -(await account('Tax')), 'tax entries')
  for (const [at, itemId] of items.entries()) {
    const entries = '(select sum(quantity) from business_item_ledger_entries where item_id = ?)'
    const stock = '(select inventory from business_items where id = ?)'
    assert.equal(await of(entries, itemId), life.stock[at], 'entries of stock')
    assert.equal(await of(stock, itemId), life.stock[at], 'stock')
  }
  const numbers = await company.sql.all(
    `select entry_number from business_general_ledger_entries union all
       select entry_number from business_customer_ledger_entries union all
       select entry_number from business_tax_entries union all
       select entry_number from business_item_ledger_entries`,
  )
  const distinct = new Set(numbers.map((row) => Number(row['entry_number'])))
  assert.equal(distinct.size, numbers.length, 'a number is given once')
  assert.equal(Math.max(0, ...distinct), numbers.length, 'numbers have no gap')
}

async function createCurrencies(company: Company) {
  for (const code of ['EUR', 'JPY']) {
    await company.create('currencies', { code, amountRoundingPrecision: code === 'JPY' ? 1 : 0.01 })
    for (const [at, day] of ['2026-01-01', '2026-11-22'].entries()) {
      await company.create('currencyExchangeRates', {
        currencyCode: code,
        startingDate: day,
        exchangeRateAmount: 100,
        relationalExchangeRateAmount:
          code === 'JPY' ? Number(yen[at]) / 100 : Number(rates['EUR']?.[at]?.[1]),
      })
    }
  }
}

const isLong = process.env['ARMATURE_TEST_LONG'] === '1'
/** Lives of each company: what is checked of a company costs the entries it has. */
const livesOfCompany = 12
const stepsOfLife = 14

for (const dialect of dialects) {
  test(`${dialect}: the ledgers agree over any life of documents`, async (t) => {
    const lives = isLong ? 5_000 : 36
    const first = Number(process.env['ARMATURE_TEST_SEED'] ?? 1)
    for (let seed = first; seed < first + lives; seed += livesOfCompany) {
      await using company = await openBooks(t, dialect, { percents: { FULL: 20, LOW: 5 } })
      if (company === undefined) return
      await createCurrencies(company)
      const low = await company.create('items', {
        displayName: 'Low',
        unitPrice: 10,
        baseUnitOfMeasureCode: 'PCS',
        taxGroupCode: 'LOW',
      })
      const items = [company.itemId, low]
      const life = new Life(company, items, company.customerId, seed)
      for (let at = 0; at < livesOfCompany * stepsOfLife; at++) {
        await life.step()
        if (at % stepsOfLife === 0) await checkEntries(company, company.customerId, life, items)
      }
      await checkEntries(company, company.customerId, life, items)
    }
  })
}
