/** One invoice: its sums, what they are made of, its transactions, and the printed document. */

import { Button, Field, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { ArrowDownloadRegular } from '@fluentui/react-icons/svg/arrow-download'
import { call, download, send } from '../../api/client.ts'
import { pathOfLink } from '../../api/place.ts'
import { refusalOf, useAllOf, useCall, useList, useWrite } from '../../api/queries.ts'
import { useOrder, useSearch, useSetSearch } from '../../app/address.ts'
import { Bars } from '../../components/bars.tsx'
import { Card, Pairs } from '../../components/card.tsx'
import { moneyText, type Transaction, useBillingProfile } from '../../components/money.ts'
import { Options } from '../../components/options.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { saveFile } from '../../components/save-file.ts'
import { momentText, State } from '../../components/state.tsx'
import { billingTexts } from '../../texts/work.ts'
import { barsOf, isDimension } from './dimensions.ts'
import { TransactionTable } from './transactions.tsx'

/** Of the transactions of an invoice, as many are added up by themselves. */
const addedUpMax = 1_000
const pageRows = '50'

const useStyles = makeStyles({
  bar: { display: 'flex', gap: tokens.spacingHorizontalM, flexWrap: 'wrap', alignItems: 'end' },
})

export function Invoice({ name }: { readonly name: string }) {
  const { account, error, loading } = useBillingProfile()
  const path = { billingAccountName: account ?? '', invoiceName: name }
  const found = useCall('getInvoice', { path }, { enabled: account !== undefined })
  const refused = error ?? refusalOf(found)
  const crumbs = [{ title: billingTexts.title, to: '/billing' }]
  if (refused !== null) {
    return (
      <Page title={name} crumbs={crumbs}>
        <Refusal failure={refused} onRetry={() => void found.refetch()} />
      </Page>
    )
  }
  if (loading || found.data === undefined) return <Loading />
  const { properties } = found.data
  const day = (moment: string): string => moment.slice(0, 10)
  return (
    <Page
      title={name}
      crumbs={crumbs}
      lead={billingTexts.documents[properties.documentType]}
      actions={<Print path={path} name={name} />}
    >
      <Card title={billingTexts.sums}>
        <Pairs
          pairs={[
            [billingTexts.status, <State key="status" value={properties.status} />],
            [
              billingTexts.period,
              billingTexts.from(
                day(properties.invoicePeriodStartDate),
                day(properties.invoicePeriodEndDate),
              ),
            ],
            [billingTexts.date, momentText(properties.invoiceDate)],
            [billingTexts.due, momentText(properties.dueDate)],
            [billingTexts.beforeTax, moneyText(properties.subTotal)],
            [billingTexts.tax, moneyText(properties.taxAmount)],
            [billingTexts.credits, moneyText(properties.creditAmount)],
            [billingTexts.total, moneyText(properties.totalAmount)],
            [billingTexts.toPay, moneyText(properties.amountDue)],
          ]}
        />
      </Card>
      <MadeOf path={path} />
      <Transactions path={path} />
    </Page>
  )
}

interface InvoiceProps {
  readonly path: { readonly billingAccountName: string; readonly invoiceName: string }
}

function Print({ path, name }: InvoiceProps & { readonly name: string }) {
  const print = useWrite(async () => {
    const { location = '' } = await call('printInvoice', { path })
    // The document does not describe the answer.
    const { body } = await send<{ readonly url: string }>('GET', location)
    return download(pathOfLink(body.url))
  })
  return (
    <>
      <Button
        icon={<ArrowDownloadRegular />}
        disabled={print.isPending}
        onClick={() =>
          print.mutate(undefined, { onSuccess: (file) => saveFile(`${name}.pdf`, file) })
        }
      >
        {billingTexts.pdf}
      </Button>
      {print.error !== null && <Refusal failure={print.error} />}
    </>
  )
}

/** What the sums are made of, by any property. */
function MadeOf({ path }: InvoiceProps) {
  const styles = useStyles()
  const { by = 'product' } = useSearch()
  const setSearch = useSetSearch()
  const found = useAllOf(
    useList<'listInvoiceTransactions', Transaction>('listInvoiceTransactions', {
      path,
      query: { top: pageRows },
    }),
    addedUpMax,
  )
  const dimension = isDimension(by) ? by : 'product'
  return (
    <Card title={billingTexts.madeOf}>
      <div className={styles.bar}>
        <Field label={billingTexts.by}>
          <Select value={dimension} onChange={(_, { value }) => setSearch({ by: value })}>
            <Options of={billingTexts.dimensions} />
          </Select>
        </Field>
      </div>
      {found.error !== null && <Refusal failure={found.error} onRetry={found.reload} />}
      {found.rows.length > 0 && (
        <Bars label={billingTexts.madeOf} bars={barsOf(found.rows, dimension)} />
      )}
      {found.more && !found.loading && <Text>{billingTexts.partial}</Text>}
    </Card>
  )
}

function Transactions({ path }: InvoiceProps) {
  const { q = '' } = useSearch()
  const sorted = useOrder()
  const found = useList<'listInvoiceTransactions', Transaction>('listInvoiceTransactions', {
    path,
    query: { top: pageRows, search: q || undefined, orderBy: sorted.order || undefined },
  })
  return (
    <TransactionTable
      name="invoice-transactions"
      found={found}
      sorted={sorted}
      leftOut="invoice"
      none={billingTexts.noneOfInvoice}
    />
  )
}
