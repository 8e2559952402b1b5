/**
 * The ledgers after any life of documents, on both stores: created, edited, posted, corrected, paid, reverted.
 * `testing/paper-oracle.ts` calculates the result from the facts alone; the ledgers must agree with it and with
 * each other.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { dialects, openCompany } from '../testing/books.ts'
import * as oracle from '../testing/paper-oracle.ts'
import { type Line, type Paper, rounded, stepOf, unit, worth } from '../testing/paper-oracle.ts'

type Company = NonNullable<Awaited<ReturnType<typeof openCompany>>>

const cent = 1_000n
const currencies = ['', 'EUR', 'JPY'] as const
/** Before and after the change of rates. */
const days = ['2026-11-21', '2026-11-23'] as const
const dateOf = {
  salesInvoices: 'invoiceDate',
  salesCreditMemos: 'creditMemoDate',
  salesQuotes: 'documentDate',
} as const
const nothing = {
  open: 0n,
  total: 0n,
  tax: 0n,
  credited: 0n,
  unapplied: 0n,
  paid: 0n,
  discounted: 0n,
}
const noTerms = '00000000-0000-0000-0000-000000000000'

function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const number = (stored: bigint): number => Number(stored) / Number(unit)

/** Data that a company has before any document. */
interface Known {
  readonly items: readonly string[]
  readonly customers: readonly string[]
  /** Terms with a discount for early payment. */
  readonly terms: string
}

class Life {
  readonly #company: Company
  readonly #random: (below: number) => number
  readonly #items: readonly string[]
  readonly #papers: Paper[] = []
  readonly #customers: readonly string[]
  readonly #terms: string
  readonly owed: bigint[]
  bank = 0n
  gains = 0n
  /** Discounts for early payment. */
  discounts = 0n
  /** Exact except for documents in other currencies, whose parts are rounded so that they add up. */
  tax = 0n
  taxRounding = 0n
  readonly stock: bigint[] = [0n, 0n]

  constructor(company: Company, { items, customers, terms }: Known, seed: number) {
    this.#terms = terms
    this.#company = company
    this.#items = items
    this.#customers = customers
    this.owed = customers.map(() => 0n)
    this.#random = randomOf(seed)
  }

