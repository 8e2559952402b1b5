/**
 * `billing transactions`: lists the transactions of an invoice, or those of the last year that are not invoiced
 * yet.
 */

import {
  accountPath,
  billingOptions,
  billingVersion,
  periodDate,
  profilePath,
  transactionColumns,
} from '../../billing.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { serverMoment } from '../../server-moment.ts'

const yearMilliseconds = 366 * 86_400_000

export const command = defineRemoteCommand({
  name: 'billing transactions',
  summary: 'List transactions: of an invoice, or those that are pending',
  arguments: [],
  options: {
    invoice: {
      type: 'string',
      value: 'name',
      summary: 'The invoice; what is pending when left out',
    },
    filter: {
      type: 'string',
      value: 'text',
      summary: "A filter: subTotal/value gt 10 and kind eq 'All'",
    },
    'order-by': {
      type: 'string',
      value: 'text',
      summary: 'An order: transactionAmount/value desc',
    },
    search: { type: 'string', value: 'words', summary: 'Words to be found in any text' },
    ...billingOptions,
  },
  examples: [
    'billing transactions',
    'billing transactions --invoice G000000001 --order-by "transactionAmount/value desc"',
  ],
  async run(connection, values, context) {
    const { invoice } = values
    const now = invoice === undefined ? await serverMoment(connection) : 0
    const path =
      invoice === undefined
        ? `${await profilePath(connection, values)}/transactions`
        : `${await accountPath(connection, values)}/invoices/${encodeURIComponent(invoice)}/transactions`
    const pending = {
      type: 'Unbilled',
      periodStartDate: periodDate(now - yearMilliseconds),
      periodEndDate: periodDate(now + yearMilliseconds),
    }
    const query = {
      ...billingVersion,
      ...(invoice === undefined ? pending : {}),
      filter: values.filter,
      orderBy: values['order-by'],
      search: values.search,
    }
    const rows = await connection.client.list(path, { query })
    printRows(context.terminal, rows, transactionColumns)
  },
})
