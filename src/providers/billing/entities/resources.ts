/**
 * Who is billed and for what: accounts, profiles, invoice sections, customers, products. Ordinary resources, changed
 * by PUT and PATCH; what the ledger holds keeps the names they had when it was recorded. None is ever deleted.
 */

import Type, { type Static, type TObject } from 'typebox'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored, type StoredMembers } from '#plane/declare/stored.ts'
import type { NameRule } from '#plane/declare/wire.ts'
import { pageAfter } from '#plane/page-after.ts'
import { isCurrency } from '../money/currencies.ts'
import { accountName, partName } from '../names.ts'
import { type Below, expanded, showEntity, wantedOf } from './expand.ts'
import { accountStanding, profileStanding, type Standing, sectionStanding } from './standing.ts'

export const billingVersion = '2024-04-01'

const title = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }))
const currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217' })
const amount = Type.Object({ currency, value: Type.Number({ minimum: 0, maximum: 900_000_000 }) })
const percent = Type.Optional(Type.Number({ minimum: 0, maximum: 100 }))

const address = added(
  Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 500 }), {
    maxProperties: 30,
  }),
)

const accountProperties = Type.Object({
  soldTo: address,
  displayName: title,
  accountType: Type.Optional(
    Type.Enum(['Other', 'Enterprise', 'Individual', 'Partner', 'Reseller', 'Business', 'Tenant']),
  ),
})
export type BillingAccount = Static<typeof accountProperties>

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
})
export type BillingProfile = Static<typeof profileProperties>

const sectionProperties = Type.Object({
  displayName: title,
  subscriptionIds: Type.Optional(
    Type.Array(Type.String({ maxLength: 36 }), {
      maxItems: 1000,
      description: 'Subscriptions whose usage is charged here; what none names goes to `default`.',
    }),
  ),
})
export type InvoiceSection = Static<typeof sectionProperties>

const customerProperties = Type.Object({ displayName: title })
export type Customer = Static<typeof customerProperties>

const productProperties = Type.Object({
  displayName: title,
  productFamily: Type.Optional(Type.String({ maxLength: 128 })),
  productType: Type.Optional(Type.String({ maxLength: 128 })),
  unitOfMeasure: Type.Optional(Type.String({ maxLength: 64 })),
  unitType: Type.Optional(Type.String({ maxLength: 64 })),
  price: amount,
  discount: percent,
  meter: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'The meter that it prices, by the hour of one unit held: `containerGroups/cpu`.',
    }),
  ),
})
export type Product = Static<typeof productProperties>

interface EntityOptions {
  readonly type: string
  readonly description: string
  readonly name: NameRule
  readonly properties: TObject
  /** Answered besides, ahead of what was written. */
  readonly standing?: Standing
  /** Shown inside it where `$expand` asks so. */
  readonly below?: Below
  nameOf(seed: number): string
  readonly sample: object
  readonly changed: object
  readonly actions?: Readonly<Record<string, Action<object>>>
}

function entity(options: EntityOptions): ResourceType {
  const body = Type.Object({ properties: options.properties })
  const answer = Type.Object({
    properties: Type.Object({ ...options.properties.properties, ...options.standing?.answer }),
  })
  return defineStored<object>({
    type: options.type,
    description: options.description,
    scope: 'tenant',
    name: options.name,
    verbs: ['get', 'list', 'put', 'patch'],
    versions: [
      {
        date: billingVersion,
        body,
        answer,
        unknownProperties: 'ignore',
        problems: ({ properties }: { readonly properties: object }) => currencyProblems(properties),
        toModel: ({ properties }: { readonly properties: object }) =>
          writtenOf(properties, options),
        fromModel: (model, view) => ({
          properties: { ...options.standing?.show(model, view), ...model },
        }),
      },
    ],
    ...(options.actions === undefined ? {} : { actions: options.actions }),
    ...(options.below === undefined ? {} : expansion(options, options.below)),
    sample: {
      name: options.nameOf,
      body: () => ({ properties: options.sample }),
      changed: () => ({ properties: options.changed }),
    },
  })
}

