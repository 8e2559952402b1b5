/**
 * Creates, changes and removes lines of sales documents, with the document's sums. Refuses what the document's state
 * does not allow; what a line means is `line-object.ts`'s, its figures `line-figures.ts`'s.
 */

import type { SqlRow } from '#stores/store.ts'
import { grossOf } from '../amounts/line.ts'
import { linesAreOpen } from '../documents/life.ts'
import { lineView } from '../entities/line-view.ts'
import { type Entity, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import { type Ledger, type LedgerLine, openLedger, termsOf } from './ledger.ts'
import { applyFigures } from './line-figures.ts'
import { applyObject, bareLine, type DocumentFacts, type LineDraft } from './line-object.ts'
import { createLookups, type Lookups, reference } from './lookups.ts'
import {
  deleteRow,
  findRow,
  flagOf,
  lockRow,
  newId,
  numberOf,
  openInserter,
  type RowInserter,
  raiseRevision,
  textOf,
  updateRow,
  type WriteContext,
} from './rows.ts'
import { checkTag } from './tag.ts'
import { type Body, type GivenFields, readBody } from './values.ts'

/** Facts 1.6. */
export const sequenceStep = 10_000
const sequenceMax = 2_147_483_647
/** Of one document: what an invoice discount, which touches every line, may still be spread over in one go. */
const linesMax = 100_000

/** A document opened for writing its lines: locked, with its sums. */
export interface OpenDocument {
  readonly row: SqlRow
  readonly facts: DocumentFacts
  readonly ledger: Ledger
  readonly lookups: Lookups
  /** Takes the rows of new lines. */
  readonly inserter: RowInserter
  /** Read when the first line is added. */
  lastSequence: number | undefined
  lineCount: number
}

/** Locks the document. 404 by `property` when the company has none of that kind. */
export async function openDocument(
  context: WriteContext,
  kind: string,
  documentId: string,
): Promise<OpenDocument> {
  const row = await lockRow(context, 'business_documents', {
    id: documentId,
    company_id: context.companyId,
    kind,
  })
  if (row === undefined) {
    throw refuse.Internal_RecordNotFound(
      { property: 'documentId', type: 'document', key: `the id '${documentId}'` },
      { target: 'documentId' },
    )
  }
  return {
    row,
    facts: factsOf(row),
    ledger: openLedger(context, row),
    lookups: createLookups(context),
    inserter: openInserter(context.tx, 'business_lines'),
    lastSequence: undefined,
    lineCount: numberOf(row, 'line_count'),
  }
}

export function factsOf(document: SqlRow): DocumentFacts {
  return {
    kind: textOf(document, 'kind'),
    taxAreaId: textOf(document, 'tax_area_id'),
    taxLiable: flagOf(document, 'tax_liable'),
    pricesIncludeTax: flagOf(document, 'prices_include_tax'),
    documentDate: textOf(document, 'document_date'),
  }
}

/** Where a line of a create belongs: the path, the body and the contract's odd key, which must not disagree. */
export interface LinePlace {
  /** The document of the path. */
  readonly documentId: string | undefined
  /** The key of `salesQuoteLines(key)` in a POST: a line whose document gets another, or a new line's id. */
  readonly key: string | undefined
}

/** Creates one line; its id. */
export async function createLine(
  context: WriteContext,
  entity: Entity,
  body: Body,
  place: LinePlace,
): Promise<string> {
  const given = readBody(entity, context.version, body)
  const kind = kindOf(entity)
  const { documentId, id } = await placeOf(context, kind, given, place)
  const document = await openDocument(context, kind, documentId)
  const made = await addLine(context, document, given, id)
  await closeDocument(document)
  return made
}

/** After the last line: their rows are written, then the document's sums. */
export async function closeDocument({ inserter, ledger }: OpenDocument): Promise<void> {
  await inserter.flush()
  await ledger.finish()
}

/** Adds a line to an open document, which the caller closes, once for many lines. */
export async function addLine(
  context: WriteContext,
  document: OpenDocument,
  given: GivenFields,
  wantedId: string | undefined,
): Promise<string> {
  const { row, facts, ledger, lookups } = document
  const draft: LineDraft = { ...bareLine, discount_applied_before_tax: 0 }
  await applyObject(draft, given, facts, lookups, {
    isNew: true,
    untyped: context.version === 'v1.0' ? 'Item' : 'Comment',
  })
  await finishDraft(draft, given, document)
  if (!linesAreOpen(row, String(draft['line_type']))) throw closed(row)
  if (document.lineCount >= linesMax) throw ruleBroken(`A document has at most ${linesMax} lines.`)
  document.lineCount++
  const last = await lastSequenceOf(context, document)
  const sequence = await sequenceOf(context, document, given, last)
  document.lastSequence = Math.max(last, sequence)
  const id = wantedId ?? newId(context)
  const documentId = textOf(row, 'id')
  const cells = await ledger.put(ledgerLineOf(draft), Number(draft['amount_excluding_tax']), {
    sequence,
    isLast: sequence > last,
  })
  await document.inserter.add({
    ...draft,
    ...cells,
    id,
    company_id: context.companyId,
    kind: facts.kind,
    document_id: documentId,
    sequence,
    legacy_id: `${documentId}-${sequence}`,
    revision: 1,
  })
  return id
}

/** Changes one line. */
export async function changeLine(
  context: WriteContext,
  entity: Entity,
  id: string,
  body: Body,
  ifMatch: string | undefined,
): Promise<void> {
  const given = readBody(entity, context.version, body)
  const { document, row } = await openLine(context, entity, id)
  checkTag(entity, row, ifMatch, true, context.conflictStatus)
  refuseFixed(given, row)
  const { facts, ledger, lookups } = document
  const draft: LineDraft = {}
  for (const column of [...Object.keys(bareLine), 'discount_applied_before_tax'])
    draft[column] = row[column] ?? 0
  draft['gross'] = row['gross_amount'] ?? grossStored(row, document)
  const isOther = await applyObject(draft, given, facts, lookups, {
    isNew: false,
    untyped: 'Comment',
  })
  if (isOther) delete draft['gross']
  await finishDraft(draft, given, document)
  const wasOpen = linesAreOpen(document.row, textOf(row, 'line_type'))
  if (!wasOpen || !linesAreOpen(document.row, String(draft['line_type'])))
    throw closed(document.row)
  if (Object.entries(draft).every(([column, cell]) => row[column] === cell)) return
  const before = textOf(row, 'tax_key')
  const isReckoned =
    before !== draft['tax_key'] ||
    row['line_amount'] !== draft['line_amount'] ||
    row['allows_invoice_discount'] !== draft['allows_invoice_discount']
  if (!isReckoned) {
    await updateRow(context.tx, 'business_lines', id, changedCells(row, draft))
    await ledger.finish()
    return
  }
  await ledger.take(row)
  ledger.giveUp(row)
  const cells = await ledger.put(ledgerLineOf(draft), Number(draft['amount_excluding_tax']), {
    sequence: numberOf(row, 'sequence'),
    isLast: false,
  })
  // The row was read with its shares worked out: what it holds itself of those columns is not known.
  await updateRow(context.tx, 'business_lines', id, { ...changedCells(row, draft), ...cells })
  // A line that leaves the shares of a discount must not go back to a tag it had before it had one.
  if (draft['tax_key'] === '') await raiseRevision(context.tx, id, numberOf(row, 'revision') + 1)
  await ledger.finish()
}

/** A column that is set to what it holds would still be written into its indexes. */
function changedCells(row: SqlRow, cells: LineDraft): LineDraft {
  return Object.fromEntries(Object.entries(cells).filter(([column, cell]) => row[column] !== cell))
}

export async function removeLine(
  context: WriteContext,
  entity: Entity,
  id: string,
  ifMatch: string | undefined,
): Promise<void> {
  const { document, row } = await openLine(context, entity, id)
  checkTag(entity, row, ifMatch, false, context.conflictStatus)
  if (!linesAreOpen(document.row, textOf(row, 'line_type'))) throw closed(document.row)
  await document.ledger.take(row)
  await deleteRow(context.tx, 'business_lines', id)
  await document.ledger.finish()
}

/** The line's document is locked first, as every writer of it does, and the line read after that. */
async function openLine(context: WriteContext, entity: Entity, id: string) {
  const kind = kindOf(entity)
  const cells = { id, company_id: context.companyId, kind }
  const [seen] = await context.tx.all(
    'select document_id from business_lines where id = ? and company_id = ? and kind = ?',
    id,
    context.companyId,
    kind,
  )
  const document = seen && (await openDocument(context, kind, textOf(seen, 'document_id')))
  const row = document && (await findRow(context.tx, `(${lineView.select}) as lines`, cells))
  if (document === undefined || row === undefined) {
    throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
  }
  return { document, row }
}

function grossStored(row: SqlRow, document: OpenDocument): number {
  return grossOf(numberOf(row, 'quantity'), numberOf(row, 'unit_price'), termsOf(document.row))
}

async function finishDraft(
  draft: LineDraft,
  given: GivenFields,
  document: OpenDocument,
): Promise<void> {
  const { facts, ledger, lookups } = document
  await applyFigures(draft, given, facts, ledger.terms, lookups)
  delete draft['gross']
  const item = String(draft['item_id'])
  const variant = reference('itemVariantId', 'id', given.get('itemVariantId')?.value)
  if (given.has('itemVariantId')) draft['item_variant_id'] = variant?.value ?? noGuid
  if (variant !== undefined) {
    const row = await lookups.need('business_item_variants', 'item variant', variant)
    if (item === noGuid || row['item_id'] !== item) {
      throw refuse.Internal_InvalidTableRelation(
        { property: 'itemVariantId', reason: 'the variant is of another item than the line.' },
        { target: 'itemVariantId' },
      )
    }
  }
  const location = reference('locationId', 'id', given.get('locationId')?.value)
  if (given.has('locationId')) draft['location_id'] = location?.value ?? noGuid
  if (location !== undefined) {
    const row = await lookups.need('business_locations', 'location', location)
    if (flagOf(row, 'use_as_in_transit'))
      throw badValue('locationId', 'goods in transit cannot be sold from there.')
  }
  for (const [name, column] of [
    ['description', 'description'],
    ['description2', 'description_2'],
    ['shipmentDate', 'shipment_date'],
  ] as const) {
    const value = given.get(name)?.value
    if (typeof value === 'string') draft[column] = value
  }
  draft['tax_key'] =
    draft['line_type'] === 'Comment' ? '' : `${draft['tax_code']}|${draft['tax_percent']}`
}

function ledgerLineOf(draft: LineDraft): LedgerLine {
  return {
    lineAmount: Number(draft['line_amount']),
    taxKey: String(draft['tax_key']),
    taxPercent: Number(draft['tax_percent']),
    allowsInvoiceDiscount: draft['allows_invoice_discount'] !== 0,
  }
}

async function lastSequenceOf(context: WriteContext, document: OpenDocument): Promise<number> {
  if (document.lastSequence !== undefined) return document.lastSequence
  const [last] = await context.tx.all(
    'select sequence from business_lines where document_id = ? order by sequence desc limit 1',
    textOf(document.row, 'id'),
  )
  return last === undefined ? 0 : numberOf(last, 'sequence')
}

async function sequenceOf(
  context: WriteContext,
  document: OpenDocument,
  given: GivenFields,
  last: number,
): Promise<number> {
  const told = Number(given.get('sequence')?.value ?? 0)
  if (told < 0) throw badValue('sequence', 'a number above 0 was expected.')
  if (told > 0) {
    const documentId = textOf(document.row, 'id')
    await document.inserter.flush()
    const taken = await findRow(context.tx, 'business_lines', {
      document_id: documentId,
      sequence: told,
    })
    if (taken !== undefined) {
      throw ruleBroken(`The sequence ${told} is taken by another line of the document.`, 'sequence')
    }
    return told
  }
  const next = last + sequenceStep
  if (next > sequenceMax)
    throw ruleBroken('The sequences of the document are used up; give one.', 'sequence')
  return next
}

/** What a line keeps for its life (facts 3): a different value is refused, an empty one passed over. */
function refuseFixed(given: GivenFields, row: SqlRow): void {
  for (const [name, column] of [
    ['documentId', 'document_id'],
    ['sequence', 'sequence'],
  ] as const) {
    const value = given.get(name)?.value
    if (value === undefined || value === row[column] || value === noGuid || value === 0) continue
    throw ruleBroken(
      `'${name}' of a line cannot be changed; delete the line and create another.`,
      name,
    )
  }
}

async function placeOf(
  context: WriteContext,
  kind: string,
  given: GivenFields,
  place: LinePlace,
): Promise<{ readonly documentId: string; readonly id: string | undefined }> {
  const told = reference('documentId', 'id', given.get('documentId')?.value)?.value
  if (told !== undefined && place.documentId !== undefined && told !== place.documentId) {
    throw badValue('documentId', 'names another document than the address.')
  }
  const documentId = told ?? place.documentId
  const { key } = place
  if (key === undefined || key === noGuid) {
    if (documentId !== undefined) return { documentId, id: undefined }
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'documentId', reason: 'it names the document the line is to be in.' },
      { target: 'documentId' },
    )
  }
  const sibling = await findRow(context.tx, 'business_lines', { id: key })
  if (sibling?.['kind'] === kind && sibling['company_id'] === context.companyId) {
    return { documentId: documentId ?? textOf(sibling, 'document_id'), id: undefined }
  }
  if (documentId !== undefined) return { documentId, id: sibling === undefined ? key : undefined }
  // Neither says so but the key itself: then it is the document's.
  return { documentId: key, id: undefined }
}

export function kindOf(entity: Entity): string {
  if (entity.discriminator === undefined) throw new Error(`${entity.set} has no kind`)
  return entity.discriminator.value
}

function closed(document: SqlRow): Error {
  return refuse.Application_FieldValidationException(
    {
      property: 'status',
      reason: `the document is '${textOf(document, 'status')}'; its lines may be changed while it is 'Draft'.`,
    },
    { target: 'status' },
  )
}
