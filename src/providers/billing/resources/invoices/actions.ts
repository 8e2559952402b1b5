/**
 * Files of an invoice: its transactions (CSV), and the invoice itself (PDF). A POST answers where to ask for the file; that
 * address answers where the file is, and until when. The file takes the same right.
 */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { oneChunk } from '#kernel/one-chunk.ts'
import type { Seal } from '#kernel/ports.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Action, ActionOutcome, RequestedAction } from '#plane/declare/action.ts'
import { addedEach } from '#plane/declare/added.ts'
import { billingVersion } from '../../domain/entity.ts'
import { csvOf } from '../../domain/invoices/csv.ts'
import { type InvoicePrinter, pageOfInvoice } from '../../domain/invoices/page.ts'
import type { Statement } from '../../domain/ledger/entry.ts'
import type { Ledger } from '../../domain/ledger/ledger.ts'
import { moment } from '../../domain/ledger/show.ts'
import { statementOfInvoice } from '../../domain/ledger/statements.ts'
import { refuseBilling } from '../../errors.ts'

export interface InvoiceDependencies {
  readonly ledger: Ledger
  readonly seal: Seal
  readonly defaultAccount: string
  /** Without it there are no PDFs. */
  readonly printer?: InvoicePrinter
  publicUrl(): string
}

/** Each file has a seal of its own, so that the address of one leads to no other. */
interface FileKind {
  readonly sealed: 'download' | 'document'
  readonly result: string
  readonly file: string
}

const transactions: FileKind = {
  sealed: 'download',
  result: 'transactionsDownloadResult',
  file: 'transactionsFile',
}
const document: FileKind = { sealed: 'document', result: 'downloadResult', file: 'documentFile' }

const answer = Type.Object(addedEach({ expiryTime: Type.String(), url: Type.String() }))

/** The vendor's alias of an account: the installation's own. */
export function accountOf(defaultAccount: string, name: string): string {
  return name.toLowerCase() === 'default' ? defaultAccount : name
}

export function downloads(deps: InvoiceDependencies): Readonly<Record<string, Action<object>>> {
  const { ledger, printer } = deps
  return {
    transactionsDownload: {
      method: 'POST',
      description: 'Make one file (CSV) of an invoice’s transactions',
      statuses: [202],
      answer: Type.Object({}),
      run: async ({ id, now }) => begin(deps, transactions, id, now),
    },
    transactionsDownloadResult: {
      method: 'GET',
      description: 'Where the file is',
      query: ['download'],
      permission: 'transactionsDownload/action',
      answer,
      run: async (context) => ({ status: 200, body: result(deps, transactions, context) }),
    },
    transactionsFile: {
      method: 'GET',
      description: 'The file itself',
      query: ['download'],
      permission: 'transactionsDownload/action',
      run: async (context) => ({
        status: 200,
        body: csvOf(ledger, await opened(deps, transactions, context), context.principal.id),
        headers: fileHeaders('text/csv; charset=utf-8', `${nameOf(context.id)}.csv`),
      }),
    },
    download: {
      method: 'POST',
      description: 'Print an invoice (PDF)',
      // Older clients name the document by a token.
      query: ['documentName', 'downloadToken'],
      statuses: [202],
      answer: Type.Object({}),
      async run({ id, now, query }) {
        const wanted = query.get('documentName') ?? query.get('downloadToken') ?? nameOf(id)
        if (wanted.toLowerCase() === nameOf(id).toLowerCase()) return begin(deps, document, id, now)
        throw refuseBilling.InvoiceDocumentNotFound({ name: wanted, invoice: nameOf(id) })
      },
    },
    downloadResult: {
      method: 'GET',
      description: 'Where the printed invoice is',
      query: ['download'],
      permission: 'download/action',
      answer,
      run: async (context) => ({ status: 200, body: result(deps, document, context) }),
    },
    documentFile: {
      method: 'GET',
      description: 'The printed invoice itself',
      query: ['download'],
      permission: 'download/action',
      async run(context) {
        const statement = await opened(deps, document, context)
        if (printer === undefined)
          throw refuse.ServiceUnavailable({ reason: 'nothing prints here' })
        const bytes = await printer.make(
          context.principal.id,
          await pageOfInvoice(ledger, context.reader, statement),
        )
        return {
          status: 200,
          body: oneChunk(bytes),
          headers: fileHeaders('application/pdf', `${nameOf(context.id)}.pdf`),
        }
      },
    },
  }
}

function fileHeaders(type: string, name: string): Readonly<Record<string, string>> {
  return { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` }
}

/** The statement of an invoice, also by the alias of its account. */
async function statementOf(deps: InvoiceDependencies, id: ResourceId): Promise<Statement> {
  const account = accountOf(deps.defaultAccount, nameOf(parentOf(id)))
  const found = await statementOfInvoice(deps.ledger.sql, account, nameOf(id))
  if (found === undefined) throw refuse.ResourceNotFound({ id: id.text })
  return found
}

interface Download {
  readonly statementId: number
  readonly expiresAt: number
}

async function begin(
  deps: InvoiceDependencies,
  kind: FileKind,
  id: ResourceId,
  now: number,
): Promise<ActionOutcome<object>> {
  const statement = await statementOf(deps, id)
  const expiresAt = now + deps.ledger.limits.downloadSeconds * 1000
  const content = JSON.stringify({ statementId: statement.id, expiresAt })
  const sealed = encodeURIComponent(deps.seal.seal(content, kind.sealed))
  const Location = `${id.text}/${kind.result}?api-version=${billingVersion}&download=${sealed}`
  return { status: 202, headers: { Location, 'Retry-After': '1' } }
}

type FileRequest = Pick<RequestedAction, 'id' | 'query' | 'publicUrl'> & { readonly now: number }

function readDownload(
  { seal }: InvoiceDependencies,
  kind: FileKind,
  { query, now }: FileRequest,
): Download {
  const text = seal.open(query.get('download') ?? '', kind.sealed)
  if (text === undefined) throw refuseBilling.DownloadExpired()
  // Only `begin` seals this.
  const download = JSON.parse(text) as Download
  if (download.expiresAt < now) throw refuseBilling.DownloadExpired()
  return download
}

function result(deps: InvoiceDependencies, kind: FileKind, request: FileRequest): object {
  const { id, query, publicUrl = deps.publicUrl() } = request
  const { expiresAt } = readDownload(deps, kind, request)
  const sealed = encodeURIComponent(query.get('download') ?? '')
  const file = `${kind.file}?api-version=${billingVersion}&download=${sealed}`
  return { expiryTime: moment(expiresAt), url: `${publicUrl}${id.text}/${file}` }
}

async function opened(
  deps: InvoiceDependencies,
  kind: FileKind,
  request: FileRequest,
): Promise<Statement> {
  const { statementId } = readDownload(deps, kind, request)
  const statement = await statementOf(deps, request.id)
  if (statement.id !== statementId) throw refuseBilling.DownloadExpired()
  return statement
}
