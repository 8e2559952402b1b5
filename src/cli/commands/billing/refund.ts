/** `billing refund`: refunds a transaction, completely or in part. */

import { textOf } from '#client/answer.ts'
import { billingOptions, billingVersion, profilePath, transactionColumns } from '../../billing.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { printable } from '../../output/table.ts'

export const command: Command = defineCommand({
  name: 'billing refund',
  summary: 'Refund a transaction, all or part of it',
  arguments: [{ name: 'name', summary: 'The name of the transaction' }],
  options: {
    amount: {
      type: 'string',
      value: 'number',
      summary: 'Before tax; all that is left when left out',
    },
    ...billingOptions,
    ...connectionOptions,
  },
  examples: ['billing refund 8f7c… --amount 1.50'],
  async run(context, values) {
    const amount = values.amount === undefined ? undefined : Number(values.amount)
    if (Number.isNaN(amount)) throw new UsageError('--amount takes a number')
    const connection = context.connect(values)
    const name = encodeURIComponent(values.name)
    const path = `${await profilePath(connection, values)}/transactions/${name}/refund`
    const body = amount === undefined ? {} : { amount }
    const answer = await connection.client.request('POST', path, { query: billingVersion, body })
    printRows(context.terminal, [answer.body], transactionColumns)
    const refund = printable(textOf(answer.body, 'name') ?? '')
    context.terminal.error(`Recorded the refund ${refund}.\n`)
    return 0
  },
})
