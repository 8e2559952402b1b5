/**
 * Files below rows: the PDF of a document and the message of an outbox entry. Whoever may read the row may read its
 * file.
 */

import type { Sql } from '#stores/store.ts'
import { authorize, type Caller, rightsOf } from './access.ts'
import { type PdfAddress, pdfAnswer, pdfDocument } from './documents/pdf-document.ts'
import type { PdfMaker } from './documents/pdf-maker.ts'
import { type Printing, readPrinted } from './documents/printed.ts'
import type { Entity } from './entity.ts'
import { refuse } from './errors.ts'
import { type BusinessAnswer, type BusinessRequest, jsonHeaders, type Reads } from './message.ts'
import { businessModel as model } from './model.ts'
import { describeKey } from './odata/addressed-row.ts'
import { Budget } from './odata/budget.ts'
import { companyIdIn } from './odata/path-rows.ts'
import type { Reader } from './odata/reader.ts'
import { type DataRequest, parseRequest } from './odata/request.ts'
import { messageAnswer } from './outbox/message-address.ts'
import { documents } from './tables.ts'
import { untilDeadline } from './until-deadline.ts'

export interface RowsRead {
  readonly reader: Reader
  readonly parsed: DataRequest
  readonly caller: Caller
  readonly reads: Reads
  readonly budget: Budget | undefined
}

interface FileDependencies {
  readonly sql: Sql
  readonly reader: Reader
  readonly namespace: string
  readonly now: number
  /** The root address of the API. */
  readonly root: string
  readonly pdfs: PdfMaker
}

interface FileRequest {
  readonly request: BusinessRequest
  readonly caller: Caller
}

/** The PDF of a document, as a file or as its description. */
export async function pdfOf(
  deps: FileDependencies,
  { request, caller }: FileRequest,
  { path, isContent }: PdfAddress,
): Promise<BusinessAnswer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw onlyRead(request.method)
  const document = { ...request, path, search: '' }
  const parsed = parseRequest(model, deps.namespace, document, deps.now)
  if (parsed.kind === 'batch' || !('path' in parsed) || !isDocument(parsed)) {
    throw refuse.BadRequest_NotFound({ name: 'pdfDocument' })
  }
  const reads = untilDeadline(deps.sql, request)
  const reading = { reader: deps.reader, parsed, caller, reads }
  const printing = await printingOf(reading, request.headers['accept-language'])
  const printed = await readPrinted(printing)
  if (isContent) {
    const name = `${printed.title} ${printed.number}`
    const bytes = await deps.pdfs.make(caller.principal.id, printed, request.awaited)
    return pdfAnswer(bytes, name, printed.language)
  }
  const { id } = printing
  const root = `${deps.root}/${parsed.version}`
  const body = JSON.stringify(pdfDocument({ set: targetOf(parsed).set, id, root, path }))
  return { status: 200, headers: jsonHeaders, body }
}

/** The message of an outbox entry, for a caller who may read the entry. */
export async function messageOf(
  deps: FileDependencies,
  { request, caller }: FileRequest,
  path: string,
): Promise<BusinessAnswer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw onlyRead(request.method)
  const parsed = parseRequest(model, deps.namespace, { ...request, path, search: '' }, deps.now)
  if (!('path' in parsed) || parsed.kind !== 'row') {
    throw refuse.BadRequest_NotFound({ name: 'content' })
  }
  const reads = untilDeadline(deps.sql, request)
  const reading = { reader: deps.reader, parsed, caller, reads }
  const { companyId, id } = await printingOf(reading, undefined)
  return await messageAnswer(reads, companyId, id)
}

/** The document at an address, for a caller who may read it. */
export async function printingOf(
  { reader, parsed, caller, reads }: Omit<RowsRead, 'budget'>,
  acceptLanguage: string | undefined,
): Promise<Printing> {
  const companyId = await reader.companyId(reads, parsed)
  const rights = await rightsOf(reads, caller)
  requireKnown(rights, parsed, companyId)
  authorize(rights, companyId, targetOf(parsed), false)
  const { id = '' } = await reader.resolve(reads, parsed, companyId)
  const budget = Budget.ofAnswer()
  return { reads, companyId: companyId ?? '', id, acceptLanguage, budget }
}

/** A name can be guessed: one of a company in which the caller has no right is answered like one that is not there. */
export function requireKnown(
  { isAdministrator, byCompany }: Awaited<ReturnType<typeof rightsOf>>,
  parsed: DataRequest,
  companyId: string | undefined,
): void {
  if (parsed.company === undefined || companyIdIn(parsed) !== undefined) return
  if (isAdministrator || byCompany.has(companyId ?? '')) return
  throw refuse.Internal_CompanyNotFound({ key: describeKey(parsed.company) })
}

export function isDocument(parsed: DataRequest): boolean {
  return parsed.kind === 'row' && targetOf(parsed).table === documents
}

export function targetOf(parsed: DataRequest): Entity {
  const last = parsed.path.at(-1)
  if (last === undefined) throw new Error('a request for rows has a path')
  return last.entity
}

export function onlyRead(method: string): Error {
  const allow = 'GET'
  return refuse.BadRequest_MethodNotAllowed({ method, allow }, { headers: { Allow: allow } })
}
