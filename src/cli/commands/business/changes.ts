/** `business changes`: prints what changed in a set since the last call, whose delta link is kept in a file. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { collectionPath, companyOption } from '../../business.ts'
import { LocalProblem } from '../../command.ts'
import { member } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

const headers = { Prefer: 'odata.track-changes' }

export const command = defineRemoteCommand({
  name: 'business changes',
  summary: 'List what changed in a collection since the last call; all of it at first',
  arguments: [
    { name: 'collection', summary: 'customers, items, salesInvoices, …' },
    {
      name: 'file',
      summary: 'Where the link to the next changes is kept; remove it to begin anew',
    },
  ],
  options: companyOption,
  examples: ['business changes customers customers.link --company "Paper and Sons"'],
  async run(connection, values, context) {
    const { client } = connection
    const { collection, company, file } = values
    const first = existsSync(file)
      ? readFileSync(file, 'utf8').trim()
      : await collectionPath(connection, company, collection)
    const rows: unknown[] = []
    let delta: string | undefined
    for (let next: string | undefined = first; next !== undefined; ) {
      const { body } = await client.request('GET', next, { headers })
      rows.push(...listOf(body, 'value'))
      next = textOf(body, '@odata.nextLink')
      delta = textOf(body, '@odata.deltaLink')
    }
    if (delta === undefined)
      throw new LocalProblem('NotFollowed', `The server gives no changes of ${collection}.`)
    const removed = (row: unknown) =>
      (isJsonObject(row) ? textOf(row['@removed'], 'reason') : undefined) ?? ''
    printRows(context.terminal, rows, [
      { title: 'ID', of: member('id') },
      { title: 'NUMBER', of: member('number') },
      { title: 'NAME', of: member('displayName') },
      { title: 'REMOVED', of: removed },
    ])
    writeFileSync(file, `${delta}\n`)
  },
})
