/** Billing profiles: what is billed together. */

import Type, { type Static } from 'typebox'
import type { Action } from '#plane/declare/action.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { address, billingEntity, currency, labels, percent, title } from '../../domain/entity.ts'
import { sectionsBelow } from '../../domain/expand.ts'
import { isCurrency } from '../../domain/money/currencies.ts'
import { entityName } from '../../domain/names.ts'
import { profileStanding } from '../../domain/standing.ts'

const profileProperties = Type.Object({
  displayName: title,
  currency: Type.Optional(currency),
  billTo: address,
  taxPercent: percent,
  exchangeRates: Type.Optional(
    Type.Array(
      Type.Object({ currency, rate: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000 }) }),
      { maxItems: 200, description: 'From a pricing currency to the billing currency.' },
    ),
  ),
  monthlyInvoices: Type.Optional(
    Type.Boolean({ description: 'Pending transactions get their invoice when the month is over.' }),
  ),
  poNumber: Type.Optional(Type.String({ maxLength: 100 })),
  tags: labels,
})
export type BillingProfile = Static<typeof profileProperties>

export function billingProfiles(actions: Readonly<Record<string, Action<object>>>): ResourceType {
  return billingEntity({
    type: 'Billing/billingAccounts/billingProfiles',
    description: 'What is billed together: a currency, a tax, its invoices.',
    name: entityName,
    answers: { created: { status: 200 } },
    properties: profileProperties,
    address: 'billTo',
    standing: profileStanding,
    below: sectionsBelow,
    sample: { displayName: 'Sample', currency: 'USD', taxPercent: 19 },
    changed: { displayName: 'Sample, changed', currency: 'USD' },
    actions,
    problems: currencyProblems,
  })
}

/** A profile may name only one rate per currency. */
function currencyProblems(properties: object): readonly { path: string; message: string }[] {
  const { exchangeRates = [] } = properties as Partial<BillingProfile>
  const seen = new Set<string>()
  return exchangeRates.flatMap(({ currency: code }, at) => {
    const again = seen.has(code)
    seen.add(code)
    return again || !isCurrency(code)
      ? [{ path: `properties.exchangeRates[${at}].currency`, message: 'given once per currency' }]
      : []
  })
}
