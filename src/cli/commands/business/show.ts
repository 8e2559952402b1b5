/** `business show`: shows a customer, item or document, optionally with its lines. */

import { collectionPath, companyOption, entityPath } from '../../business.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'business show',
  summary: 'Show one customer, item or document',
  arguments: [
    { name: 'collection', summary: 'customers, items, salesInvoices, …' },
    { name: 'key', summary: 'Its number, or its id' },
  ],
  options: {
    expand: { type: 'string', value: 'names', summary: 'What is shown with it' },
    ...companyOption,
    ...connectionOptions,
  },
  examples: ['business show salesInvoices 1001 --expand salesInvoiceLines'],
  async run(context, values) {
    const connection = context.connect(values)
    const collection = await collectionPath(connection, values.company, values.collection)
    const path = await entityPath(connection, collection, values.key)
    const query = { $expand: values.expand }
    printRecord(context.terminal, (await connection.client.request('GET', path, { query })).body)
    return 0
  },
})