  async step(): Promise<void> {
    const papers = this.#papers.filter(({ status }) => status !== 'Corrective' && status !== 'Gone')
    const paper = papers[this.#random(papers.length)]
    if (paper === undefined || this.#random(7) === 0) return await this.#create()
    switch (this.#random(11)) {
      case 0:
      case 1:
        return await this.#editLine(paper)
      case 2:
      case 3:
      case 4:
        return await this.#editHeader(paper)
      case 5:
      case 6:
        return paper.set === 'salesQuotes'
          ? await this.#makeInvoice(paper)
          : await this.#post(paper)
      case 7:
        return await this.#cancel(paper)
      case 8:
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
    const currency = currencies[Math.max(0, this.#random(4) - 1)] ?? ''
    const buyer = this.#random(this.#customers.length)
    const set = (['salesCreditMemos', 'salesQuotes'] as const)[this.#random(6)] ?? 'salesInvoices'
    const id = await this.#company.create(set, {
      customerId: this.#customers[buyer],
      ...(currency === '' ? {} : { currencyCode: currency }),
    })
    const paper: Paper = {
      id,
      set,
      buyer,
      payer: buyer,
      currency,
      isLater: false,
      hasLaterRate: false,
      discount: 0n,
      lines: [],
      status: 'Draft',
      hasTerms: false,
      of: undefined,
      ...nothing,
    }
    this.#papers.push(paper)
    for (let at = this.#random(4); at >= 0; at--) await this.#add(paper)
    await this.#checkTotals(paper)
  }

  #linesSet(paper: Paper): string {
    return `${paper.set.slice(0, -1)}Lines`
  }

  async #add(paper: Paper): Promise<void> {
    const line = this.#line()
    const isOwn = this.#random(4) === 0
    const { unitPrice, ...body } = bodyOf(line)
    const id = await this.#company.create(
      this.#linesSet(paper),
      {
        itemId: this.#items[line.code === 'FULL' ? 0 : 1],
        ...body,
        ...(isOwn ? {} : { unitPrice }),
      },
      { documentId: paper.id },
    )
    if (isOwn) line.price = oracle.ownPrice(paper, line.code)
    paper.lines.push({ id, ...line })
  }

  async #editLine(paper: Paper): Promise<void> {
    const line = paper.lines[this.#random(paper.lines.length)]
    if (line === undefined) return
    const { quantity, price, percent } = this.#line()
    const isOpen = paper.status === 'Draft'
    if (this.#random(4) === 0) {
      const done = this.#company.remove(this.#linesSet(paper), line.id)
      if (!isOpen) return await refused(done)
      await done
      paper.lines = paper.lines.filter((one) => one !== line)
    } else {
      const body = bodyOf({ quantity, price, percent })
      const done = this.#company.change(this.#linesSet(paper), line.id, body, '*')
      if (!isOpen) return await refused(done)
      await done
      paper.discount -= oracle.carriedBy(paper, line)
      Object.assign(line, { quantity, price, percent })
    }
    oracle.limitDiscount(paper)
    if (this.#random(3) === 0) await this.#add(paper)
    await this.#checkTotals(paper)
  }

  async #editHeader(paper: Paper): Promise<void> {
    const { body, change } = this.#headerChange(paper)
    const done = this.#company.change(paper.set, paper.id, body, '*')
    const isSame = Object.entries(change).every(
      ([key, value]) => paper[key as keyof Paper] === value,
    )
    if (isSame) return await done
    const isTooMuch = change.discount !== undefined && change.discount > oracle.baseOf(paper)
    if (paper.status !== 'Draft' || isTooMuch) return await refused(done)
    await done
    oracle.changeHeader(paper, change)
    await this.#checkTotals(paper)
  }

  #headerChange(paper: Paper): { body: Record<string, unknown>; change: Partial<oracle.Header> } {
    const one = this.#random(this.#customers.length)
    const currency = currencies[this.#random(3)] ?? ''
    switch (this.#random(6)) {
      case 0: {
        const customerId = this.#customers[one]
        // Setting the same customer again changes nothing.
        if (one === paper.buyer) return { body: { customerId }, change: {} }
        return { body: { customerId }, change: { buyer: one, payer: one, currency: '' } }
      }
      case 1:
        return { body: { billToCustomerId: this.#customers[one] }, change: { payer: one } }
      case 2:
        return { body: { currencyCode: currency }, change: { currency } }
      case 3: {
        const isLater = this.#random(2) === 0
        return { body: { [dateOf[paper.set]]: days[isLater ? 1 : 0] }, change: { isLater } }
      }
      default: {
        const most = oracle.baseOf(paper)
        const step = stepOf(paper)
        const amounts = [0n, rounded(most, 10n, step), rounded(most, 3n, step), most, most + step]
        const discount = amounts[this.#random(amounts.length)] ?? 0n
        return { body: { discountAmount: number(discount) }, change: { discount } }
      }
    }
  }

  async #checkTotals(paper: Paper): Promise<void> {
    const row = await this.#company.row(paper.set, paper.id)
    const { net, including } = oracle.totalsOf(paper)
    const stored = (column: string) => BigInt(Number(row[column]))
    assert.equal(stored('discount_amount'), paper.discount, 'the discount')
    assert.equal(stored('total_amount_excluding_tax'), net, 'the total without the tax')
    assert.equal(stored('total_amount_including_tax'), including, 'the total')
    const lines = await this.#company.lines(paper.id)
    const nets = lines.reduce((sum, line) => sum + BigInt(Number(line['net_amount'])), 0n)
    assert.equal(nets, net, 'the sum of the lines')
  }

  async #post(paper: Paper): Promise<void> {
    if (paper.status === 'Draft' && paper.set === 'salesInvoices') {
      paper.hasTerms = this.#random(2) === 0
      const paymentTermsId = paper.hasTerms ? this.#terms : noTerms
      await this.#company.change(paper.set, paper.id, { paymentTermsId }, '*')
    }
    const done = this.#company.act(paper.set, paper.id, 'post')
    if (paper.status !== 'Draft' || paper.lines.length === 0) return await refused(done)
    const { net, including: total } = oracle.totalsOf(paper)
    const { of } = paper
    if (of !== undefined) {
      const isSame = of.payer === paper.payer && of.currency === paper.currency
      const isCreditable = isSame && (of.status === 'Open' || of.status === 'Paid')
      if (!isCreditable || total > of.total - of.credited - of.discounted)
        return await refused(done)
      paper.hasLaterRate = of.hasLaterRate
    }
    await done
    paper.total = total
    paper.tax = total - net
    const sign = paper.set === 'salesInvoices' ? 1n : -1n
    this.#moveStock(paper, -sign)
    this.#bookTax(paper, sign)
    await this.#checkTotals(paper)
    if (of === undefined) {
      paper.status = total === 0n ? 'Paid' : 'Open'
      paper.open = total
      this.#owe(paper, sign * worth(total, paper.currency, paper.hasLaterRate))
      return
    }
    paper.status = 'Corrective'
    of.credited += total
    const isClosed = total >= of.open
    const applied = isClosed ? of.open : total
    const before = oracle.owedOf(of)
    of.open -= applied
    of.unapplied += total - applied
    this.#owe(of, oracle.owedOf(of) - before)
    if (applied > 0n && isClosed) of.status = 'Paid'
  }

  #owe({ payer }: Paper, amount: bigint): void {
    this.owed[payer] = (this.owed[payer] ?? 0n) + amount
  }

  #bookTax(paper: Paper, sign: bigint): void {
    this.tax += sign * worth(paper.tax, paper.currency, paper.hasLaterRate)
    // Two sums are converted for each group of taxes.
    if (paper.currency !== '') this.taxRounding += 2n * cent
  }

  #moveStock({ lines }: Paper, sign: bigint): void {
    for (const { code, quantity } of lines) {
      const at = code === 'FULL' ? 0 : 1
      this.stock[at] = (this.stock[at] ?? 0n) + sign * quantity
    }
  }

