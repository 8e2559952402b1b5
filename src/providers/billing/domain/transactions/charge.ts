/**
 * Records charges by hand: purchases of products by their price, credits, and refunds of charges. Entries never
 * change: a refund is an entry of its own, with negative amounts.
 */

import { Decimal } from 'decimal.js'
import Type, { type Static, type TSchema } from 'typebox'
import { refuse, refuseProblems } from '#kernel/error.ts'
import type { Ids } from '#kernel/ports.ts'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Action, ActionContext } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { asResource } from '#plane/declare/answers.ts'
import type { Context, Reader } from '#plane/declare/resource.ts'
import type { SqlTx } from '#stores/store.ts'
import { refuseBilling } from '../../errors.ts'
import type { BillingProfile } from '../../resources/billing-profiles/resource.ts'
import type { Customer } from '../../resources/customers/resource.ts'
import type { InvoiceSection } from '../../resources/invoice-sections/resource.ts'
import type { Product } from '../../resources/products/resource.ts'
import { number, wide } from '../cells.ts'
import type { Dimension, Entry, NewEntry } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { record } from '../ledger/record.ts'
import { entryAnswer, formatRecorder } from '../ledger/show.ts'
import { accountOfEntry, lockAccount } from '../ledger/statements.ts'
import { chargeOf, discounted, fromMinor, showMinor, toMinor } from '../money/money.ts'
import { findEntry, showTransaction } from './find.ts'
import { transactionTagProblems } from './tags.ts'

const guid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' })
const tags = Type.Optional(Type.Record(Type.String(), Type.String()))
const name = Type.Optional(guid)
const short = Type.Optional(Type.String({ minLength: 1, maxLength: 128 }))

const purchaseBody = Type.Object({
  name,
  product: Type.String({ minLength: 1, maxLength: 128 }),
  quantity: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  invoiceSection: short,
  customer: short,
  reasonCode: short,
  tags,
})
const creditBody = Type.Object({
  name,
  amount: Type.Number({ exclusiveMinimum: 0, maximum: 900_000_000_000 }),
  creditType: short,
  description: short,
  reasonCode: short,
  tags,
})
const refundBody = Type.Object({
  name,
  amount: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 900_000_000_000,
      description: 'Before tax; all that is left when left out.',
    }),
  ),
  reasonCode: short,
})

/** The part of a profile that its transactions need. */
export interface ProfileFacts {
  readonly place: { readonly account: string; readonly profile: string }
  readonly id: ResourceId
  readonly currency: string
  readonly taxPercent: Decimal
  readonly displayName: string
  readonly model: BillingProfile
}

export async function profileFacts(reader: Reader, id: ResourceId): Promise<ProfileFacts> {
  const found = await reader.get(id)
  if (found === undefined) throw refuse.ResourceNotFound({ id: id.text })
  // The type's `toModel` made the rows.
  const model = found.model as BillingProfile
  return {
    place: { account: nameOf(parentOf(found.id)), profile: nameOf(found.id) },
    id: found.id,
    currency: model.currency ?? 'USD',
    taxPercent: new Decimal(model.taxPercent ?? 0),
    displayName: model.displayName ?? nameOf(found.id),
    model,
  }
}

export function exchangeRateOf({ model, currency }: ProfileFacts, pricing: string): Decimal {
  if (pricing === currency) return new Decimal(1)
  const found = model.exchangeRates?.find((one) => one.currency === pricing)
  if (found !== undefined) return new Decimal(found.rate)
  throw refuseProblems([
    {
      path: 'product',
      message: `is priced in ${pricing}; the profile has no exchange rate for it`,
    },
  ])
}

/** The facts of a product's price for its transactions. */
export function productFacts(name: string, product: Product): Partial<Dimension> {
  return {
    productDescription: product.displayName ?? name,
    productTypeId: name,
    pricingCurrency: product.price.currency,
    discount: product.discount ?? 0,
    ...(product.productFamily === undefined ? {} : { productFamily: product.productFamily }),
    ...(product.productType === undefined ? {} : { productType: product.productType }),
    ...(product.unitOfMeasure === undefined ? {} : { unitOfMeasure: product.unitOfMeasure }),
    ...(product.unitType === undefined ? {} : { unitType: product.unitType }),
  }
}

const noMeasures = {
  quantity: null,
  units: null,
  effectivePrice: null,
  marketPrice: null,
  exchangeRate: null,
  credit: null,
  commitment: null,
  refunded: null,
  requested: null,
  refundOperation: null,
  periodStart: null,
  periodEnd: null,
} as const

interface ChargeDependencies {
  readonly ledger: Ledger
  readonly ids: Ids
}

function action<T extends TSchema>(
  { words }: Ledger,
  description: string,
  body: T,
  run: (context: ActionContext<object>, body: Static<T>) => Promise<object>,
): Action<object> {
  return {
    method: 'POST',
    description,
    body,
    answer: added(asResource(entryAnswer(words))),
    async run(context, given: never) {
      return { status: 200, body: await run(context, given) }
    },
  }
}

