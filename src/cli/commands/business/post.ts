/** `business post`: posts a draft, which gets its number and its ledger entries. */

import { qualify } from '#kernel/vendor.ts'
import { collectionPath, companyOption, entityPath } from '../../business.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'business post',
  summary: 'Post a sales document: it is closed, numbered and booked',
  arguments: [
    { name: 'collection', summary: 'salesInvoices or salesCreditMemos' },
    { name: 'key', summary: 'The number of the draft, or its id' },
  ],
  options: companyOption,
  examples: ['business post salesInvoices 1001'],
  async run(connection, values, context) {
    const { client, words } = connection
    const collection = await collectionPath(connection, values.company, values.collection)
    const path = await entityPath(connection, collection, values.key)
    await client.request('POST', `${path}/${qualify(words, 'NAV')}.post`)
    printRecord(context.terminal, (await client.request('GET', path)).body)
  },
})