  async #cancel(paper: Paper): Promise<void> {
    if (paper.set === 'salesQuotes') return
    const done = this.#company.act(paper.set, paper.id, 'cancel')
    const isInvoice = paper.set === 'salesInvoices'
    const isPosted = paper.status === 'Open' || paper.status === 'Paid'
    if (!isPosted || (isInvoice && paper.open !== paper.total)) return await refused(done)
    await done
    paper.status = 'Canceled'
    paper.open = 0n
    const sign = isInvoice ? -1n : 1n
    this.#moveStock(paper, -sign)
    this.#bookTax(paper, sign)
    this.#owe(paper, sign * worth(paper.total, paper.currency, paper.hasLaterRate))
  }

  async #credit(paper: Paper): Promise<void> {
    if (paper.set !== 'salesInvoices') return
    const done = this.#company.act(paper.set, paper.id, 'makeCorrectiveCreditMemo')
    if (paper.status !== 'Open' || paper.open !== paper.total) return await refused(done)
    await this.#copy(paper, await done, 'salesCreditMemos', paper)
  }

  async #makeInvoice(paper: Paper): Promise<void> {
    const done = this.#company.act(paper.set, paper.id, 'makeInvoice')
    await this.#copy(paper, await done, 'salesInvoices', undefined)
    paper.status = 'Gone'
  }

  /** A copy has today's date. A credit memo has the rate of its invoice, and the invoice of a quote that of its date. */
  async #copy(paper: Paper, id: string, set: Paper['set'], of: Paper | undefined): Promise<void> {
    const rows = await this.#company.lines(id)
    const lines = paper.lines.map((line, at) => ({ ...line, id: String(rows[at]?.['id']) }))
    const copy: Paper = {
      ...paper,
      ...nothing,
      id,
      set,
      lines,
      status: 'Draft',
      isLater: false,
      hasLaterRate: of !== undefined && paper.hasLaterRate,
      // The copy brings them, and they are set again before it is posted.
      hasTerms: false,
      of,
    }
    this.#papers.push(copy)
    await this.#checkTotals(copy)
  }

  async #pay(any: Paper): Promise<void> {
    if (this.#random(6) === 0) return await this.#payOnAccount()
    const payable = this.#papers.filter(
      ({ set, status }) => set === 'salesInvoices' && (status === 'Open' || status === 'Paid'),
    )
    // Mostly one that can be paid: many are drafts and quotes.
    const paper = this.#random(5) === 0 ? any : (payable[this.#random(payable.length)] ?? any)
    if (paper.set !== 'salesInvoices') return
    const step = stepOf(paper)
    const isBack = this.#random(3) === 0
    const most = isBack ? paper.paid : paper.open
    const isLater = this.#random(2) === 0
    const early = most - (isBack ? 0n : oracle.earlyDiscount(paper, isLater))
    const parts = [most, rounded(most, 2n, step), most + step, early, early - step]
    const part = parts[this.#random(parts.length)] ?? most
    const amount = isBack ? -part : part
    if (part <= 0n) return
    const done = this.#company.create('customerPayments', {
      appliesToInvoiceId: paper.id,
      amount: number(amount),
      postingDate: days[isLater ? 1 : 0],
    })
    const isPosted = paper.status === 'Open' || paper.status === 'Paid'
    if (!isPosted || part > most) return await refused(done)
    await done
    const { currency, hasLaterRate } = paper
    const before = worth(paper.open, currency, hasLaterRate)
    const rest = paper.open - amount
    const isEarly = rest > 0n && rest <= oracle.earlyDiscount(paper, isLater)
    const discount = isBack ? -paper.discounted : isEarly ? rest : 0n
    const off = before - worth(rest, currency, hasLaterRate)
    const owed = oracle.owedOf(paper)
    paper.open = rest - discount
    paper.paid += amount
    paper.discounted += discount
    const discounts = before - worth(paper.open, currency, hasLaterRate) - off
    this.discounts += discounts
    // What credit memos left over closes what is open again.
    const credit = oracle.least(paper.unapplied, paper.open)
    paper.open -= credit
    paper.unapplied -= credit
    const change = oracle.owedOf(paper) - owed
    this.#owe(paper, change)
    // At the rate of the invoice the parts add up to the whole. At another rate each is converted by itself.
    const received = isLater === hasLaterRate ? off : worth(amount, currency, isLater)
    const came = currency === '' ? off : received
    this.bank += came
    this.gains += came + discounts + change
    paper.status = paper.open === 0n ? 'Paid' : 'Open'
  }

  async #payOnAccount(): Promise<void> {
    const payer = this.#random(this.#customers.length)
    const amount = BigInt(this.#random(2_000) - 500) * cent
    if (amount === 0n) return
    const body = { customerId: this.#customers[payer], amount: number(amount) }
    await this.#company.create('customerPayments', body)
    this.owed[payer] = (this.owed[payer] ?? 0n) - amount
    this.bank += amount
  }
}

