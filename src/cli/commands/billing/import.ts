/**
 * `billing import`: a file of transactions, sent in pieces. Cut off, it goes on where the installation has got to;
 * run again on the same file, it adds what has been appended since, and nothing twice.
 */

import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { propertiesOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { billingOptions, billingVersion, profilePath } from '../../billing.ts'
import { type Command, defineCommand, LocalProblem, UsageError } from '../../command.ts'
import { member } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord, printRows } from '../../output/print.ts'
import { chunksOf, type ImportChunk, type Progress } from './import/chunks.ts'

const formats = ['ndjson', 'csv', 'focus'] as const

export const command: Command = defineCommand({
  name: 'billing import',
  summary: 'Import a file of transactions: CSV, NDJSON, or CSV with FOCUS columns',
  arguments: [{ name: 'file', summary: 'The file' }],
  options: {
    format: {
      type: 'string',
      value: 'name',
      summary: 'csv, ndjson or focus; told by the file’s ending and header when left out',
    },
    name: {
      type: 'string',
      value: 'name',
      summary: 'What the import is called; the file’s name when left out',
    },
    ...billingOptions,
    ...connectionOptions,
  },
  examples: ['billing import october.csv', 'billing import export.csv --format focus'],
  async run(context, values) {
    const { file } = values
    const size = sizeOf(file)
    const format = values.format ?? (await formatOf(file))
    if (!formats.some((one) => one === format)) {
      throw new UsageError(`--format takes ${formats.join(', ')}`)
    }
    const name = (values.name ?? basename(file)).replace(/[^a-zA-Z0-9_.-]/g, '-').slice(0, 128)
    const connection = context.connect(values)
    const profile = await profilePath(connection, values)
    const at = `${profile}/imports/${encodeURIComponent(name)}`
    const known = await connection.client.send('GET', at, { query: billingVersion })
    const progress = known.status === 200 ? progressOf(known.body) : undefined
    let last: unknown = known.status === 200 ? known.body : undefined
    const { terminal } = context
    for await (const piece of chunksOf(file, format, progress)) {
      const answer = await connection.client.request('POST', `${profile}/importTransactions`, {
        query: billingVersion,
        body: { name, format, ...(piece satisfies ImportChunk) },
      })
      last = answer.body
      if (terminal.coloured) terminal.error(`\r${bar(piece.nextPosition, size)}`)
    }
    if (terminal.coloured) terminal.error('\n')
    printRecord(terminal, context.terminal.output.isData ? last : propertiesOf(last))
    const refused = await connection.client.list(`${at}/refusals`, { query: billingVersion })
    if (refused.length > 0 && !context.terminal.output.isData) {
      terminal.error(
        `${refused.length === 1 ? '1 row was' : `${refused.length} rows were`} refused; all others are imported:\n`,
      )
      printRows(terminal, refused, [
        { title: 'LINE', of: (row) => (isJsonObject(row) ? String(row['line']) : '') },
        { title: 'COLUMN', of: member('column') },
        { title: 'REASON', of: member('reason') },
      ])
    }
    return refused.length > 0 ? 1 : 0
  },
})

function sizeOf(file: string): number {
  try {
    return statSync(file).size
  } catch (error) {
    // Converts errors of the file system.
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem('FileUnreadable', `${file} cannot be read: ${reason}`, { cause: error })
  }
}

async function formatOf(file: string): Promise<string> {
  if (/\.(nd)?jsonl?$/i.test(file)) return 'ndjson'
  for await (const chunk of createReadStream(file, { encoding: 'utf8', end: 16_384 })) {
    const text = String(chunk)
    if (text.trimStart().startsWith('{')) return 'ndjson'
    return /\bBilledCost\b/.test(text.split('\n')[0] ?? '') ? 'focus' : 'csv'
  }
  return 'csv'
}

function progressOf(body: unknown): Progress {
  const properties = propertiesOf(body)
  return {
    position: Number(properties['position'] ?? 0),
    digest: String(properties['digest'] ?? ''),
  }
}

function bar(done: number, size: number): string {
  const part = size === 0 ? 1 : Math.min(1, done / size)
  const width = 30
  const filled = Math.round(part * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${Math.round(part * 100)} %`
}
