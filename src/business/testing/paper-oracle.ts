/**
 * What a document comes to, out of the facts alone (5.1 to 5.7, 6, 9) and the decisions on what they leave open (0081, 0082, 0102, 0137):
 * nothing here is used by what is tested, nor uses it. Amounts are whole numbers of 0.00001, as they are stored.
 */

export const unit = 100_000n
const cent = 1_000n

type Code = 'FULL' | 'LOW'

/** In order of code: the groups of a document share its discount in this order. */
const codes: readonly Code[] = ['FULL', 'LOW']
const taxes: Readonly<Record<Code, bigint>> = { FULL: 20n, LOW: 5n }
/** The price of an item without tax, in the company's own currency. */
const itemPrices: Readonly<Record<Code, bigint>> = { FULL: 100n * unit, LOW: 10n * unit }

/** The value of 10,000 of a currency before `rateChange`, and from it on. */
export const rates: Readonly<Record<string, readonly [bigint, bigint]>> = {
  EUR: [10_800n, 11_300n],
  JPY: [64n, 71n],
}
export const rateChange = '2026-11-22'

/** Customers: whose prices include tax, and who pays tax. */
export const buyers = [
  { isIncluding: false, isTaxed: true },
  { isIncluding: true, isTaxed: true },
  { isIncluding: false, isTaxed: false },
] as const

export interface Line {
  readonly id: string
  readonly code: Code
  quantity: bigint
  price: bigint
  percent: bigint
}

/** What prices and totals depend on, besides the lines. */
export interface Header {
  readonly buyer: number
  readonly payer: number
  readonly currency: string
  /** Dated on or after `rateChange`. */
  readonly isLater: boolean
  readonly discount: bigint
}

export interface Paper extends Header {
  id: string
  set: 'salesInvoices' | 'salesCreditMemos' | 'salesQuotes'
  buyer: number
  payer: number
  currency: string
  isLater: boolean
  /** The rate is the later one, whatever the date: a credit memo has its invoice's rate. */
  hasLaterRate: boolean
  discount: bigint
  lines: Line[]
  status: 'Draft' | 'Open' | 'Paid' | 'Canceled' | 'Corrective' | 'Gone'
  open: bigint
  total: bigint
  tax: bigint
  credited: bigint
  /** What its credit memos left over, because it was paid. */
  unapplied: bigint
  paid: bigint
  /** Its terms take `discountPercent` off until the day after its own. */
  hasTerms: boolean
  /** Taken off for paying early. */
  discounted: bigint
  of: Paper | undefined
}

/** `above / below` to a multiple of `step`, halves away from zero. */
export function rounded(above: bigint, below: bigint, step: bigint): bigint {
  const whole = below * step
  const size = above < 0n ? -above : above
  const times = (2n * size + whole) / (2n * whole)
  return (above < 0n ? -times : times) * step
}

export function stepOf({ currency }: Pick<Paper, 'currency'>): bigint {
  return currency === 'JPY' ? unit : cent
}

function rateOf(currency: string, isLater: boolean): bigint {
  const rate = rates[currency]?.[isLater ? 1 : 0]
  return rate ?? 10_000n
}

/** In the company's own currency, to the cent. */
export function worth(amount: bigint, currency: string, isLater: boolean): bigint {
  return currency === '' ? amount : rounded(amount * rateOf(currency, isLater), 10_000n, cent)
}

/** What an invoice and its credit memos make of the customer's balance, without what was paid at other rates. */
export function owedOf({ open, unapplied, currency, hasLaterRate }: Paper): bigint {
  return worth(open, currency, hasLaterRate) - worth(unapplied, currency, hasLaterRate)
}

export function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function percentOf({ buyer }: Header, code: Code): bigint {
  return buyers[buyer]?.isTaxed === true ? taxes[code] : 0n
}

/** The factor from prices without tax to prices, in hundredths. */
function factorOf(header: Header, code: Code): bigint {
  return buyers[header.buyer]?.isIncluding === true ? 100n + percentOf(header, code) : 100n
}

/** The price of a line without a price of its own. */
export function ownPrice(header: Header & { hasLaterRate: boolean }, code: Code): bigint {
  const taxed = rounded(itemPrices[code] * factorOf(header, code), 100n, 1n)
  return rounded(taxed * 10_000n, rateOf(header.currency, header.hasLaterRate), 1n)
}

