/** `billing close`: invoices the pending transactions. */

import { listOf } from '#client/resource.ts'
import { billingOptions, billingVersion, profilePath } from '../../billing.ts'
import { member } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
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
  },
  examples: ['billing close', 'billing close --through 2026-10'],
  async run(connection, values, context) {
    const path = `${await profilePath(connection, values)}/closeInvoices`
    const body = values.through === undefined ? {} : { through: values.through }
    const answer = await connection.client.request('POST', path, { query: billingVersion, body })
    printRows(context.terminal, listOf(answer.body, 'value'), [
      { title: 'INVOICE', of: member('invoice') },
      { title: 'MONTH', of: member('month') },
    ])
  },
})
