/** `billing invoices`: lists the invoices of an account. */

import { accountPath, billingOptions, billingVersion, invoiceColumns } from '../../billing.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'billing invoices',
  summary: 'List invoices',
  arguments: [],
  options: billingOptions,
  examples: ['billing invoices'],
  async run(connection, values, context) {
    const path = `${await accountPath(connection, values)}/invoices`
    const rows = await connection.client.list(path, { query: billingVersion })
    printRows(context.terminal, rows, invoiceColumns)
  },
})