export function recordPurchase({ ledger, ids }: ChargeDependencies): Action<object> {
  return action(ledger, 'Record a purchase of a product', purchaseBody, async (context, given) => {
    const profile = await profileFacts(context.reader, context.id)
    const account = parentOf(profile.id)
    const found = await context.reader.get(childOf(account, 'products', given.product))
    if (found === undefined) throw refuseBilling.ProductNotFound({ name: given.product })
    // The type's `toModel` made the rows.
    const product = found.model as Product
    const rate = exchangeRateOf(profile, product.price.currency)
    const effective = discounted(
      new Decimal(product.price.value),
      new Decimal(product.discount ?? 0),
    )
    const charge = chargeOf({
      units: new Decimal(given.quantity),
      effectivePrice: effective,
      exchangeRate: rate,
      taxPercent: profile.taxPercent,
      currency: profile.currency,
    })
    if (charge === undefined) {
      throw refuseProblems([{ path: 'quantity', message: 'the amount is too large' }])
    }
    const section = await partOf(context, profile.id, 'invoiceSections', given.invoiceSection)
    const customer = await partOf(context, profile.id, 'customers', given.customer)
    return recordOne(ledger, context, profile, {
      tags: given.tags,
      given: {
        dimension: {
          billingCurrency: profile.currency,
          billingProfileDisplayName: profile.displayName,
          transactionType: 'Purchase',
          kind: 'All',
          isThirdParty: false,
          ...productFacts(nameOf(found.id), product),
          ...(section && {
            invoiceSectionId: section.id,
            invoiceSectionDisplayName: section.displayName,
          }),
          ...(customer && { customerId: customer.id, customerDisplayName: customer.displayName }),
          ...(given.reasonCode === undefined ? {} : { reasonCode: given.reasonCode }),
          recordedBy: formatRecorder(context.principal),
        },
        measures: {
          ...noMeasures,
          name: (given.name ?? ids.uuid()).toLowerCase(),
          date: context.now,
          quantity: given.quantity,
          units: given.quantity,
          effectivePrice: effective.toNumber(),
          marketPrice: product.price.value,
          exchangeRate: rate.toNumber(),
          subTotal: charge.subTotal,
          tax: charge.tax,
          amount: charge.total,
        },
      },
    })
  })
}

export function recordCredit({ ledger, ids }: ChargeDependencies): Action<object> {
  return action(ledger, 'Record a credit', creditBody, async (context, given) => {
    const profile = await profileFacts(context.reader, context.id)
    const minor = toMinor(new Decimal(given.amount), profile.currency) ?? 0
    const types = ledger.fields.list.find(({ path }) => path === 'properties/creditType')?.values
    const creditType = types?.find(
      (one) => one.toLowerCase() === (given.creditType ?? 'Other').toLowerCase(),
    )
    if (creditType === undefined || minor === 0) {
      const path = minor === 0 ? 'amount' : 'creditType'
      const message = minor === 0 ? 'rounds to nothing' : `expected one of ${types?.join(', ')}`
      throw refuseProblems([{ path, message }])
    }
    return recordOne(ledger, context, profile, {
      tags: given.tags,
      given: {
        dimension: {
          billingCurrency: profile.currency,
          billingProfileDisplayName: profile.displayName,
          transactionType: 'Credit',
          kind: 'All',
          creditType,
          productDescription: given.description ?? 'Credit',
          ...(given.reasonCode === undefined ? {} : { reasonCode: given.reasonCode }),
          recordedBy: formatRecorder(context.principal),
        },
        measures: {
          ...noMeasures,
          name: (given.name ?? ids.uuid()).toLowerCase(),
          date: context.now,
          credit: minor,
          subTotal: -minor,
          tax: 0,
          amount: -minor,
        },
      },
    })
  })
}

/** Recorded once under its name: a repeated request returns the existing one. */
async function recordOne(
  ledger: Ledger,
  { now }: Pick<Context, 'now'>,
  profile: ProfileFacts,
  {
    tags,
    given,
  }: { readonly tags: Readonly<Record<string, string>> | undefined; readonly given: NewEntry },
): Promise<object> {
  const problems = tags === undefined ? [] : transactionTagProblems(tags)
  if (problems.length > 0) throw refuseProblems(problems)
  const entry = { ...given, ...(tags === undefined ? {} : { tags }) }
  await ledger.record([entry], { place: profile.place, now, mayBePresent: true })
  const id = childOf(profile.id, 'transactions', entry.measures.name)
  const found = await findEntry(ledger, id)
  if (found === undefined || !isSame(found, entry)) {
    throw refuseBilling.TransactionNameTaken({ name: entry.measures.name })
  }
  return showTransaction(ledger, found)
}

function isSame({ row, dimension }: Entry, { measures, dimension: asked }: NewEntry): boolean {
  return (
    row.amount === measures.amount &&
    row.quantity === measures.quantity &&
    dimension.transactionType === asked.transactionType &&
    dimension.productTypeId === asked.productTypeId
  )
}

