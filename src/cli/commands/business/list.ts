/** `business list`: lists customers, items, invoices and other entities of a company. */

import { listOf } from '#client/resource.ts'
import { collectionPath, companyOption } from '../../business.ts'
import { member } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'business list',
  summary: 'List what a company has: companies, customers, items, salesInvoices, …',
  arguments: [{ name: 'collection', summary: 'companies, customers, items, salesInvoices, …' }],
  options: {
    filter: { type: 'string', value: 'expression', summary: "Only those, as `status eq 'Open'`" },
    'order-by': { type: 'string', value: 'fields', summary: 'In this order, as `number desc`' },
    top: { type: 'string', value: 'number', summary: 'So many at most' },
    ...companyOption,
  },
  examples: [
    'business list companies',
    'business list salesInvoices --company "Paper and Sons" --order-by "invoiceDate desc"',
  ],
  async run(connection, values, context) {
    const path = await collectionPath(connection, values.company, values.collection)
    const query = { $filter: values.filter, $orderby: values['order-by'], $top: values.top }
    const { body } = await connection.client.request('GET', path, { query })
    const rows = listOf(body, 'value')
    const names = ['number', 'code', 'name', 'displayName', 'customerName', 'status', 'id']
    const shown = names.filter((name) => rows.some((row) => member(name)(row) !== ''))
    printRows(
      context.terminal,
      rows,
      shown.map((name) => ({ title: name.toUpperCase(), of: member(name) })),
    )
  },
})