/** Reading with `$expand`: one by a source of its own, many by their models, which then hold what is inside. */
function expansion(
  { type, standing }: EntityOptions,
  below: Below,
): Pick<StoredMembers<object>, 'source' | 'list'> {
  return {
    source: {
      async get(context) {
        const wanted = wantedOf(context.query)
        const found = wanted && (await context.reader.get(context.id))
        if (wanted === undefined || found === undefined) return undefined
        const inner = await expanded(context, found.id, below, wanted)
        // Rows of this type were made by its `toModel`.
        return showEntity(context, found as Resource<object>, { type, standing }, inner)
      },
    },
    list: {
      async page(context) {
        const { items, ...rest } = await pageAfter(context, type)
        const rows = items as readonly Resource<object>[]
        const wanted = wantedOf(context.query)
        if (wanted === undefined) return { items: rows, ...rest }
        const shown: Resource<object>[] = []
        for (const row of rows) {
          const inner = await expanded(context, row.id, below, wanted)
          shown.push({ ...row, model: { ...row.model, ...inner } })
        }
        return { items: shown, ...rest }
      },
    },
  }
}

/** Without what is only answered: clients send back what they read. */
function writtenOf(properties: object, { standing }: EntityOptions): object {
  const isWritten = ([name]: readonly [string, unknown]): boolean =>
    standing === undefined || !Object.hasOwn(standing.answer, name)
  return Object.fromEntries(Object.entries(properties).filter(isWritten))
}

/** A profile names a rate once for a currency. */
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

export interface EntityActions {
  readonly account: Readonly<Record<string, Action<object>>>
  readonly profile: Readonly<Record<string, Action<object>>>
}

const sectionsBelow: Below = {
  property: 'invoiceSections',
  type: 'Billing/billingAccounts/billingProfiles/invoiceSections',
  standing: sectionStanding,
}
const profilesBelow: Below = {
  property: 'billingProfiles',
  type: 'Billing/billingAccounts/billingProfiles',
  standing: profileStanding,
  below: sectionsBelow,
}

export function entities(actions: EntityActions): readonly ResourceType[] {
  const part = (seed: number): string => `part-${seed}`
  const named = (displayName: string) => ({ displayName })
  return [
    entity({
      type: 'Billing/billingAccounts',
      description: 'Who is billed.',
      name: accountName,
      properties: accountProperties,
      standing: accountStanding,
      below: profilesBelow,
      nameOf: (seed) => String(7000 + seed),
      sample: named('Sample'),
      changed: named('Sample, changed'),
      actions: actions.account,
    }),
    entity({
      type: 'Billing/billingAccounts/billingProfiles',
      description: 'What is billed together: a currency, a tax, its invoices.',
      name: partName,
      properties: profileProperties,
      standing: profileStanding,
      below: sectionsBelow,
      nameOf: part,
      sample: { displayName: 'Sample', currency: 'USD', taxPercent: 19 },
      changed: { displayName: 'Sample, changed', currency: 'USD' },
      actions: actions.profile,
    }),
    entity({
      type: 'Billing/billingAccounts/billingProfiles/invoiceSections',
      description: 'Parts of an invoice, with the subscriptions whose usage they show.',
      name: partName,
      properties: sectionProperties,
      standing: sectionStanding,
      nameOf: part,
      sample: named('Sample'),
      changed: named('Sample, changed'),
    }),
    entity({
      type: 'Billing/billingAccounts/billingProfiles/customers',
      description: 'For whom something was bought.',
      name: partName,
      properties: customerProperties,
      nameOf: part,
      sample: named('Sample'),
      changed: named('Sample, changed'),
    }),
    entity({
      type: 'Billing/billingAccounts/products',
      description: 'What is charged, and its price.',
      name: partName,
      properties: productProperties,
      nameOf: part,
      sample: { displayName: 'Sample', price: { currency: 'USD', value: 1.5 } },
      changed: { displayName: 'Sample', price: { currency: 'USD', value: 2 } },
    }),
  ]
}