function amountOf(paper: Paper, { quantity, price, percent }: Line): bigint {
  const step = stepOf(paper)
  const gross = rounded(quantity * price, unit, step)
  return gross - rounded(gross * percent, 100n, step)
}

export function baseOf(paper: Paper): bigint {
  return paper.lines.reduce((sum, line) => sum + amountOf(paper, line), 0n)
}

/** Splits an amount by weights: each part is rounded, and the remainder is carried on. */
function shared(amount: bigint, weights: readonly bigint[], step: bigint): readonly bigint[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n)
  if (whole === 0n) return weights.map(() => 0n)
  let carry = 0n
  return weights.map((weight) => {
    carry += amount * weight
    const share = rounded(carry, whole, step)
    carry -= share * whole
    return share
  })
}

interface GroupOfLines {
  readonly code: Code
  readonly lines: readonly Line[]
  readonly amount: bigint
  readonly discount: bigint
}

function groupsOf(paper: Paper): readonly GroupOfLines[] {
  const groups = codes
    .map((code) => ({ code, lines: paper.lines.filter((line) => line.code === code) }))
    .filter(({ lines }) => lines.length > 0)
    .map((group) => ({ ...group, amount: baseOf({ ...paper, lines: group.lines }) }))
  const amounts = groups.map(({ amount }) => amount)
  const shares = shared(paper.discount, amounts, stepOf(paper))
  return groups.map((group, at) => ({ ...group, discount: shares[at] ?? 0n }))
}

export const discountPercent = 2n

/** What the terms of an invoice take off, when it is paid on one of the two days (decision 0137). */
export function earlyDiscount(invoice: Paper, isPaidLater: boolean): bigint {
  const isLate = isPaidLater && !invoice.isLater
  if (!invoice.hasTerms || isLate) return 0n
  return rounded((invoice.total - invoice.credited) * discountPercent, 100n, stepOf(invoice))
}

/** What a line carries of the document's discount. */
export function carriedBy(paper: Paper, line: Line): bigint {
  const group = groupsOf(paper).find(({ code }) => code === line.code)
  if (group === undefined) return 0n
  const amounts = group.lines.map((one) => amountOf(paper, one))
  return shared(group.discount, amounts, stepOf(paper))[group.lines.indexOf(line)] ?? 0n
}

/** Totals without and with tax: each tax group is taxed as a whole. */
export function totalsOf(paper: Paper): { readonly net: bigint; readonly including: bigint } {
  const step = stepOf(paper)
  let net = 0n
  let including = 0n
  for (const { code, amount, discount } of groupsOf(paper)) {
    const left = amount - discount
    const percent = percentOf(paper, code)
    if (buyers[paper.buyer]?.isIncluding === true) {
      net += rounded(left * 100n, 100n + percent, step)
      including += left
    } else {
      net += left
      including += left + rounded(left * percent, 100n, step)
    }
  }
  return { net, including }
}

/** The discount of a document never exceeds its base. */
export function limitDiscount(paper: Paper): void {
  const base = baseOf(paper)
  if (paper.discount > base) paper.discount = base
}

/** A changed header gives the totals of a new document. The discount keeps its value in another currency. */
export function changeHeader(paper: Paper, change: Partial<Header>): void {
  const before = { ...paper }
  Object.assign(paper, change)
  const isDated = paper.isLater !== before.isLater
  const isInOther = paper.currency !== before.currency
  if (isDated || isInOther) paper.hasLaterRate = paper.isLater && paper.currency !== ''
  const exchanged = (amount: bigint): bigint => {
    if (!isInOther) return amount
    const local = rounded(amount * rateOf(before.currency, before.hasLaterRate), 10_000n, 1n)
    return rounded(local * 10_000n, rateOf(paper.currency, paper.hasLaterRate), 1n)
  }
  if (isInOther || paper.buyer !== before.buyer) {
    for (const line of paper.lines) {
      const { code, price } = line
      const taxed = rounded(price * factorOf(paper, code), factorOf(before, code), 1n)
      line.price = price === ownPrice(before, code) ? ownPrice(paper, code) : exchanged(taxed)
    }
  }
  if (change.discount !== undefined) return
  paper.discount = rounded(exchanged(before.discount), 1n, stepOf(paper))
  limitDiscount(paper)
}
