/** The spending of a month by day or by any property, the transactions, and the invoices. */

import {
  Button,
  Field,
  Input,
  makeStyles,
  Select,
  Text,
  Title3,
  tokens,
} from '@fluentui/react-components'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useList, useWrite } from '../../api/queries.ts'
import { useOrder, useSearch, useSetSearch } from '../../app/address.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Bars } from '../../components/bars.tsx'
import { Card } from '../../components/card.tsx'
import {
  type BillingKind,
  moneyText,
  monthDays,
  sumByCurrency,
  thisMonth,
  useBillingProfile,
  useMonth,
} from '../../components/money.ts'
import { Options } from '../../components/options.tsx'
import { Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { momentText, State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { tableTexts } from '../../texts/app.ts'
import { billingTexts } from '../../texts/work.ts'
import { barsOf, isDimension } from './dimensions.ts'
import { Invoice } from './invoice.tsx'
import { invoicePath, Transactions } from './transactions.tsx'

const useStyles = makeStyles({
  bar: { display: 'flex', gap: tokens.spacingHorizontalM, flexWrap: 'wrap', alignItems: 'end' },
})

export function Billing() {
  const { invoice } = useSearch()
  return invoice === undefined ? <Month /> : <Invoice key={invoice} name={invoice} />
}

function Month() {
  const styles = useStyles()
  const { month = thisMonth(), by = 'day' } = useSearch()
  const setSearch = useSetSearch()
  const { rows, counts, loading, error, more, loadMore, reload } = useMonth(month)
  const usual = useUsualKind(month, counts, loading)
  const dimension = isDimension(by) ? by : 'day'
  return (
    <Page title={billingTexts.title} lead={billingTexts.lead}>
      <div className={styles.bar}>
        <Field label={billingTexts.month}>
          <Input
            type="month"
            value={month}
            onChange={(_, { value }) => setSearch({ month: value }, { replace: true })}
          />
        </Field>
        <Field label={billingTexts.by}>
          <Select value={dimension} onChange={(_, { value }) => setSearch({ by: value })}>
            <Options of={billingTexts.dimensions} />
          </Select>
        </Field>
        <Charge />
      </div>
      {error !== null ? (
        <Refusal failure={error} onRetry={reload} />
      ) : (
        <>
          <Card title={billingTexts.spending}>
            {sumByCurrency(rows).map((amount) => (
              <Title3 as="span" key={amount.currency}>
                {moneyText(amount)}
              </Title3>
            ))}
            {rows.length === 0 && !loading && <Text>{billingTexts.nothing}</Text>}
            {rows.length > 0 && (
              <Bars label={billingTexts.spending} bars={barsOf(rows, dimension)} />
            )}
            {more && <Text>{billingTexts.partial}</Text>}
            {more && (
              <Button disabled={loading} onClick={loadMore}>
                {tableTexts.more}
              </Button>
            )}
          </Card>
          <Transactions month={month} usual={usual} />
          <Invoices year={month.slice(0, 4)} />
        </>
      )}
    </Page>
  )
}

/**
 * What is not invoiced yet, of this month, unless there is none: a table without a row below a sum would puzzle. It stays
 * while the month is looked at, whatever is refunded or charged meanwhile.
 */
function useUsualKind(
  month: string,
  counts: Readonly<Record<BillingKind, number>>,
  loading: boolean,
): BillingKind {
  const [begun, setBegun] = useState<{ readonly month: string; readonly kind: BillingKind }>()
  const [first, other]: readonly [BillingKind, BillingKind] =
    month === thisMonth() ? ['Unbilled', 'Billed'] : ['Billed', 'Unbilled']
  const kind = counts[first] === 0 && counts[other] > 0 ? other : first
  if (!loading && begun?.month !== month) setBegun({ month, kind })
  return begun?.month === month ? begun.kind : kind
}

/** Charges usage now, so that nobody has to wait for the end of the day. */
function Charge() {
  const { account, profile } = useBillingProfile()
  const path = { billingAccountName: account ?? '', billingProfileName: profile ?? '' }
  const charge = useWrite(
    // The document does not describe the answer.
    async () =>
      ((await call('chargeUsage', { path })).body as { readonly charges: number }).charges,
  )
  return (
    <>
      <Button
        title={billingTexts.chargeHint}
        disabled={profile === undefined || charge.isPending}
        onClick={() => charge.mutate(undefined)}
      >
        {billingTexts.charge}
      </Button>
      {charge.data !== undefined && <Text role="status">{billingTexts.charged(charge.data)}</Text>}
      {charge.error !== null && <Refusal failure={charge.error} />}
    </>
  )
}

function Invoices({ year }: { readonly year: string }) {
  const { account } = useBillingProfile()
  const sorted = useOrder('invoices')
  const [first] = monthDays(`${year}-01`)
  const [, last] = monthDays(`${year}-12`)
  const found = useList(
    'listInvoices',
    {
      path: { billingAccountName: account ?? '' },
      query: {
        periodStartDate: first,
        periodEndDate: last,
        orderBy: sorted.order || undefined,
      },
    },
    { enabled: account !== undefined },
  )
  return (
    <Card title={billingTexts.invoices}>
      <Table
        {...found}
        {...sorted}
        label={billingTexts.invoices}
        name="invoices"
        keyOf={({ id }) => id}
        columns={[
          {
            id: 'name',
            title: billingTexts.invoice,
            text: ({ name }) => name,
            show: ({ name }) => <AppLink to={invoicePath(name)}>{name}</AppLink>,
            grow: 1.6,
          },
          {
            id: 'date',
            title: billingTexts.date,
            text: ({ properties }) => momentText(properties.invoiceDate),
            grow: 1.4,
            field: 'properties/invoiceDate',
            wideOnly: true,
          },
          {
            id: 'status',
            title: billingTexts.status,
            text: ({ properties }) => properties.status ?? '',
            field: 'properties/status',
            show: ({ properties }) => <State value={properties.status} />,
          },
          {
            id: 'total',
            title: billingTexts.total,
            text: ({ properties }) => moneyText(properties.totalAmount),
            numeric: true,
            field: 'properties/totalAmount/value',
          },
        ]}
        empty={{ title: billingTexts.noInvoices }}
      />
    </Card>
  )
}
