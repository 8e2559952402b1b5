/** The options of `migration create` and `migration validate`, and the body they make. */

import { UsageError } from './command.ts'
import type { Connection, Context } from './context.ts'
import { namesIn, serverPath, sslModes, type TargetPlace, targetOptions } from './migrations.ts'
import { passwordForms, readPassword } from './password.ts'

/** The options of both commands. */
export const endsOptions = {
  ...targetOptions,
  source: {
    type: 'string',
    value: 'host:port@user',
    summary: 'The server that databases are brought from, as the installation reaches it',
  },
  'source-server': {
    type: 'string',
    value: 'name',
    summary: 'The same, by the name it is registered with in this resource group',
  },
  'source-type': {
    type: 'string',
    value: 'type',
    summary: 'What kind of server `--source` is; OnPremises when left out',
  },
  'source-password': {
    type: 'string',
    value: 'where',
    summary: `The password of its user: ${passwordForms}`,
  },
  'target-password': {
    type: 'string',
    value: 'where',
    summary: `The password at the target: ${passwordForms}`,
  },
  'source-user': { type: 'string', value: 'user', summary: 'Who signs in at the source' },
  'target-user': {
    type: 'string',
    value: 'user',
    summary: 'Who signs in at the target; its administrator when left out',
  },
  'source-host': {
    type: 'string',
    value: 'host',
    summary: 'Where the source is, whatever its name says',
  },
  'target-host': {
    type: 'string',
    value: 'host',
    summary: 'Where the target is, whatever its registration says',
  },
  'ssl-mode': {
    type: 'string',
    value: 'mode',
    choices: sslModes,
    summary: 'TLS to the source; Prefer with `--source`, VerifyFull with `--source-server`',
  },
  databases: {
    type: 'string',
    short: 'd',
    value: 'names',
    summary: 'Which, with commas between them; asked for later when left out',
  },
  online: {
    type: 'boolean',
    summary: 'Writes go on at the source until the cutover; without it they must have stopped',
  },
  roles: {
    type: 'boolean',
    summary: 'Roles too, with their memberships, settings and grants on parameters',
  },
} as const

interface EndsValues extends TargetPlace {
  readonly source: string | undefined
  readonly 'source-server': string | undefined
  readonly 'source-type': string | undefined
  readonly 'source-password': string | undefined
  readonly 'target-password': string | undefined
  readonly 'source-user': string | undefined
  readonly 'target-user': string | undefined
  readonly 'source-host': string | undefined
  readonly 'target-host': string | undefined
  readonly 'ssl-mode': string | undefined
  readonly databases: string | undefined
  readonly online: boolean
  readonly roles: boolean
}

/** Asks for missing passwords. Throws `UsageError` before it asks. */
export async function endsProperties(
  context: Context,
  connection: Connection,
  values: EndsValues,
): Promise<object> {
  const source = await sourceProperties(connection, values)
  if (values['source-password'] === '-' && values['target-password'] === '-') {
    throw new UsageError('only one of the passwords can come from standard input')
  }
  const sourceServerPassword = await readPassword(
    context,
    'source-password',
    values['source-password'],
  )
  const targetServerPassword = await readPassword(
    context,
    'target-password',
    values['target-password'],
  )
  return {
    ...source,
    ...optional('sourceDbServerFullyQualifiedDomainName', values['source-host']),
    ...optional('targetDbServerFullyQualifiedDomainName', values['target-host']),
    ...optional('sslMode', values['ssl-mode']),
    migrationMode: values.online ? 'Online' : 'Offline',
    dbsToMigrate: namesIn(values.databases),
    ...(values.roles ? { migrateRoles: 'True' } : {}),
    secretParameters: {
      adminCredentials: { sourceServerPassword, targetServerPassword },
      ...optional('sourceServerUsername', values['source-user']),
      ...optional('targetServerUsername', values['target-user']),
    },
  }
}

async function sourceProperties(connection: Connection, values: EndsValues): Promise<object> {
  const { source, 'source-server': server, 'source-type': sourceType } = values
  if (source !== undefined && server === undefined) {
    return { sourceType: sourceType ?? 'OnPremises', sourceDbServerResourceId: source }
  }
  if (server !== undefined && source === undefined && sourceType === undefined) {
    return {
      sourceType: 'PostgreSQLSingleServer',
      sourceDbServerResourceId: await serverPath(connection, values, server),
    }
  }
  throw new UsageError('give `--source`, with or without `--source-type`, or `--source-server`')
}

/** Options of `migration create`, by the tag each becomes. */
export const settingsOptions = {
  verify: {
    type: 'string',
    value: 'how',
    choices: ['none', 'counts', 'checksums'],
    summary: 'What is compared; as the installation is set when left out, as with the next three',
  },
  fence: {
    type: 'string',
    value: 'how',
    choices: ['none', 'cutover', 'stay'],
    summary: 'How the cutover keeps writers out of the source',
  },
  'tables-at-once': { type: 'string', value: 'number', summary: 'Tables of a database, 1 to 16' },
  'databases-at-once': { type: 'string', value: 'number', summary: 'Databases, 1 to 16' },
} as const

/** The contract has no properties for these. The server refuses values out of bounds. */
export function settingsTags(
  values: {
    readonly [name in keyof typeof settingsOptions]: string | undefined
  },
): object {
  const tags = Object.keys(settingsOptions).flatMap((name) => {
    const value = values[name as keyof typeof settingsOptions]
    return value === undefined ? [] : [[`migration-${name}`, value]]
  })
  return tags.length === 0 ? {} : { tags: Object.fromEntries(tags) }
}

export function optional(
  name: string,
  value: string | undefined,
): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [name]: value }
}
