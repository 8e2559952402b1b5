/** Shared by the commands of the audit trail: options, the query they make, and reading its pages. */

import { textOf } from '#client/answer.ts'
import { walkPages } from '#client/pages.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { UsageError } from './command.ts'
import type { Connection } from './context.ts'
import type { Column } from './output/table.ts'
import { extensionPath } from './resource-path.ts'
import { serverMoment } from './server-moment.ts'

export const activityOptions = {
  subscription: {
    type: 'string',
    value: 'id',
    summary: 'Records of this subscription; of the whole installation when left out',
  },
  'resource-group': {
    type: 'string',
    short: 'g',
    value: 'name',
    summary: 'In this resource group',
  },
  resource: { type: 'string', value: 'id', summary: 'About this resource' },
  provider: { type: 'string', value: 'namespace', summary: 'Like `Vendor.Storage`' },
  caller: {
    type: 'string',
    value: 'who',
    summary: 'By this principal: its id or its sign-in name',
  },
  correlation: { type: 'string', value: 'id', summary: 'Of the request with this correlation id' },
  status: {
    type: 'string',
    value: 'status',
    choices: ['Accepted', 'Succeeded', 'Failed', 'Canceled'],
    summary: 'What came of it',
  },
  since: {
    type: 'string',
    value: 'time',
    summary: 'Not before: a time like 2026-11-22T08:00:00Z, or how long ago, like 30m, 12h, 7d',
  },
  until: { type: 'string', value: 'time', summary: 'Not after: as `--since`' },
} as const

export interface ActivityValues {
  readonly subscription: string | undefined
  readonly 'resource-group': string | undefined
  readonly resource: string | undefined
  readonly provider: string | undefined
  readonly caller: string | undefined
  readonly correlation: string | undefined
  readonly status: string | undefined
  readonly since: string | undefined
  readonly until: string | undefined
}

/** The records in the server's form, newest first, one page in memory at a time. */
export async function* readRecords(
  connection: Connection,
  values: ActivityValues,
): AsyncGenerator<readonly unknown[]> {
  const { client, words } = connection
  const scope =
    values.subscription === undefined
      ? '/'
      : `/subscriptions/${encodeURIComponent(values.subscription)}`
  const path = extensionPath(words, scope, 'Insights/eventtypes/management/values')
  const isRelative = [values.since, values.until].some((text) => span.test(text ?? ''))
  const filter = filterOf(values, isRelative ? await serverMoment(connection) : 0)
  const query = { 'api-version': '2015-04-01', ...(filter === '' ? {} : { $filter: filter }) }
  for await (const { value } of walkPages(client, path, { query })) yield value
}

function filterOf(values: ActivityValues, now: number): string {
  const equal = (name: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [`${name} eq '${value.replaceAll("'", "''")}'`]
  const moment = (operator: string, text: string | undefined): readonly string[] =>
    text === undefined ? [] : [`eventTimestamp ${operator} '${momentOf(text, now)}'`]
  return [
    ...moment('ge', values.since),
    ...moment('le', values.until),
    ...equal('resourceGroupName', values['resource-group']),
    ...equal('resourceUri', values.resource),
    ...equal('resourceProvider', values.provider),
    ...equal('caller', values.caller),
    ...equal('correlationId', values.correlation),
    ...equal('status', values.status),
  ].join(' and ')
}

const span = /^(\d{1,6})([smhd])$/
const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

function momentOf(text: string, now: number): string {
  const [, count, unit] = span.exec(text) ?? []
  // The pattern allows only these four letters.
  const milliseconds =
    count === undefined ? Date.parse(text) : now - Number(count) * units[unit as keyof typeof units]
  if (Number.isNaN(milliseconds)) {
    throw new UsageError(`expected a time like 2026-11-22T08:00:00Z or 12h, not \`${text}\``)
  }
  return new Date(milliseconds).toISOString()
}

const valueIn = (row: unknown, name: string): string => {
  const pair = isJsonObject(row) ? row[name] : undefined
  return textOf(pair, 'value') ?? ''
}

function addressOf(row: unknown): string {
  return isJsonObject(row) ? (textOf(row['httpRequest'], 'clientIpAddress') ?? '') : ''
}

export const activityColumns: readonly Column<unknown>[] = [
  { title: 'TIME', of: (row) => textOf(row, 'eventTimestamp') ?? '' },
  { title: 'STATUS', of: (row) => valueIn(row, 'status') },
  { title: 'CALLER', of: (row) => textOf(row, 'caller') ?? '' },
  { title: 'FROM', of: addressOf },
  { title: 'OPERATION', of: (row) => valueIn(row, 'operationName') },
  { title: 'RESOURCE', of: (row) => textOf(row, 'resourceId') ?? '' },
]
