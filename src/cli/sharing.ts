/** Shared by the commands of data sharing: paths, options, their api-versions, and creating a resource. */

import { propertyOf } from '#client/resource.ts'
import { UsageError } from './command.ts'
import type { Connection } from './context.ts'
import { member } from './directory.ts'
import { type GroupPlace, groupOptions, inGroup } from './group-place.ts'
import { type Noun, putResource } from './resource-commands.ts'
import { subscriptionOf } from './resource-path.ts'

export const shareVersion = '2021-08-01'
export const storageVersion = '2023-01-01'
export const serverVersion = '2021-11-01'

export const accountOptions = {
  account: {
    type: 'string',
    short: 'a',
    value: 'name',
    required: true,
    summary: 'The data-share account',
  },
  ...groupOptions,
} as const

export const propertyOption = {
  property: {
    type: 'string',
    short: 'p',
    value: 'name=value',
    multiple: true,
    summary: 'What the kind names: `containerName=data`, `prefix=in`, `tableName=orders`',
  },
} as const

interface AccountPlace extends GroupPlace {
  readonly account: string
}

/** The path below the account: `inAccount(…, 'shares', name)`. */
export async function inAccount(
  connection: Connection,
  place: AccountPlace,
  ...below: readonly string[]
): Promise<string> {
  const account = await inGroup(connection, place, 'DataShare/accounts', place.account)
  return [account, ...below.map((one) => encodeURIComponent(one))].join('/')
}

/** Revokes or reinstates a consumer of a share; returns the consumer. */
export async function changeConsumer(
  connection: Connection,
  place: AccountPlace & { readonly name: string; readonly consumer: string },
  action: 'reinstate' | 'revoke',
): Promise<unknown> {
  const view = ['shares', place.name, 'providerShareSubscriptions', place.consumer, action]
  const path = await inAccount(connection, place, ...view)
  const query = { 'api-version': shareVersion }
  return (await connection.client.request('POST', path, { query })).body
}

/** Creates the account of a share or a share subscription if it is missing. */
export async function ensureAccount(connection: Connection, place: AccountPlace): Promise<void> {
  const path = await inAccount(connection, place)
  const query = { 'api-version': shareVersion }
  const there = await connection.client.send('GET', path, { query })
  if (there.status !== 200) await putResource(connection, path, shareVersion, { location: 'local' })
}

/** Parses `a=b` pairs into properties. Throws `UsageError`. */
function propertiesFrom(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=')
      if (equals < 1)
        throw new UsageError(`\`--property ${pair}\` is not of the form \`name=value\``)
      return [pair.slice(0, equals), pair.slice(equals + 1)]
    }),
  )
}

/** The location of data sets of a kind: the group of the command and the named storage account. */
export async function placedProperties(
  connection: Connection,
  place: GroupPlace,
  kind: string,
  pairs: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const given = propertiesFrom(pairs)
  if (/^(?:Sql|Synapse|Kusto)/.test(kind)) {
    const server = given['server']
    if (server === undefined) return given
    const { server: _, ...rest } = given
    return { ...rest, sqlServerResourceId: await inGroup(connection, place, 'Sql/servers', server) }
  }
  return {
    subscriptionId: await subscriptionOf(connection, place.subscription),
    resourceGroup: place['resource-group'],
    ...given,
  }
}

/** Servers and storage accounts that shares read and write. */
export const shareServers = {
  noun: 'share server',
  title: 'server',
  version: serverVersion,
  options: groupOptions,
  example: '-g from',
  isElsewhere: true,
  columns: [
    { title: 'NAME', of: member('name') },
    { title: 'HOST', of: (row: unknown) => propertyOf(row, 'fullyQualifiedDomainName') },
    { title: 'STATE', of: (row: unknown) => propertyOf(row, 'provisioningState') },
  ],
  path: (connection: Connection, place: GroupPlace, name?: string) =>
    inGroup(connection, place, 'Sql/servers', name),
} satisfies Noun<typeof groupOptions>

export const shareStores = {
  ...shareServers,
  noun: 'share store',
  title: 'storage account',
  version: storageVersion,
  columns: [
    { title: 'NAME', of: member('name') },
    { title: 'STATE', of: (row: unknown) => propertyOf(row, 'provisioningState') },
  ],
  path: (connection: Connection, place: GroupPlace, name?: string) =>
    inGroup(connection, place, 'Storage/storageAccounts', name),
} satisfies Noun<typeof groupOptions>
