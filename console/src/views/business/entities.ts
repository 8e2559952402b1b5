/** What the views read of the entities of the business application, which the OpenAPI documents do not describe. */

import { type SendOptions, send } from '../../api/client.ts'
import { useGet } from '../../api/queries.ts'

export const documentKinds = ['salesInvoices', 'salesQuotes', 'salesCreditMemos'] as const
export type DocumentKind = (typeof documentKinds)[number]

interface Entity {
  readonly id: string
  readonly '@odata.etag'?: string
}

export interface Company extends Entity {
  readonly name: string
  readonly displayName?: string
}

export interface Named extends Entity {
  readonly number: string
  readonly displayName: string
  readonly city?: string
  readonly balanceDue?: number
  readonly unitPrice?: number
}

export interface Document extends Entity {
  readonly number: string
  readonly customerName: string
  readonly status: string
  readonly currencyCode?: string
  readonly invoiceDate?: string
  readonly documentDate?: string
  readonly creditMemoDate?: string
  readonly dueDate?: string
  readonly discountAmount?: number
  readonly totalAmountExcludingTax: number
  readonly totalTaxAmount: number
  readonly totalAmountIncludingTax: number
}

export interface Line extends Entity {
  readonly sequence: number
  readonly itemId?: string
  readonly lineType?: string
  readonly description: string
  readonly quantity: number
  readonly unitPrice: number
  readonly discountPercent: number
  readonly amountExcludingTax: number
}

/** `salesInvoices` → `salesInvoiceLines`. */
export function linesOf(kind: DocumentKind): string {
  return `${kind.slice(0, -1)}Lines`
}

export function companyPath(company: string): string {
  return `/api/v2.0/companies(${company})`
}

export function useEntities<T>(path: string, query: SendOptions['query'] = {}, enabled = true) {
  return useGet<{ readonly value: readonly T[] }>(path, query, { enabled })
}

/** Changes what was read. The server refuses it if somebody else has changed it meanwhile. */
export function change(path: string, entity: Entity, body: object) {
  return send('PATCH', path, { body, headers: { 'If-Match': entity['@odata.etag'] ?? '*' } })
}

/** The field that has the date of a document. */
export const dateFieldOf: Readonly<Record<DocumentKind, string>> = {
  salesInvoices: 'invoiceDate',
  salesQuotes: 'documentDate',
  salesCreditMemos: 'creditMemoDate',
}

export function dateOf(document: Document): string {
  return document.invoiceDate ?? document.documentDate ?? document.creditMemoDate ?? ''
}

export function amountText(value: number): string {
  return value.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
}

/** The amount before tax of the typed values, rounded as the server rounds. */
export function lineAmount(quantity: number, price: number, discountPercent: number): number {
  const gross = Math.round(quantity * price * 100) / 100
  return Math.round((gross - (gross * discountPercent) / 100) * 100) / 100
}
