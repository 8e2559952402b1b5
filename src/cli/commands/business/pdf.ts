/** `business pdf`: writes a sales document to a PDF file. */

import { writeFileSync } from 'node:fs'
import { collectionPath, companyOption, entityPath } from '../../business.ts'
import { LocalProblem } from '../../command.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'business pdf',
  summary: 'Write an invoice, a quote or a credit memo to a PDF',
  arguments: [
    { name: 'collection', summary: 'salesInvoices, salesQuotes or salesCreditMemos' },
    { name: 'key', summary: 'Its number, or its id' },
    { name: 'file', summary: 'Where to; it is written anew' },
  ],
  options: {
    language: { type: 'string', value: 'tag', summary: "As `de`; the customer's when left out" },
    ...companyOption,
  },
  examples: ['business pdf salesInvoices PS-INV100001 invoice.pdf'],
  async run(connection, values, context) {
    const collection = await collectionPath(connection, values.company, values.collection)
    const path = await entityPath(connection, collection, values.key)
    const headers = values.language === undefined ? {} : { 'Accept-Language': values.language }
    const { bytes } = await connection.client.request('GET', `${path}/pdfDocument/content`, {
      headers,
    })
    if (bytes === undefined) throw new LocalProblem('NoPdf', 'The server sent no PDF.')
    writeFileSync(values.file, bytes)
    context.terminal.error(`${bytes.length} bytes in ${values.file}\n`)
  },
})
