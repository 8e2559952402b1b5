/** `billing close`: invoices the pending transactions. */

import { listOf } from '#client/resource.ts'
import { billingOptions, billingVersion, profilePath } from '../../billing.ts'
import { type Command, defineCommand } from '../../command.ts'
import { member } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'billing close',
  summary: 'Make invoices of what is pending',
  arguments: [],
  options: {
    through: {
      type: 'string',
      value: 'month',
      summary: 'The last month: 2026-11; the present one when left out',
    },
    ...billingOptions,
    ...connectionOptions,
  },
  examples: ['billing close', 'billing close --through 2026-10'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = `${await profilePath(connection, values)}/closeInvoices`
    const body = values.through === undefined ? {} : { through: values.through }
    const answer = await connection.client.request('POST', path, { query: billingVersion, body })
    printRows(context.terminal, listOf(answer.body, 'value'), [
      { title: 'INVOICE', of: member('invoice') },
      { title: 'MONTH', of: member('month') },
    ])
    return 0
  },
})