async function partOf(
  { reader }: Pick<Context, 'reader'>,
  profile: ResourceId,
  type: 'invoiceSections' | 'customers',
  part: string | undefined,
): Promise<{ readonly id: string; readonly displayName: string } | undefined> {
  if (part === undefined) return undefined
  const found = await reader.get(childOf(profile, type, part))
  if (found === undefined) {
    const path = type === 'customers' ? 'customer' : 'invoiceSection'
    throw refuseProblems([{ path, message: `the profile has no '${part}' among its ${type}` }])
  }
  // Either type's `toModel` made the rows, and both have this member.
  const { displayName } = found.model as InvoiceSection | Customer
  return { id: found.id.text, displayName: displayName ?? nameOf(found.id) }
}

export function refund({ ledger, ids }: ChargeDependencies): Action<object> {
  return action(
    ledger,
    'Refund a transaction, all or part of it',
    refundBody,
    async (context, given) => {
      const original = await findEntry(ledger, context.id)
      if (original === undefined) throw refuse.ResourceNotFound({ id: context.id.text })
      const { row, dimension, statement } = original
      if (row.subTotal <= 0 || dimension.creditType !== undefined) {
        throw refuseBilling.NotRefundable({ name: row.name })
      }
      const { billingCurrency: currency } = dimension
      const name = (given.name ?? ids.uuid()).toLowerCase()
      const place = { account: statement.account, profile: statement.profile }
      const recording = await ledger.sql.transact(async (tx) => {
        await lockAccount(tx, place.account)
        if (await isRefunded(tx, place.account, name, row.id)) return undefined
        const [sum] = await tx.all(
          `select cast(coalesce(sum(sub_total), 0) as text) as refunded
         from billing_refunds where original_id = ?`,
          row.id,
        )
        const rest = row.subTotal - Number(sum === undefined ? 0n : wide(sum, 'refunded'))
        const asked =
          given.amount === undefined ? rest : (toMinor(new Decimal(given.amount), currency) ?? 0)
        if (asked <= 0 || asked > rest) {
          throw refuseBilling.RefundTooLarge({
            name: row.name,
            rest: showMinor(rest),
            currency,
            asked: given.amount ?? 0,
          })
        }
        // The refund's share of the tax; the last refund gets the rest.
        const taxOf = (refunded: number): number =>
          toMinor(fromMinor(row.tax).times(refunded).dividedBy(row.subTotal), currency) ?? 0
        const before = row.subTotal - rest
        const tax = taxOf(before + asked) - taxOf(before)
        const share = new Decimal(asked).dividedBy(row.subTotal)
        const { discount: _, reasonCode: __, ...kept } = dimension
        const isWhole = asked === row.subTotal
        const entry: NewEntry = {
          dimension: {
            ...kept,
            transactionType: 'Refund',
            creditType: 'Refund',
            ...(given.reasonCode === undefined ? {} : { reasonCode: given.reasonCode }),
            recordedBy: formatRecorder(context.principal),
          },
          measures: {
            ...noMeasures,
            name,
            date: context.now,
            quantity: isWhole && row.quantity !== null ? -row.quantity : null,
            units: row.units === null ? null : share.times(row.units).negated().toNumber(),
            effectivePrice: row.effectivePrice,
            marketPrice: row.marketPrice,
            exchangeRate: row.exchangeRate,
            periodStart: row.periodStart,
            periodEnd: row.periodEnd,
            subTotal: -asked,
            tax: 0 - tax,
            amount: -asked - tax,
            refunded: asked + tax,
            requested: asked + tax,
            refundOperation: name,
          },
        }
        const options = { place, now: context.now, mayBePresent: false }
        const done = await record(tx, ledger.dimensions, [entry], options)
        const made = await idNamed(tx, place.account, name)
        if (made === undefined) throw new Error('a refund was recorded and is not there')
        await tx.run(
          'insert into billing_refunds (entry_id, original_id, sub_total) values (?, ?, ?)',
          made,
          row.id,
          asked,
        )
        return done
      })
      recording?.committed()
      const found = await findEntry(ledger, childOf(parentOf(context.id), 'transactions', name))
      if (found === undefined || found.dimension.transactionType !== 'Refund') {
        throw refuseBilling.TransactionNameTaken({ name })
      }
      return showTransaction(ledger, found)
    },
  )
}

/** Whether there is a refund of that name, sent twice. Refuses a name that something else has. */
async function isRefunded(
  tx: SqlTx,
  account: string,
  name: string,
  originalId: number,
): Promise<boolean> {
  const made = await idNamed(tx, account, name)
  if (made === undefined) return false
  const text = 'select 1 from billing_refunds where entry_id = ? and original_id = ?'
  if ((await tx.all(text, made, originalId)).length > 0) return true
  throw refuseBilling.TransactionNameTaken({ name })
}

async function idNamed(tx: SqlTx, account: string, name: string): Promise<number | undefined> {
  const [row] = await tx.all(
    `select id from billing_entries where name = ? and ${accountOfEntry} = ? limit 1`,
    name,
    account.toLowerCase(),
  )
  return row && number(row, 'id')
}
