/** `business post`: posts a draft, which gets its number and its ledger entries. */

import { qualify } from '#kernel/vendor.ts'
import { collectionPath, companyOption, entityPath } from '../../business.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'business post',
  summary: 'Post a sales document: it is closed, numbered and booked',
  arguments: [
    { name: 'collection', summary: 'salesInvoices or salesCreditMemos' },
    { name: 'key', summary: 'The number of the draft, or its id' },
  ],
  options: { ...companyOption, ...connectionOptions },
  examples: ['business post salesInvoices 1001'],
  async run(context, values) {
    const connection = context.connect(values)
    const { client, words } = connection
    const collection = await collectionPath(connection, values.company, values.collection)
    const path = await entityPath(connection, collection, values.key)
    await client.request('POST', `${path}/${qualify(words, 'NAV')}.post`)
    printRecord(context.terminal, (await client.request('GET', path)).body)
    return 0
  },
})
