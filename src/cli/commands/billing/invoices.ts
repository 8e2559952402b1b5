/** `billing invoices`: lists the invoices of an account. */

import { accountPath, billingOptions, billingVersion, invoiceColumns } from '../../billing.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'billing invoices',
  summary: 'List invoices',
  arguments: [],
  options: { ...billingOptions, ...connectionOptions },
  examples: ['billing invoices'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = `${await accountPath(connection, values)}/invoices`
    const rows = await connection.client.list(path, { query: billingVersion })
    printRows(context.terminal, rows, invoiceColumns)
    return 0
  },
})
