/** `business pay`: records a customer's payment of an invoice. */

import { collectionPath, companyOption } from '../../business.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'business pay',
  summary: 'Book what a customer paid on an invoice; a negative amount went back',
  arguments: [{ name: 'invoice', summary: 'The number of the posted invoice' }],
  options: {
    amount: { type: 'string', value: 'number', required: true, summary: 'How much' },
    ...companyOption,
    ...connectionOptions,
  },
  examples: ['business pay 103001 --amount 50'],
  async run(context, values) {
    const amount = Number(values.amount)
    if (values.amount.trim() === '' || !Number.isFinite(amount)) {
      throw new UsageError(`\`--amount ${values.amount}\` is not a number`)
    }
    const connection = context.connect(values)
    const path = await collectionPath(connection, values.company, 'customerPayments')
    const body = { appliesToInvoiceNumber: values.invoice, amount }
    printRecord(context.terminal, (await connection.client.request('POST', path, { body })).body)
    return 0
  },
})
