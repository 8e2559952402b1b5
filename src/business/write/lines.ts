/**
 * Creates, changes and removes lines of sales documents, with the document's sums. Refuses what the document's state
 * does not allow; what a line means is `line-object.ts`'s, its figures `line-figures.ts`'s.
 */

import type { SqlRow } from '#stores/store.ts'
import { fromStored } from '../amounts/decimals.ts'
import { grossOf } from '../amounts/line.ts'
import { linesAreOpen } from '../documents/life.ts'
import { type Entity, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import { type Ledger, type LedgerLine, netCells, openLedger, termsOf } from './ledger.ts'
import { applyFigures } from './line-figures.ts'
import { applyObject, bareLine, type DocumentFacts, type LineDraft } from './line-object.ts'
import { createLookups, type Lookups, reference } from './lookups.ts'
import {
  deleteRow,
  findRow,
  flagOf,
  insertRow,
  lockRow,
  numberOf,
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
  lastSequence: number
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
  const [last] = await context.tx.all(
    'select sequence from business_lines where document_id = ? order by sequence desc limit 1',
    documentId,
  )
  return {
    row,
    facts: factsOf(row),
    ledger: openLedger(context, row),
    lookups: createLookups(context),
    lastSequence: last === undefined ? 0 : numberOf(last, 'sequence'),
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
  await document.ledger.finish()
  return made
}

/** Adds a line to an open document; the ledger is finished by the caller, once for many lines. */
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
  const sequence = await sequenceOf(context, document, given)
  const id = wantedId ?? context.ids.uuid()
  const documentId = textOf(row, 'id')
  const share = await ledger.put(ledgerLineOf(draft))
  await insertRow(context.tx, 'business_lines', {
    ...draft,
    ...netCells({ amount_excluding_tax: draft['amount_excluding_tax'] ?? 0 }, share, ledger.terms),
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
  const excluding = { amount_excluding_tax: draft['amount_excluding_tax'] ?? 0 }
  if (!isReckoned) {
    await updateRow(context.tx, 'business_lines', id, draft)
    await ledger.finish()
    return
  }
  await ledger.take(row)
  ledger.giveUp(row)
  const share = await ledger.put(ledgerLineOf(draft))
  await updateRow(context.tx, 'business_lines', id, {
    ...draft,
    ...netCells(excluding, share, ledger.terms),
  })
  await ledger.finish()
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
  const seen = await findRow(context.tx, 'business_lines', cells)
  const document = seen && (await openDocument(context, kind, textOf(seen, 'document_id')))
  const row = document && (await findRow(context.tx, 'business_lines', cells))
  if (document === undefined || row === undefined) {
    throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
  }
  return { document, row }
}

function grossStored(row: SqlRow, document: OpenDocument): number {
  const figures = {
    quantity: fromStored(numberOf(row, 'quantity')),
    unitPrice: fromStored(numberOf(row, 'unit_price')),
  }
  return grossOf(figures, termsOf(document.row)).times(100_000).toNumber()
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
    lineAmount: fromStored(Number(draft['line_amount'])),
    taxKey: String(draft['tax_key']),
    taxPercent: fromStored(Number(draft['tax_percent'])),
    allowsInvoiceDiscount: draft['allows_invoice_discount'] !== 0,
  }
}

async function sequenceOf(
  context: WriteContext,
  document: OpenDocument,
  given: GivenFields,
): Promise<number> {
  const told = Number(given.get('sequence')?.value ?? 0)
  if (told < 0) throw badValue('sequence', 'a number above 0 was expected.')
  if (told > 0) {
    const documentId = textOf(document.row, 'id')
    const taken = await findRow(context.tx, 'business_lines', {
      document_id: documentId,
      sequence: told,
    })
    if (taken !== undefined) {
      throw ruleBroken(`The sequence ${told} is taken by another line of the document.`, 'sequence')
    }
    document.lastSequence = Math.max(document.lastSequence, told)
    return told
  }
  const next = document.lastSequence + sequenceStep
  if (next > sequenceMax)
    throw ruleBroken('The sequences of the document are used up; give one.', 'sequence')
  document.lastSequence = next
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
