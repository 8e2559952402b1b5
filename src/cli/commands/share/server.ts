/** `share server`: registers a SQL server with its sign-in. */

import { type Command, defineCommand } from '../../command.ts'
import { apiOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { groupOptions, inGroup, make, serverVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share server',
  summary: 'Register a PostgreSQL server whose tables are shared or written',
  arguments: [{ name: 'name', summary: 'The name of the server' }],
  options: {
    ...groupOptions,
    host: { type: 'string', value: 'host', required: true, summary: 'Its name or address' },
    port: { type: 'string', value: 'number', summary: '5432 when left out' },
    login: { type: 'string', value: 'user', required: true, summary: 'Who signs in' },
    password: {
      type: 'string',
      value: 'text',
      required: true,
      summary: 'The password: `@file`, or `-` for standard input',
    },
    ...apiOptions,
  },
  examples: ['share server shop -g from --host 127.0.0.1 --login shop --password @password.txt'],
  async run(context, values) {
    const password = (await context.readText(values.password)).trim()
    const connection = context.connect(values)
    const path = await inGroup(connection, values, 'Sql/servers', values.name)
    const properties = {
      fullyQualifiedDomainName: values.host,
      port: Number(values.port ?? '5432'),
      administratorLogin: values.login,
      administratorLoginPassword: password,
    }
    const made = await make(connection, path, serverVersion, { location: 'local', properties })
    printRecord(context.terminal, values.json, made)
    return 0
  },
})