function bodyOf({ quantity, price, percent }: Pick<Line, 'quantity' | 'price' | 'percent'>) {
  return { quantity: number(quantity), unitPrice: number(price), discountPercent: Number(percent) }
}

/** Refused by a rule, and nothing was written. */
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

/** The ledgers agree with each other and with the oracle. */
async function checkEntries(company: Company, { customers, items }: Known, life: Life) {
  const of = (select: string, ...values: string[]) => numberOf(company, select, ...values)
  const account = (code: string) =>
    of(
      `(select sum(debit_amount - credit_amount) from business_general_ledger_entries
         where account_id = (select account_id from business_posting_accounts where code = ?))`,
      code,
    )
  const owed =
    '(select sum(amount_local) from business_customer_ledger_entries where customer_id = ?)'
  const balance = '(select balance_due from business_customers where id = ?)'
  for (const [at, customerId] of customers.entries()) {
    assert.equal(await of(owed, customerId), life.owed[at], 'what the customer owes')
    assert.equal(await of(balance, customerId), life.owed[at], 'the balance')
  }
  const together = life.owed.reduce((sum, one) => sum + one, 0n)
  assert.equal(await account('Receivables'), together, 'the receivables')
  assert.equal(await account('Bank'), life.bank, 'the bank')
  assert.equal(await account('Payment Discounts'), life.discounts, 'discounts for early payment')
  const gained = (await account('Exchange Gains')) + (await account('Exchange Losses'))
  assert.equal(-gained, life.gains, 'gains less losses')
  const uneven = await company.sql.all(
    `select document_id from business_general_ledger_entries group by document_id
       having sum(debit_amount) <> sum(credit_amount)`,
  )
  assert.deepEqual(uneven, [], 'every document balances')
  const moved = await company.sql.all(
    `select accounts.number from business_accounts accounts where net_change <> (
       select coalesce(sum(debit_amount - credit_amount), 0) from business_general_ledger_entries
         where account_id = accounts.id)
       or net_change <> total_debit - total_credit or net_change <> balance_debit - balance_credit`,
  )
  assert.deepEqual(moved, [], 'accounts are the sums of their entries')
  const taxes = '(select sum(amount) from business_tax_entries)'
  const tax = -(await account('Tax'))
  assert.equal(await of(taxes), tax, 'tax entries')
  const off = tax > life.tax ? tax - life.tax : life.tax - tax
  assert.ok(off <= life.taxRounding, `the tax: ${tax}, and ${life.tax} was expected`)
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
  for (const [code, worths] of Object.entries(oracle.rates)) {
    await company.create('currencies', { code, amountRoundingPrecision: code === 'JPY' ? 1 : 0.01 })
    for (const [at, startingDate] of ['2026-01-01', oracle.rateChange].entries()) {
      await company.create('currencyExchangeRates', {
        currencyCode: code,
        startingDate,
        exchangeRateAmount: 100,
        relationalExchangeRateAmount: Number(worths[at]) / 100,
      })
    }
  }
}

