/** Rows of transactions for tests: imported as lines of JSON, and read back. */

import { randomUUID } from 'node:crypto'
import { account, profile, type Started, type Wire } from './start.ts'

export const invoice = 'G123456789'
export const list = `${account}/invoices/${invoice}/transactions`

/** Imports rows as lines of JSON; what was refused, by line and column. */
export async function put(started: Started, rows: readonly object[]): Promise<readonly unknown[]> {
  const answer = await started.post(`${profile}/importTransactions`, {
    name: `file-${randomUUID()}`,
    format: 'ndjson',
    position: 0,
    digest: '',
    nextPosition: 1,
    nextDigest: 'x',
    firstLine: 1,
    text: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  return answer.refused.map(({ line, column }: Wire) => [line, column])
}

/** A small valid one. */
export const row = (properties: object, more: object = {}): object => ({
  ...more,
  properties: { date: '2026-10-01', invoice, transactionAmount: 1, ...properties },
})

/** In the order of the file. */
export async function shown(started: Started, query = ''): Promise<readonly Wire[]> {
  return (await started.get(`${list}?orderBy=name&${query}`)).value
}

/** The fields that hold any text. */
export const texts = [
  'vendorPlan',
  'billingProfileDisplayName',
  'customerDisplayName',
  'customerId',
  'invoiceSectionDisplayName',
  'invoiceSectionId',
  'partNumber',
  'productDescription',
  'productFamily',
  'productType',
  'productTypeId',
  'reasonCode',
  'transactionType',
  'unitOfMeasure',
  'unitType',
  'refundTransactionDetails.refundOperationId',
] as const

/** An object with a value at `a.b`. */
export const made = (path: string, value: unknown): object =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object
