/**
 * The addresses of a document's PDF: `…/salesInvoices({id})/pdfDocument` describes it, and `…/pdfDocument/content`
 * (or `pdfDocumentContent`, for older clients) is the file.
 */

import type { BusinessAnswer, BusinessRequest } from '../message.ts'

export interface PdfAddress {
  /** The address of the document. */
  readonly path: string
  readonly isContent: boolean
}

/** Between the parentheses stands no other, or each of many beginnings would be read to the end of the path. */
const form =
  /^(.+?)\/pdfDocument(?:\([^()/]*\))?(?:\/(?:content|pdfDocumentContent)(\/\$value)?)?\/?$/
const content = /\/(?:content|pdfDocumentContent)(?:\/\$value)?\/?$/

/** Undefined for any other address. */
export function pdfAddress({ path }: Pick<BusinessRequest, 'path'>): PdfAddress | undefined {
  if (!path.includes('/pdfDocument')) return undefined
  const [, document] = form.exec(path) ?? []
  return document === undefined ? undefined : { path: document, isContent: content.test(path) }
}

const parents: Readonly<Record<string, string>> = {
  salesInvoices: 'Sales Invoice',
  salesQuotes: 'Sales Quote',
  salesCreditMemos: 'Sales Credit Memo',
}

interface PdfOf {
  readonly set: string
  readonly id: string
  /** The address of the version. */
  readonly root: string
  /** The address of the document, below the root. */
  readonly path: string
}

export function pdfDocument({ set, id, root, path }: PdfOf): object {
  return {
    '@odata.context': `${root}/$metadata#${path}/pdfDocument/$entity`,
    id,
    parentId: id,
    parentType: parents[set] ?? set,
    'pdfDocumentContent@odata.mediaReadLink': `${root}/${path}/pdfDocument/content`,
    'pdfDocumentContent@odata.mediaContentType': 'application/pdf',
  }
}

export function pdfAnswer(bytes: Uint8Array, name: string, language: string): BusinessAnswer {
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/pdf',
      'Content-Disposition': `inline; filename="${fileNameOf(name)}.pdf"`,
      'Content-Language': language,
      'X-Content-Type-Options': 'nosniff',
      'OData-Version': '4.0',
      Vary: 'Accept-Language',
    },
    body: undefined,
    bytes,
  }
}

/** Without what some system does not take in a name. */
export function fileNameOf(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, '_')
}
