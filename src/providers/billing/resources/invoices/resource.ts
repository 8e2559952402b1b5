/** Invoices: closed statements, shown with their sums; their summary, and their transactions as a file. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import { parseDate, parseUsDate } from '#kernel/filter/moments.ts'
import { compileOrderBy, parseOrderBy } from '#kernel/filter/order-by.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { brandField, qualify, type VendorWords } from '#kernel/vendor.ts'
import { added, addedEach } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { acceptedOf } from '#plane/next-turn.ts'
import { billingVersion } from '../../domain/entity.ts'
import { invoiceIdOf, profileIdOf } from '../../domain/ids.ts'
import type { Statement } from '../../domain/ledger/entry.ts'
import type { Ledger } from '../../domain/ledger/ledger.ts'
import { parseLedgerQuery } from '../../domain/ledger/query.ts'
import { parseSearch } from '../../domain/ledger/search.ts'
import { moment, present } from '../../domain/ledger/show.ts'
import {
  dueAt,
  listStatements,
  spanOfMonth,
  statementOfInvoice,
} from '../../domain/ledger/statements.ts'
import { countMatching } from '../../domain/ledger/totals.ts'
import { amountOf, showMinor } from '../../domain/money/money.ts'
import { flag, requireInvoice, skipOf, wholeNumber } from '../../domain/transactions/list.ts'
import { refuseBilling } from '../../errors.ts'
import { accountOf, downloads, type InvoiceDependencies } from './actions.ts'

const day = 86_400_000
/** The number of invoices of one account or profile that a list reads. */
const invoicesMax = 5000

const text = Type.String()
const money = Type.Object({ currency: text, value: Type.Number() })
const invoiceAnswer = Type.Object({
  properties: Type.Object({
    amountDue: money,
    billedAmount: money,
    creditAmount: money,
    subTotal: money,
    taxAmount: money,
    totalAmount: money,
    billingProfileId: text,
    documentType: Type.Enum(['Invoice', 'CreditNote']),
    invoiceType: text,
    invoiceDate: text,
    dueDate: text,
    invoicePeriodStartDate: text,
    invoicePeriodEndDate: text,
    isMonthlyInvoice: Type.Boolean(),
    status: Type.Optional(text),
    documents: added(
      Type.Array(
        Type.Object({
          kind: Type.Enum(['Invoice', 'CreditNote']),
          name: text,
          source: Type.Enum(['DRS', 'ENF', 'Other']),
          url: text,
        }),
      ),
    ),
  }),
})
const summaryAnswer = (words: VendorWords) =>
  Type.Object(
    addedEach({
      [brandField(words, 'CreditApplied')]: Type.Number(),
      billingCurrency: text,
      consumptionCommitmentDecremented: Type.Number(),
      subTotal: Type.Number(),
      tax: Type.Number(),
      total: Type.Number(),
    }),
  )

export function showInvoice(words: VendorWords, statement: Statement): object {
  const { currency, totals, month, closedAt = 0 } = statement
  const period = spanOfMonth(month)
  const amount = (minor: bigint) => amountOf(currency, minor)
  const id = invoiceIdOf(words, statement)
  const kind = totals.amount < 0n ? 'CreditNote' : 'Invoice'
  const name = encodeURIComponent(statement.invoice ?? '')
  const url = `${id}/download?documentName=${name}&api-version=${billingVersion}`
  return {
    id,
    name: statement.invoice,
    type: qualify(words, 'Billing/billingAccounts/invoices'),
    properties: present({
      amountDue: amount(totals.amount),
      billedAmount: amount(totals.amount),
      creditAmount: amount(totals.credit),
      subTotal: amount(totals.subTotal),
      taxAmount: amount(totals.tax),
      totalAmount: amount(totals.amount),
      billingProfileId: profileIdOf(words, statement),
      documentType: kind,
      documents: [{ kind, name: statement.invoice, source: 'Other', url }],
      invoiceType: `${words.brand}Services`,
      invoiceDate: moment(closedAt),
      dueDate: moment(dueAt(closedAt)),
      invoicePeriodStartDate: moment(period.start),
      invoicePeriodEndDate: moment(period.end - 1),
      isMonthlyInvoice: true,
      status: statement.status,
    }),
    tags: {},
  }
}

const fields: FieldMap<Statement> = {
  lenient: true,
  optionalPrefix: 'properties',
  fields: {
    name: { type: 'string', ignoreCase: true, read: (s) => s.invoice },
    'properties/invoiceDate': { type: 'dateTime', read: (s) => s.closedAt },
    'properties/dueDate': {
      type: 'dateTime',
      read: (s) => (s.closedAt === undefined ? null : dueAt(s.closedAt)),
    },
    'properties/invoicePeriodStartDate': {
      type: 'dateTime',
      read: (s) => spanOfMonth(s.month).start,
    },
    'properties/invoicePeriodEndDate': {
      type: 'dateTime',
      read: (s) => spanOfMonth(s.month).end - 1,
    },
    'properties/status': { type: 'string', ignoreCase: true, read: (s) => s.status },
    ...Object.fromEntries(
      (
        [
          ['amountDue', 'amount'],
          ['billedAmount', 'amount'],
          ['totalAmount', 'amount'],
          ['subTotal', 'subTotal'],
          ['taxAmount', 'tax'],
          ['creditAmount', 'credit'],
        ] as const
      ).map(([path, total]) => [
        `properties/${path}/value`,
        { type: 'number' as const, read: (s: Statement) => showMinor(s.totals[total]) },
      ]),
    ),
  },
}

