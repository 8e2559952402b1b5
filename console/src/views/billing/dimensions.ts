/** What spending is added up by, and the bars of the sums. */

import type { Bar } from '../../components/bars.tsx'
import { moneyText, sumByCurrency, type Transaction } from '../../components/money.ts'
import { billingTexts } from '../../texts/work.ts'

type Dimension = keyof typeof billingTexts.dimensions

export function isDimension(word: string): word is Dimension {
  return word in keyOf
}

/** The largest sums that are drawn. */
const barsMax = 30

const keyOf: Readonly<Record<Dimension, (row: Transaction) => string>> = {
  day: ({ properties }) => properties.date.slice(0, 10),
  product: ({ properties }) => properties.productDescription ?? properties.productFamily ?? '',
  family: ({ properties }) => properties.productFamily ?? '',
  section: ({ properties }) => properties.invoiceSectionDisplayName ?? '',
  customer: ({ properties }) => properties.customerDisplayName ?? '',
  kind: ({ properties }) => properties.transactionType ?? '',
  invoice: ({ properties }) => properties.invoice ?? '',
}

export function barsOf(rows: readonly Transaction[], dimension: Dimension): readonly Bar[] {
  const groups = Map.groupBy(rows, keyOf[dimension])
  const sums = [...groups].flatMap(([name, some]) =>
    sumByCurrency(some).map((amount) => ({
      name: name === '' ? billingTexts.unnamed : name,
      value: amount.value,
      text: moneyText(amount),
    })),
  )
  return dimension === 'day'
    ? sums.toSorted((a, b) => a.name.localeCompare(b.name))
    : sums.toSorted((a, b) => b.value - a.value).slice(0, barsMax)
}
