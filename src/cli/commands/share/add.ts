/** `share add`: adds a data set to a share. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { putResource } from '../../resource-commands.ts'
import {
  accountOptions,
  inAccount,
  placedProperties,
  propertyOption,
  shareVersion,
} from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share add',
  summary: 'Put a data set into a share',
  notes:
    () => `The properties are those of the kind. Where files are, the subscription and the resource group of the
command are taken. Of a SQL table \`server=name\` names a server of the resource group.`,
  arguments: [{ name: 'name', summary: 'The name of the data set' }],
  options: {
    ...accountOptions,
    share: { type: 'string', value: 'name', required: true, summary: 'The share' },
    kind: { type: 'string', value: 'kind', required: true, summary: 'BlobFolder, SqlDBTable, …' },
    ...propertyOption,
  },
  examples: [
    'share add files -g from -a giver --share sales --kind BlobFolder -p storageAccountName=givenfiles -p containerName=data -p prefix=in',
    'share add orders -g from -a giver --share sales --kind SqlDBTable -p server=shop -p databaseName=shop -p schemaName=public -p tableName=orders',
  ],
  async run(connection, values, context) {
    const { kind, share, name } = values
    const properties = await placedProperties(connection, values, kind, values.property)
    const path = await inAccount(connection, values, 'shares', share, 'dataSets', name)
    const made = await putResource(connection, path, shareVersion, { kind, properties })
    printRecord(context.terminal, made)
  },
})