async function listInvoices(ledger: Ledger, context: ListContext): Promise<ListPage<object>> {
  const { query, parent, cursor } = context
  const isProfile = parent.segments.at(-1)?.types.length === 2
  const account = isProfile ? nameOf(parentOf(parent)) : nameOf(parent)
  const search = parseSearch(query.get('search') ?? '')
  if (!search.ok) throw refuse.InvalidQueryParameter({ name: 'search', reason: search.reason })
  const top = wholeNumber(query, 'top', 1, ledger.limits.topMax) ?? ledger.limits.topMax
  const skip = skipOf(query)
  const holds = filterOf(query.get('filter'), fields, refuseBilling.InvalidFilter)
  const compare = orderOf(query.get('orderBy'))
  const from = dateOf(query, 'periodStartDate') ?? Number.NEGATIVE_INFINITY
  const until = (dateOf(query, 'periodEndDate') ?? Number.POSITIVE_INFINITY) + day
  const all = await listStatements(ledger.sql, {
    account,
    ...(isProfile ? { profile: nameOf(parent) } : {}),
    billed: true,
    limit: invoicesMax,
  })
  const found = all
    .filter(({ closedAt = 0 }) => closedAt >= from && closedAt < until)
    .filter(({ invoice = '' }) => search.words.every((w) => invoice.toLowerCase().includes(w)))
  const matching = (await acceptedOf(found, holds)).sort((a, b) => compare(a, b) || b.id - a.id)
  const last = cursor === undefined ? undefined : all.find(({ id }) => id === Number(cursor))
  const rest =
    last === undefined
      ? matching.slice(skip)
      : matching.filter((one) => (compare(one, last) || last.id - one.id) > 0)
  const shown = rest.slice(0, top)
  const next = rest.length > top ? shown.at(-1) : undefined
  return {
    items: shown.map((statement) => showInvoice(ledger.words, statement)),
    ...(next === undefined ? {} : { next: String(next.id) }),
    ...(flag(query, 'count') ? { count: matching.length } : {}),
  }
}

function dateOf(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const found = parseUsDate(given.trim()) ?? parseDate(given.trim())
  if (found !== undefined) return found
  throw refuse.InvalidQueryParameter({ name, reason: 'expected a date as MM-DD-YYYY' })
}

function orderOf(orderBy: string | null): (a: Statement, b: Statement) => number {
  const text = orderBy === null || orderBy.trim() === '' ? 'properties/invoiceDate desc' : orderBy
  const parsed = parseOrderBy(text, lenientProfile)
  if (!parsed.ok) throw refuseBilling.InvalidOrderBy({ reason: parsed.message })
  const compiled = compileOrderBy(parsed.terms, fields)
  if (!compiled.ok) throw refuseBilling.InvalidOrderBy({ reason: compiled.message })
  return compiled.compare
}

export function invoices(deps: InvoiceDependencies): readonly ResourceType[] {
  const { ledger, defaultAccount } = deps
  const query = {
    list: [
      'filter',
      'orderBy',
      'search',
      'top',
      'skip',
      'count',
      'periodStartDate',
      'periodEndDate',
    ],
  }
  return [
    defineComputed({
      type: 'Billing/billingAccounts/invoices',
      description: 'What was billed.',
      scope: 'tenant',
      query,
      apiVersions: [billingVersion],
      answer: added(invoiceAnswer),
      source: {
        async get({ id }) {
          const account = accountOf(defaultAccount, nameOf(parentOf(id)))
          const statement = await statementOfInvoice(ledger.sql, account, nameOf(id))
          return statement && showInvoice(ledger.words, statement)
        },
        list: (context) => listInvoices(ledger, context),
      },
      actions: {
        transactionSummary: {
          method: 'GET',
          description: 'The sums of an invoice’s transactions',
          query: ['filter', 'search'],
          answer: summaryAnswer(ledger.words),
          run: async ({ id, query }) => ({ status: 200, body: await summary(ledger, id, query) }),
        },
        ...downloads(deps),
      },
    }),
    defineComputed({
      type: 'Billing/billingAccounts/billingProfiles/invoices',
      description: 'The invoices of a billing profile.',
      scope: 'tenant',
      query,
      apiVersions: [billingVersion],
      answer: added(invoiceAnswer),
      source: { list: (context) => listInvoices(ledger, context) },
    }),
  ]
}

async function summary(ledger: Ledger, id: ResourceId, query: URLSearchParams): Promise<object> {
  const search = parseSearch(query.get('search') ?? '')
  if (!search.ok) throw refuse.InvalidQueryParameter({ name: 'search', reason: search.reason })
  const parsed = parseLedgerQuery(ledger.fields, query.get('filter'), null)
  const statement = await requireInvoice(ledger, id)
  const { totals } = await countMatching(ledger, parsed, search.words, [statement])
  return {
    [brandField(ledger.words, 'CreditApplied')]: showMinor(totals.credit),
    billingCurrency: statement.currency,
    consumptionCommitmentDecremented: showMinor(totals.commitment),
    subTotal: showMinor(totals.subTotal),
    tax: showMinor(totals.tax),
    total: showMinor(totals.amount),
  }
}
