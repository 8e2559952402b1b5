/** The transactions of a month: searched and sorted by the server. One can be opened, and refunded. */

import { Field, Input, Link, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { type ReactNode, useState } from 'react'
import { call } from '../../api/client.ts'
import { type Rows, useWrite } from '../../api/queries.ts'
import { useOrder, useSearch, useSetSearch } from '../../app/address.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Card, Pairs } from '../../components/card.tsx'
import { FormDialog, problemAt } from '../../components/form-dialog.tsx'
import {
  type Amount,
  type BillingKind,
  moneyText,
  type Transaction,
  useBillingProfile,
  useTransactions,
} from '../../components/money.ts'
import { Options } from '../../components/options.tsx'
import { momentText } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { billingTexts } from '../../texts/work.ts'
import { TextFilter } from '../resources/resource-filters.tsx'

const useStyles = makeStyles({
  bar: { display: 'flex', gap: tokens.spacingHorizontalM, flexWrap: 'wrap', alignItems: 'end' },
  table: { display: 'flex', flexDirection: 'column', minHeight: '320px' },
})

/** The address of an invoice's page. */
export function invoicePath(name: string): string {
  return `/billing?invoice=${encodeURIComponent(name)}`
}

export function amountText(amount: Amount | undefined): string {
  return amount === undefined ? '' : moneyText(amount)
}

/** What charged something can be refunded; a refund or credit cannot. */
function isRefundable({ properties: { subTotal, creditType } }: Transaction): boolean {
  return (subTotal?.value ?? 0) > 0 && creditType === undefined
}

function columnsOf(open: (name: string) => void): readonly Column<Transaction>[] {
  const productOf = ({ name, properties }: Transaction): string =>
    properties.productDescription ?? name
  return [
    {
      id: 'date',
      title: billingTexts.date,
      text: ({ properties }) => properties.date.slice(0, 10),
      // Long enough for a day in a narrow window.
      grow: 1.5,
      field: 'properties/date',
    },
    {
      id: 'product',
      title: billingTexts.product,
      text: productOf,
      show: (row) => (
        <Link as="button" onClick={() => open(row.name)}>
          <bdi>{productOf(row)}</bdi>
        </Link>
      ),
      grow: 2,
      field: 'properties/productDescription',
    },
    {
      id: 'kind',
      title: billingTexts.dimensions.kind,
      text: ({ properties }) => properties.transactionType ?? '',
      wideOnly: true,
      field: 'properties/transactionType',
    },
    {
      id: 'invoice',
      title: billingTexts.invoice,
      text: ({ properties }) => properties.invoice ?? '',
      wideOnly: true,
      field: 'properties/invoice',
    },
    {
      id: 'amount',
      title: billingTexts.amount,
      text: ({ properties }) => amountText(properties.transactionAmount),
      numeric: true,
      field: 'properties/transactionAmount/value',
    },
  ]
}

interface TransactionsProps {
  readonly month: string
  /** What is shown where the address does not say. */
  readonly usual: BillingKind
}

export function Transactions({ month, usual }: TransactionsProps) {
  const { q = '', show } = useSearch()
  const setSearch = useSetSearch()
  const sorted = useOrder()
  const kind = show === 'Billed' || show === 'Unbilled' ? show : usual
  const { order } = sorted
  const found = useTransactions(month, kind, {
    search: q || undefined,
    orderBy: order || undefined,
  })
  return (
    <TransactionTable
      name="transactions"
      found={found}
      sorted={sorted}
      none={billingTexts.noneOfKind}
    >
      <Field label={billingTexts.which}>
        <Select value={kind} onChange={(_, { value }) => setSearch({ show: value })}>
          <Options of={billingTexts.kinds} />
        </Select>
      </Field>
    </TransactionTable>
  )
}

interface TransactionTableProps {
  /** The person's choice of columns is kept by it. */
  readonly name: string
  readonly found: Rows<Transaction>
  readonly sorted: ReturnType<typeof useOrder>
  /** The id of a column that would say the same in each row. */
  readonly leftOut?: string
  /** What is said where there are none, and nothing is searched for. */
  readonly none: string
  /** Before the search. */
  readonly children?: ReactNode
}

/** Transactions that are searched by the address, each with a dialog to refund it. */
export function TransactionTable({
  name,
  found,
  sorted,
  leftOut,
  none,
  children,
}: TransactionTableProps) {
  const styles = useStyles()
  const { q = '', transaction } = useSearch()
  const setSearch = useSetSearch()
  const opened = found.rows.find((row) => row.name === transaction)
  const [refunded, setRefunded] = useState('')
  const columns = columnsOf((one) => setSearch({ transaction: one }))
  return (
    <Card title={billingTexts.transactions}>
      <div className={styles.bar}>
        {children}
        <TextFilter
          label={billingTexts.search}
          value={q}
          onChange={(text) => setSearch({ q: text }, { replace: true })}
        />
        <Text role="status">{refunded}</Text>
      </div>
      <div className={styles.table}>
        <Table
          {...found}
          {...sorted}
          label={billingTexts.transactions}
          name={name}
          columns={columns.filter(({ id }) => id !== leftOut)}
          keyOf={({ id }) => id}
          empty={{
            title: billingTexts.none,
            text: q === '' ? none : billingTexts.noneFound,
          }}
        />
      </div>
      {opened !== undefined && (
        <OpenedTransaction
          transaction={opened}
          onClose={() => setSearch({ transaction: undefined })}
          onRefund={(text) => {
            setRefunded(billingTexts.refunded(text))
            setSearch({ transaction: undefined })
          }}
        />
      )}
    </Card>
  )
}

function OpenedTransaction({
  transaction,
  onClose,
  onRefund,
}: {
  readonly transaction: Transaction
  readonly onClose: () => void
  readonly onRefund: (amount: string) => void
}) {
  const { account, profile } = useBillingProfile()
  const [typed, setTyped] = useState('')
  const [reasonCode, setReason] = useState('')
  // With a name of its own, a refund whose answer was lost is not made twice.
  const [name] = useState(() => crypto.randomUUID())
  const amount = typed.trim() === '' ? undefined : Number(typed)
  const isNumber = amount === undefined || Number.isFinite(amount)
  const path = {
    billingAccountName: account ?? '',
    billingProfileName: profile ?? '',
    transactionName: transaction.name,
  }
  const refund = useWrite(async () => {
    const body = {
      name,
      ...(amount === undefined ? {} : { amount }),
      ...(reasonCode === '' ? {} : { reasonCode }),
    }
    // The document does not describe the answer.
    return (await call('refundTransaction', { path, body })).body as Transaction
  })
  const canRefund = isRefundable(transaction)
  const { properties } = transaction
  return (
    <FormDialog
      title={billingTexts.transaction}
      {...(canRefund ? { submit: billingTexts.refund } : {})}
      busy={refund.isPending}
      ready={canRefund && isNumber && profile !== undefined}
      failure={refund.error}
      onSubmit={() =>
        refund.mutate(undefined, {
          onSuccess: (made) => onRefund(amountText(made.properties.transactionAmount)),
        })
      }
      onClose={onClose}
    >
      <Pairs
        pairs={[
          [billingTexts.product, properties.productDescription],
          [billingTexts.date, momentText(properties.date)],
          [billingTexts.dimensions.kind, properties.transactionType],
          [billingTexts.section, properties.invoiceSectionDisplayName],
          [
            billingTexts.invoice,
            properties.invoice === undefined ? undefined : (
              <AppLink key="invoice" to={invoicePath(properties.invoice)}>
                {properties.invoice}
              </AppLink>
            ),
          ],
          [billingTexts.beforeTax, amountText(properties.subTotal)],
          [billingTexts.tax, amountText(properties.tax)],
          [billingTexts.amount, amountText(properties.transactionAmount)],
          [billingTexts.reason, properties.reasonCode],
          [billingTexts.name, transaction.name],
        ]}
      />
      {canRefund && (
        <>
          <Field
            label={billingTexts.refundAmount}
            hint={billingTexts.refundHint}
            validationMessage={
              isNumber ? problemAt(refund.error, 'amount') : billingTexts.notAmount
            }
          >
            <Input inputMode="decimal" value={typed} onChange={(_, { value }) => setTyped(value)} />
          </Field>
          <Field
            label={billingTexts.reason}
            validationMessage={problemAt(refund.error, 'reasonCode')}
          >
            <Input value={reasonCode} onChange={(_, { value }) => setReason(value)} />
          </Field>
        </>
      )}
    </FormDialog>
  )
}