/** Creates a customer for each of `buyers`, besides the company's own. */
async function createBuyers(company: Company): Promise<readonly string[]> {
  const [area] = await company.sql.all('select id from business_tax_areas')
  const others = oracle.buyers.slice(1).map(({ isIncluding, isTaxed }, at) =>
    company.create('customers', {
      displayName: `Buyer ${at}`,
      taxLiable: isTaxed,
      taxAreaId: String(area?.['id']),
      pricesIncludeTax: isIncluding,
    }),
  )
  return [company.customerId, ...(await Promise.all(others))]
}

const isLong = process.env['ARMATURE_TEST_LONG'] === '1'
/** Lives per company. The check of a company costs as much as it has entries. */
const livesOfCompany = 12
const stepsOfLife = 14

for (const dialect of dialects) {
  test(`${dialect}: the ledgers agree over any life of documents`, async (t) => {
    // A long run may be made in parts, each with a first seed and a number of lives of its own.
    const lives = Number(process.env['ARMATURE_TEST_LIVES'] ?? (isLong ? 10_000 : 24))
    const first = Number(process.env['ARMATURE_TEST_SEED'] ?? 1)
    for (let seed = first; seed < first + lives; seed += livesOfCompany) {
      await using company = await openCompany(t, dialect, { percents: { FULL: 20, LOW: 5 } })
      if (company === undefined) return
      await createCurrencies(company)
      const low = await company.create('items', {
        displayName: 'Low',
        unitPrice: 10,
        baseUnitOfMeasureCode: 'PCS',
        taxGroupCode: 'LOW',
      })
      const items = [company.itemId, low]
      const customers = await createBuyers(company)
      const terms = await company.create('paymentTerms', {
        code: 'EARLY',
        dueDateCalculation: '30D',
        discountDateCalculation: '1D',
        discountPercent: Number(oracle.discountPercent),
      })
      const known = { items, customers, terms }
      const life = new Life(company, known, seed)
      for (let at = 0; at < livesOfCompany * stepsOfLife; at++) {
        await life.step()
        if (at % stepsOfLife === 0) await checkEntries(company, known, life)
      }
      await checkEntries(company, known, life)
    }
  })
}
