/** `secret set`: stores a value in a vault, which is created if needed. The value is never printed. */

import { ClientError } from '#client/client-error.ts'
import { propertyOf } from '#client/resource.ts'
import type { Connection } from '../../context.ts'
import { missingGroup } from '../../group-place.ts'
import { printData } from '../../output/print.ts'
import { printable } from '../../output/table.ts'
import { passwordForms, readPassword } from '../../password.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { secretVersion, vaultOptions, vaultPath } from '../../secrets.ts'

export const command = defineRemoteCommand({
  name: 'secret set',
  summary: 'Write a secret, its value from standard input or a file',
  arguments: [{ name: 'name', summary: 'The name of the secret' }],
  options: {
    value: { type: 'string', value: 'where', summary: `The value: ${passwordForms}` },
    'keep-newline': {
      type: 'boolean',
      summary: 'The line end at the end of the value is part of it',
    },
    'content-type': { type: 'string', value: 'type', summary: 'What kind of value it is' },
    ...vaultOptions,
  },
  examples: [
    'secret set db-password --vault shop -g demo --value @password',
    'secret set db-password --vault shop -g demo --value - < ./password',
  ],
  confirm: missingGroup,
  async run(connection, values, context) {
    const value = await readPassword(context, 'value', values.value, {
      keepsNewline: values['keep-newline'],
    })
    const vault = await vaultPath(connection, values)
    if (await ensureVault(connection, vault)) {
      context.terminal.error(`Made the vault ${values.vault}.\n`)
    }
    const contentType = values['content-type']
    const { body } = await connection.client.request(
      'PUT',
      `${vault}/secrets/${encodeURIComponent(values.name)}`,
      {
        query: secretVersion,
        body: { properties: { value, ...(contentType === undefined ? {} : { contentType }) } },
      },
    )
    const version = printable(propertyOf(body, 'version'))
    context.terminal.error(`Set ${values.name}, version ${version}.\n`)
    if (context.terminal.output.isData) printData(context.terminal, body)
    else context.terminal.out(`${printable(propertyOf(body, 'secretUri'))}\n`)
  },
})

/** Returns true when the vault was created. */
async function ensureVault({ client }: Connection, path: string): Promise<boolean> {
  try {
    await client.request('GET', path, { query: secretVersion })
    return false
  } catch (error) {
    // The vault or its group is missing; the write below reports which.
    if (!(error instanceof ClientError) || error.status !== 404) throw error
  }
  await client.request('PUT', path, { query: secretVersion, body: { properties: {} } })
  return true
}
