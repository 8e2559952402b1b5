/** `migration report`: prints the report of a migration as a page of Markdown. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { migrationPath, migrationQuery, numberAt, targetOptions } from '../../migrations.ts'
import { codeSpan } from '../../output/markdown.ts'
import { printData } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration report',
  summary: 'Show what has come of a migration, table by table, as Markdown',
  notes: () => 'It stays for as long as the migration does, also when that has long ended.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: targetOptions,
  examples: ['migration report move -g demo -s shop > move.md'],
  async run(connection, values, context) {
    const path = await migrationPath(connection, values, values.name)
    const { body } = await connection.client.request('GET', `${path}/report`, {
      query: migrationQuery,
    })
    if (context.terminal.output.isData) printData(context.terminal, body)
    else context.terminal.out(`${reportPage(body).join('\n')}\n`)
  },
})

export function reportPage(report: unknown): readonly string[] {
  const heading = `# Migration ${cell(textOf(report, 'name'))}`
  const what = `${word(report, 'mode')}, ${word(report, 'state')}.`
  const databases = listOf(report, 'databases')
  return [
    heading,
    '',
    what,
    ...serversIn(report),
    '',
    '| database | outcome | tables | rows | bytes | changes | pause | verified |',
    '| -------- | ------- | -----: | ---: | ----: | ------: | ----: | -------- |',
    ...databases.map(summaryOf),
    ...(databases.some((one) => textOf(one, 'outcome') === 'succeeded') ? ['', structure] : []),
    ...databases.flatMap(sectionOf),
  ]
}

/** Without it a copy does not succeed. */
const structure =
  'At the end the structure of each database that succeeded was compared with the source’s, object by object; the text of definitions came with the dump.'

/** From where to where; a migration that has not begun names no servers. */
function serversIn(report: unknown): readonly string[] {
  const shown = (side: 'source' | 'target'): string | undefined => {
    const server = isJsonObject(report) ? report[side] : undefined
    if (server === undefined) return undefined
    const version = textOf(server, 'version')
    return `${cell(textOf(server, 'address'))}${version === undefined ? '' : ` (PostgreSQL ${cell(version)})`}`
  }
  const [source, target] = [shown('source'), shown('target')]
  return source === undefined || target === undefined ? [] : [`From ${source} to ${target}.`]
}

function summaryOf(database: unknown): string {
  const tables = listOf(database, 'tables')
  const rows = tables.reduce<number>((sum, table) => sum + numberAt(table, 'rows'), 0)
  return row([
    cell(textOf(database, 'name')),
    word(database, 'outcome'),
    String(tables.length + numberAt(database, 'tablesNotShown')),
    String(rows),
    String(numberAt(database, 'bytesCopied')),
    String(numberAt(database, 'appliedChanges')),
    isJsonObject(database) && 'pauseMilliseconds' in database
      ? milliseconds(numberAt(database, 'pauseMilliseconds'))
      : '',
    verifiedIn(database),
  ])
}

function verifiedIn(database: unknown): string {
  const verified = isJsonObject(database) ? database['verified'] : undefined
  if (verified === undefined) return 'not compared'
  return `${word(verified, 'how')}: ${numberAt(verified, 'tables')} tables, ${numberAt(verified, 'rows')} rows`
}

/** What was compared of a table, and in what time. */
function comparedIn(table: unknown): readonly [string, string] {
  const compared = isJsonObject(table) ? table['compared'] : undefined
  if (compared === undefined) return ['', '']
  const what = `${word(compared, 'how')}: ${numberAt(compared, 'rows')} rows`
  return [what, milliseconds(numberAt(compared, 'milliseconds'))]
}

function sectionOf(database: unknown): readonly string[] {
  const leftOut = listOf(database, 'leftOut')
  const hidden = numberAt(database, 'tablesNotShown')
  return [
    '',
    `## ${cell(textOf(database, 'name'))}`,
    '',
    `${word(database, 'startedOn', 'not begun')} to ${word(database, 'endedOn', 'now')}, attempt ${numberAt(database, 'attempts')}.`,
    '',
    cell(textOf(database, 'message')),
    ...(leftOut.length === 0 ? [] : ['', 'Left out:', '']),
    ...leftOut.map((one) => `- ${cell(String(one))}`),
    '',
    '| table | rows | bytes | time | compared | time |',
    '| ----- | ---: | ----: | ---: | -------- | ---: |',
    ...listOf(database, 'tables').map((table) =>
      row([
        cell(textOf(table, 'name')),
        String(numberAt(table, 'rows')),
        String(numberAt(table, 'bytes')),
        milliseconds(numberAt(table, 'milliseconds')),
        ...comparedIn(table),
      ]),
    ),
    ...(hidden === 0 ? [] : ['', `${hidden} smaller tables are not shown.`]),
  ]
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const milliseconds = (value: number): string => `${(value / 1000).toFixed(3)} s`

/** A word or a moment of the server: of anything else, nothing is left that could be markup. */
function word(from: unknown, name: string, otherwise = ''): string {
  return (textOf(from, name) ?? otherwise).replaceAll(/[^\w .:+-]/g, '?')
}

/** Names come from the source and messages from its server: a table's name may look like a link or a picture. */
function cell(text = ''): string {
  return text === '' ? '' : codeSpan(text.replaceAll(/\s+/g, ' '))
}
