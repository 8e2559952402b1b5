/** Amounts as billing answers them, and the spending of the current month. */

import { useEffect } from 'react'
import { type Envelope, type Rows, useList } from '../api/queries.ts'

export interface Amount {
  readonly currency: string
  readonly value: number
}

export function moneyText({ currency, value }: Amount): string {
  return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(value)
}

/** The properties of a transaction that the documents leave open. */
export interface Transaction extends Envelope {
  readonly properties: {
    readonly date: string
    readonly invoice?: string
    readonly kind?: string
    readonly productDescription?: string
    readonly productFamily?: string
    readonly productType?: string
    readonly invoiceSectionDisplayName?: string
    readonly invoiceSectionId?: string
    readonly customerDisplayName?: string
    readonly transactionType?: string
    readonly quantity?: number
    readonly unitOfMeasure?: string
    readonly transactionAmount?: Amount
    readonly subTotal?: Amount
    readonly tax?: Amount
    readonly creditType?: string
    readonly reasonCode?: string
  }
}

/** The first account and its first profile, which belong to the installation. */
export function useBillingProfile() {
  const accounts = useList('listBillingAccounts', { path: {} })
  const account = accounts.rows[0]?.name
  const profiles = useList(
    'listBillingProfiles',
    { path: { billingAccountName: account ?? '' } },
    { enabled: account !== undefined },
  )
  const profile = profiles.rows[0]?.name
  return {
    account,
    profile,
    error: accounts.error ?? profiles.error,
    loading: accounts.loading || profiles.loading,
  }
}

/** `2026-11` → its first and last day. */
export function monthDays(month: string): readonly [first: string, last: string] {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate()
  return [`${month}-01`, `${month}-${String(last).padStart(2, '0')}`]
}

export function thisMonth(): string {
  return new Date().toISOString().slice(0, 7)
}

export type BillingKind = 'Billed' | 'Unbilled'

interface TransactionQuery {
  /** Words that the server looks for. */
  readonly search?: string | undefined
  readonly orderBy?: string | undefined
}

export function useTransactions(month: string, kind: BillingKind, asked: TransactionQuery = {}) {
  const { account, profile, error, loading } = useBillingProfile()
  const [first, last] = monthDays(month)
  const found = useList<'listProfileTransactions', Transaction>(
    'listProfileTransactions',
    {
      path: { billingAccountName: account ?? '', billingProfileName: profile ?? '' },
      query: { periodStartDate: first, periodEndDate: last, type: kind, top: '50', ...asked },
    },
    { enabled: profile !== undefined },
  )
  return { ...found, error: error ?? found.error, loading: loading || found.loading }
}

export function sumByCurrency(rows: readonly Transaction[]): readonly Amount[] {
  const sums = new Map<string, number>()
  for (const { properties } of rows) {
    const amount = properties.transactionAmount
    if (amount === undefined) continue
    sums.set(amount.currency, (sums.get(amount.currency) ?? 0) + amount.value)
  }
  return [...sums].map(([currency, value]) => ({ currency, value }))
}

/** A month is added up by itself up to this many transactions, which come fifty at a time. */
const addedUpMax = 1_000

interface MonthRows extends Rows<Transaction> {
  readonly counts: Readonly<Record<BillingKind, number>>
}

/** All transactions of a month. Where there are more than are added up by themselves, `more` says so. */
export function useMonth(month: string): MonthRows {
  const unbilled = useTransactions(month, 'Unbilled')
  const billed = useTransactions(month, 'Billed')
  const kinds = [unbilled, billed]
  const rows = kinds.flatMap((one) => one.rows)
  const more = kinds.some((one) => one.more)
  const loading = kinds.some((one) => one.loading)
  const loadMore = (): void => {
    for (const one of kinds) one.loadMore()
  }
  const reload = (): void => {
    for (const one of kinds) if (one.error !== null) one.reload()
  }
  const error = kinds.find((one) => one.error !== null)?.error ?? null
  const goesOn = more && !loading && error === null && rows.length < addedUpMax
  // At each look: a page that is not asked for since another request is on its way is asked for after it.
  useEffect(() => {
    if (goesOn) loadMore()
  })
  const counts = { Unbilled: unbilled.rows.length, Billed: billed.rows.length }
  return { rows, counts, loading: loading || goesOn, error, more, loadMore, reload }
}
