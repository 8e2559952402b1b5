/** `share store create`: a storage account: a folder of the installation, or a blob service. */

import { type Command, defineCommand, UsageError } from '../../../command.ts'
import { groupOptions, inGroup, missingGroup } from '../../../group-place.ts'
import { connectionOptions } from '../../../options.ts'
import { printRecord } from '../../../output/print.ts'
import { passwordForms, readPassword } from '../../../password.ts'
import { putResource } from '../../../resource-commands.ts'
import { storageVersion } from '../../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share store create',
  summary: 'Create a storage account: a folder of the installation, or a blob service',
  arguments: [{ name: 'name', summary: 'The name; a folder is called by it' }],
  options: {
    ...groupOptions,
    endpoint: {
      type: 'string',
      value: 'address',
      summary: 'Of a blob service; a folder when left out',
    },
    'account-name': { type: 'string', value: 'name', summary: 'How the service calls the account' },
    key: { type: 'string', value: 'where', summary: `Its key: ${passwordForms}` },
    ...connectionOptions,
  },
  examples: [
    'share store create givenfiles -g from',
    'share store create cloudfiles -g from --endpoint https://blobs.example/me --account-name me --key @key.txt',
  ],
  confirm: missingGroup,
  async run(context, values) {
    const { endpoint, key } = values
    if (endpoint === undefined && key !== undefined) {
      throw new UsageError('`--key` goes with `--endpoint`')
    }
    const properties =
      endpoint === undefined
        ? { kind: 'Folder' }
        : {
            kind: 'BlobService',
            endpoint,
            accountName: values['account-name'] ?? values.name,
            accountKey: await readPassword(context, 'key', key),
          }
    const connection = context.connect(values)
    const path = await inGroup(connection, values, 'Storage/storageAccounts', values.name)
    const made = await putResource(connection, path, storageVersion, {
      location: 'local',
      properties,
    })
    printRecord(context.terminal, made)
    return 0
  },
})
