/** The business application: customers and documents of a company, and one document open for editing. */

import {
  Button,
  Field,
  makeStyles,
  Select,
  Tab,
  TabList,
  Text,
  tokens,
} from '@fluentui/react-components'
import { useState } from 'react'
import { send } from '../../api/client.ts'
import { useListAt, useWrite } from '../../api/queries.ts'
import { useOrder, useSearch, useSetSearch } from '../../app/address.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Prose } from '../../components/prose.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { businessTexts } from '../../texts/business.ts'
import { DocumentView } from './document.tsx'
import {
  amountText,
  type Company,
  companyPath,
  type Document,
  type DocumentKind,
  dateFieldOf,
  dateOf,
  documentKinds,
  type Named,
  useEntities,
} from './entities.ts'

const useStyles = makeStyles({
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM, alignItems: 'end' },
  tabs: { flexWrap: 'wrap' },
})

type Kind = keyof typeof businessTexts.kinds

export function Business() {
  const styles = useStyles()
  const { company, kind = 'salesInvoices', document } = useSearch()
  const setSearch = useSetSearch()
  const companies = useEntities<Company>('/api/v2.0/companies')
  const all = companies.data?.value ?? []
  const current = all.find(({ id }) => id === company) ?? all[0]
  if (companies.isLoading) return <Loading />
  const root = companyPath(current?.id ?? '')
  const shown = documentKinds.find((one) => one === kind)
  if (current !== undefined && shown !== undefined && document !== undefined) {
    return (
      <DocumentView
        key={document}
        root={root}
        kind={shown}
        id={document}
        back={`/business?company=${current.id}&kind=${shown}`}
      />
    )
  }
  return (
    <Page title={businessTexts.title} lead={businessTexts.lead}>
      {companies.error !== null && <Refusal failure={companies.error} />}
      {companies.error === null && current === undefined && (
        <Card title={businessTexts.noCompanies}>
          <Text>
            <Prose text={businessTexts.noCompaniesText} />
          </Text>
        </Card>
      )}
      {current !== undefined && (
        <>
          <div className={styles.bar}>
            <Field label={businessTexts.company}>
              <Select value={current.id} onChange={(_, { value }) => setSearch({ company: value })}>
                {all.map(({ id, name, displayName }) => (
                  <option key={id} value={id}>
                    {displayName === undefined || displayName === '' ? name : displayName}
                  </option>
                ))}
              </Select>
            </Field>
          </div>
          <TabList
            className={styles.tabs}
            selectedValue={kind}
            onTabSelect={(_, { value }) => setSearch({ kind: String(value), order: undefined })}
          >
            {(Object.keys(businessTexts.kinds) as Kind[]).map((one) => (
              <Tab key={one} value={one}>
                {businessTexts.kinds[one]}
              </Tab>
            ))}
          </TabList>
          {shown === undefined ? (
            <Customers root={root} />
          ) : (
            <Documents key={shown} root={root} kind={shown} company={current.id} />
          )}
        </>
      )}
    </Page>
  )
}

const customerColumns: readonly Column<Named>[] = [
  {
    id: 'number',
    title: businessTexts.number,
    text: ({ number }) => number,
    field: 'number',
  },
  {
    id: 'name',
    title: businessTexts.customer,
    text: ({ displayName }) => displayName,
    grow: 2,
    field: 'displayName',
  },
  {
    id: 'city',
    title: businessTexts.city,
    text: ({ city }) => city ?? '',
    wideOnly: true,
    field: 'city',
  },
  {
    id: 'balance',
    title: businessTexts.balance,
    text: ({ balanceDue }) => (balanceDue === undefined ? '' : amountText(balanceDue)),
    numeric: true,
    field: 'balanceDue',
  },
]

function Customers({ root }: { readonly root: string }) {
  const sorted = useOrder()
  const found = useListAt<Named>(`${root}/customers`, { $orderby: sorted.order || undefined })
  return (
    <Table
      {...found}
      {...sorted}
      label={businessTexts.kinds.customers}
      name="customers"
      keyOf={({ id }) => id}
      columns={customerColumns}
      empty={{ title: businessTexts.none }}
    />
  )
}

function Documents({
  root,
  kind,
  company,
}: {
  readonly root: string
  readonly kind: DocumentKind
  readonly company: string
}) {
  const styles = useStyles()
  const [creating, setCreating] = useState(false)
  const sorted = useOrder()
  const found = useListAt<Document>(`${root}/${kind}`, { $orderby: sorted.order || undefined })
  const linkOf = (id: string): string => `/business?company=${company}&kind=${kind}&document=${id}`
  return (
    <>
      <div className={styles.bar}>
        <Button appearance="primary" onClick={() => setCreating(true)}>
          {businessTexts.new[kind]}
        </Button>
      </div>
      <Table
        {...found}
        {...sorted}
        label={businessTexts.kinds[kind]}
        name="documents"
        keyOf={({ id }) => id}
        columns={[
          {
            id: 'number',
            title: businessTexts.number,
            text: ({ number }) => number,
            show: ({ id, number }) => <AppLink to={linkOf(id)}>{number}</AppLink>,
            // Long enough for a number in a narrow window.
            grow: 1.6,
            field: 'number',
          },
          {
            id: 'customer',
            title: businessTexts.customer,
            text: ({ customerName }) => customerName,
            grow: 2,
            field: 'customerName',
          },
          {
            id: 'date',
            title: businessTexts.date,
            text: dateOf,
            wideOnly: true,
            field: dateFieldOf[kind],
          },
          {
            id: 'total',
            title: businessTexts.total,
            text: (one) => amountText(one.totalAmountIncludingTax),
            numeric: true,
            field: 'totalAmountIncludingTax',
          },
          {
            id: 'status',
            title: businessTexts.status,
            text: ({ status }) => status,
            show: ({ status }) => <State value={status} />,
            wideOnly: true,
            field: 'status',
          },
        ]}
        empty={{ title: businessTexts.none }}
      />
      {creating && <NewDocument root={root} kind={kind} onClose={() => setCreating(false)} />}
    </>
  )
}

function NewDocument({
  root,
  kind,
  onClose,
}: {
  readonly root: string
  readonly kind: DocumentKind
  readonly onClose: () => void
}) {
  const setSearch = useSetSearch()
  const customers = useEntities<Named>(`${root}/customers`)
  const [chosen, setChosen] = useState('')
  const customerId = chosen === '' ? (customers.data?.value[0]?.id ?? '') : chosen
  const create = useWrite(
    async () => (await send<Document>('POST', `${root}/${kind}`, { body: { customerId } })).body,
  )
  return (
    <FormDialog
      title={businessTexts.new[kind]}
      submit={businessTexts.create}
      busy={create.isPending}
      ready={customerId !== ''}
      failure={create.error ?? customers.error}
      onSubmit={() =>
        create.mutate(undefined, { onSuccess: ({ id }) => setSearch({ kind, document: id }) })
      }
      onClose={onClose}
    >
      <Field label={businessTexts.customer} required>
        <Select value={customerId} onChange={(_, { value }) => setChosen(value)}>
          {(customers.data?.value ?? []).map(({ id, displayName }) => (
            <option key={id} value={id}>
              {displayName}
            </option>
          ))}
        </Select>
      </Field>
    </FormDialog>
  )
}
