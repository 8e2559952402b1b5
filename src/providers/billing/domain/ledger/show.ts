/** The wire form of an entry: the contract's transaction. Members without a value are left out. */

import Type, { type TObject } from 'typebox'
import { brandField, qualify, type VendorWords } from '#kernel/vendor.ts'
import { invoiceIdOf, profileIdOf, transactionIdOf } from '../ids.ts'
import { amountOf, type Minor } from '../money/money.ts'
import type { Entry } from './entry.ts'

export interface TagRow {
  readonly tags: Readonly<Record<string, string>>
  readonly changedAt: number | null
  readonly changedBy: string | null
}

/** The shape of what `showEntry` answers. */
export function entryAnswer(words: VendorWords): TObject {
  const text = Type.Optional(Type.String())
  const measure = Type.Optional(Type.Number())
  const money = Type.Object({ currency: Type.String(), value: Type.Number() })
  const amount = Type.Optional(money)
  return Type.Object({
    properties: Type.Object({
      [brandField(words, 'CreditApplied')]: amount,
      [brandField(words, 'Plan')]: text,
      billingCurrency: Type.String(),
      billingProfileDisplayName: text,
      billingProfileId: Type.String(),
      consumptionCommitmentDecremented: amount,
      creditType: text,
      customerDisplayName: text,
      customerId: text,
      date: Type.String(),
      discount: measure,
      effectivePrice: amount,
      exchangeRate: measure,
      invoice: Type.String(),
      invoiceId: text,
      invoiceSectionDisplayName: text,
      invoiceSectionId: text,
      isThirdParty: Type.Optional(Type.Boolean()),
      kind: text,
      marketPrice: amount,
      partNumber: text,
      pricingCurrency: text,
      productDescription: text,
      productFamily: text,
      productType: text,
      productTypeId: text,
      quantity: Type.Optional(Type.Integer()),
      reasonCode: text,
      refundTransactionDetails: Type.Optional(
        Type.Object({ amountRefunded: amount, amountRequested: amount, refundOperationId: text }),
      ),
      servicePeriodStartDate: text,
      servicePeriodEndDate: text,
      specialTaxationType: text,
      subTotal: amount,
      tax: amount,
      transactionAmount: amount,
      transactionType: text,
      unitOfMeasure: text,
      unitType: text,
      units: measure,
    }),
  })
}

export function showEntry(words: VendorWords, entry: Entry, tagRow: TagRow | undefined): object {
  const { row, dimension, statement } = entry
  const { billingCurrency } = dimension
  const money = (minor: Minor | null) =>
    minor === null ? undefined : amountOf(billingCurrency, minor)
  const price = (value: number | null) =>
    value === null ? undefined : { currency: dimension.pricingCurrency ?? billingCurrency, value }
  const refund = present({
    amountRefunded: money(row.refunded),
    amountRequested: money(row.requested),
    refundOperationId: row.refundOperation ?? undefined,
  })
  return {
    id: transactionIdOf(words, entry),
    name: row.name,
    type: qualify(words, 'Billing/billingAccounts/billingProfiles/transactions'),
    properties: {
      [brandField(words, 'CreditApplied')]: money(row.credit),
      [brandField(words, 'Plan')]: dimension.plan,
      billingCurrency,
      billingProfileDisplayName: dimension.billingProfileDisplayName,
      billingProfileId: profileIdOf(words, statement),
      consumptionCommitmentDecremented: money(row.commitment),
      creditType: dimension.creditType,
      customerDisplayName: dimension.customerDisplayName,
      customerId: dimension.customerId,
      date: moment(row.date),
      discount: dimension.discount,
      effectivePrice: price(row.effectivePrice),
      exchangeRate: row.exchangeRate ?? undefined,
      invoice: statement.invoice ?? 'Pending',
      invoiceId: invoiceIdOf(words, statement),
      invoiceSectionDisplayName: dimension.invoiceSectionDisplayName,
      invoiceSectionId: dimension.invoiceSectionId,
      isThirdParty: dimension.isThirdParty,
      kind: dimension.kind,
      marketPrice: price(row.marketPrice),
      partNumber: dimension.partNumber,
      pricingCurrency: dimension.pricingCurrency,
      productDescription: dimension.productDescription,
      productFamily: dimension.productFamily,
      productType: dimension.productType,
      productTypeId: dimension.productTypeId,
      quantity: row.quantity ?? undefined,
      reasonCode: dimension.reasonCode,
      refundTransactionDetails: Object.keys(refund).length === 0 ? undefined : refund,
      servicePeriodStartDate: row.periodStart === null ? undefined : moment(row.periodStart),
      servicePeriodEndDate: row.periodEnd === null ? undefined : moment(row.periodEnd),
      specialTaxationType: dimension.specialTaxationType,
      subTotal: money(row.subTotal),
      tax: money(row.tax),
      transactionAmount: money(row.amount),
      transactionType: dimension.transactionType,
      unitOfMeasure: dimension.unitOfMeasure,
      unitType: dimension.unitType,
      units: row.units ?? undefined,
    },
    systemData: systemDataOf(entry, tagRow),
    tags: tagRow?.tags ?? {},
  }
}

function systemDataOf({ row, dimension }: Entry, tagRow: TagRow | undefined): object {
  const by = recorder(dimension.recordedBy)
  const changed = tagRow?.changedBy === null ? undefined : tagRow?.changedBy
  const changer = changed === undefined ? by : recorder(changed)
  return {
    createdAt: moment(row.createdAt),
    createdBy: by.id,
    createdByType: by.type,
    lastModifiedAt: moment(tagRow?.changedAt ?? row.createdAt),
    lastModifiedBy: changer.id,
    lastModifiedByType: changer.type,
  }
}

/** `User|{id}` as `formatRecorder` wrote it. */
function recorder(text: string): { readonly type: string; readonly id: string } {
  const at = text.indexOf('|')
  return { type: text.slice(0, at), id: text.slice(at + 1) }
}

export function formatRecorder(principal: {
  readonly type: 'User' | 'ServicePrincipal'
  readonly id: string
}): string {
  return `${principal.type === 'User' ? 'User' : 'Application'}|${principal.id}`
}

export const recordedByTheService = 'Application|system'

export function moment(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** Without undefined members. */
export function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
