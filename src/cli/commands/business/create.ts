/** `business create`: creates a company, a customer, an item, or a document with its lines. */

import { collectionPath, companyOption } from '../../business.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'business create',
  summary: 'Make a company, a customer, an item, a document with its lines',
  arguments: [{ name: 'collection', summary: 'companies, customers, items, salesInvoices, …' }],
  options: {
    body: {
      type: 'string',
      short: 'b',
      value: 'json',
      required: true,
      summary: 'The JSON itself, `@file`, or `-` for standard input',
    },
    ...companyOption,
    ...connectionOptions,
  },
  examples: [
    'business create companies --body \'{"name":"Paper and Sons"}\'',
    'business create customers --body \'{"displayName":"Adatum"}\'',
  ],
  async run(context, values) {
    const body = await context.readText(values.body)
    const connection = context.connect(values)
    const path = await collectionPath(connection, values.company, values.collection)
    printRecord(context.terminal, (await connection.client.request('POST', path, { body })).body)
    return 0
  },
})
