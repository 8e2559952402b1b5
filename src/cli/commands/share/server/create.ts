/** `share server create`: a SQL server: a PostgreSQL that runs, with its sign-in, or a folder of DuckDB files. */

import { type Command, defineCommand, UsageError } from '../../../command.ts'
import { groupOptions, inGroup, missingGroup } from '../../../group-place.ts'
import { connectionOptions } from '../../../options.ts'
import { printRecord } from '../../../output/print.ts'
import { passwordForms, readPassword } from '../../../password.ts'
import { putResource } from '../../../resource-commands.ts'
import { serverVersion } from '../../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share server create',
  summary: 'Create a server whose tables are shared or written: PostgreSQL, or DuckDB files',
  arguments: [
    { name: 'name', summary: 'The name of the server; a folder of DuckDB files is so called' },
  ],
  options: {
    ...groupOptions,
    duckdb: {
      type: 'boolean',
      summary: 'A folder of DuckDB files of the installation: `{server}/{database}.duckdb`',
    },
    host: { type: 'string', value: 'host', summary: 'Its name or address' },
    port: { type: 'string', value: 'number', summary: '5432 when left out' },
    user: { type: 'string', value: 'user', summary: 'Who signs in' },
    password: { type: 'string', value: 'where', summary: `The password: ${passwordForms}` },
    ...connectionOptions,
  },
  examples: [
    'share server create shop -g from --host 127.0.0.1 --user shop --password @password.txt',
    'share server create lake -g from --duckdb',
  ],
  confirm: missingGroup,
  async run(context, values) {
    const { host, user, port = '5432' } = values
    const isPostgres = host !== undefined && user !== undefined
    if (values.duckdb === isPostgres) {
      throw new UsageError('either `--duckdb`, or `--host` and `--user`')
    }
    const properties = isPostgres
      ? {
          fullyQualifiedDomainName: host,
          port: Number(port),
          administratorLogin: user,
          administratorLoginPassword: await readPassword(context, 'password', values.password),
        }
      : { kind: 'DuckDb' }
    const connection = context.connect(values)
    const path = await inGroup(connection, values, 'Sql/servers', values.name)
    const made = await putResource(connection, path, serverVersion, {
      location: 'local',
      properties,
    })
    printRecord(context.terminal, made)
    return 0
  },
})
