/** `business show`: shows a customer, item or document, optionally with its lines. */

import { collectionPath, companyOption, entityPath } from '../../business.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'business show',
  summary: 'Show one customer, item or document',
  arguments: [
    { name: 'collection', summary: 'customers, items, salesInvoices, …' },
    { name: 'key', summary: 'Its number, or its id' },
  ],
  options: {
    expand: { type: 'string', value: 'names', summary: 'What is shown with it' },
    ...companyOption,
  },
  examples: ['business show salesInvoices 1001 --expand salesInvoiceLines'],
  async run(connection, values, context) {
    const collection = await collectionPath(connection, values.company, values.collection)
    const path = await entityPath(connection, collection, values.key)
    const query = { $expand: values.expand }
    printRecord(context.terminal, (await connection.client.request('GET', path, { query })).body)
  },
})
