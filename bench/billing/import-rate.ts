/**
 * How many rows a second a started server imports from a file: parts by HTTP, one after the other, each flushed to
 * disk.
 */

import { createHash } from 'node:crypto'
import { Agent } from 'node:http'
import type { Access } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { type PlainRow, plainRow } from './seed.ts'

type Format = 'csv' | 'ndjson'

/** As the CLI cuts them, see `src/cli/commands/billing/import/chunks.ts`. */
const pieceCharacters: Readonly<Record<Format, number>> = {
  csv: 512 * 1024,
  ndjson: 1024 * 1024,
}

const pieceRecords = 2_000

function transactionOf(row: PlainRow, invoice: string): Readonly<Record<string, string | number>> {
  return {
    date: new Date(row.date).toISOString(),
    invoice,
    billingCurrency: 'USD',
    customerDisplayName: row.customer,
    invoiceSectionDisplayName: row.section,
    productDescription: row.product,
    productFamily: row.family,
    transactionType: 'Purchase',
    quantity: row.quantity,
    units: row.quantity,
    effectivePrice: row.price,
    exchangeRate: 1,
    subTotal: row.subTotal,
    tax: row.tax,
    transactionAmount: row.amount,
  }
}

/** The bodies of the requests, made in advance. */
function* piecesOf(format: Format, rows: number, invoice: string): Generator<string> {
  const header = Object.keys(transactionOf(plainRow(0), invoice)).join(',')
  const hash = createHash('sha256')
  let position = 0
  let digest = ''
  let line = format === 'csv' ? 2 : 1
  let lines: string[] = []
  let size = 0
  for (let at = 0; at < rows; at++) {
    const row = transactionOf(plainRow(at), invoice)
    const text = format === 'csv' ? Object.values(row).join(',') : JSON.stringify(row)
    lines.push(`${text}\n`)
    size += text.length + 1
    if (size < pieceCharacters[format] && lines.length < pieceRecords && at < rows - 1) continue
    const before = { position, digest, firstLine: line, text: lines.join('') }
    position += size
    digest = hash.update(before.text).copy().digest('base64url')
    line += lines.length
    lines = []
    size = 0
    yield JSON.stringify({
      name: `rows.${format}`,
      format,
      ...(format === 'csv' ? { header } : {}),
      ...before,
      nextPosition: position,
      nextDigest: digest,
      completed: at === rows - 1,
    })
  }
}

export async function importRate(
  profile: string,
  { headers }: Access,
  format: Format,
  rows: number,
): Promise<number> {
  const invoice = format === 'csv' ? 'G000000CSV' : 'G0000JSONL'
  const bodies = [...piecesOf(format, rows, invoice)]
  const url = `${profile}/importTransactions?api-version=2024-04-01`
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sent = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    agent,
  }
  const began = performance.now()
  let last = ''
  for (const body of bodies) {
    const answer = await ask(url, { ...sent, body })
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
    last = answer.body
  }
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  const { recorded } = JSON.parse(last).properties
  if (recorded !== rows) throw new Error(`${recorded} of ${rows} rows were recorded`)
  return rows / seconds
}
