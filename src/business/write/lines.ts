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
import { type Finished, type Ledger, type LedgerLine, openLedger, termsOf } from './ledger.ts'
import { applyFigures } from './line-figures.ts'
import { applyObject, bareLine, type DocumentFacts, type LineDraft } from './line-object.ts'
import { emptyLine, type LineRows, openLineRows } from './line-rows.ts'
import { createLookups, type Found, type Lookups, reference, withFound } from './lookups.ts'
import {
  deleteRow,
  findRow,
  flagOf,
  lockRow,
  newId,
  numberOf,
  raiseRevision,
  textOf,
  updateRow,
  type WriteContext,
} from './rows.ts'
import { checkTag } from './tag.ts'
import { type Body, type GivenFields, readBody } from './values.ts'

/** The first line of a document is 10000, the next 10000 more (business facts 1, the sixth). */
const sequenceStep = 10_000
const sequenceMax = 2_147_483_647
/** Of one document: what an invoice discount, which touches every line, may still be spread over in one go. */
const linesMax = 100_000

/** A document opened for writing its lines: locked, with its sums. */
interface OpenDocument {
  readonly row: SqlRow
  readonly facts: DocumentFacts
  readonly ledger: Ledger
  readonly lookups: Lookups
  /** Takes the rows of new lines. */
  readonly inserter: LineRows
  /** 0 in a document without lines; in others found out when one is added. */
  lastSequence: number | undefined
  lineCount: number
}

/** What lines and sums need to know of their document. */
const columns = [
  'id',
  'kind',
  'status',
  'revision',
  'document_date',
  'tax_area_id',
  'tax_liable',
  'prices_include_tax',
  'amount_precision',
  'line_count',
  'discount_base',
  'discount_amount',
  'total_amount_excluding_tax',
  'total_amount_including_tax',
].join(', ')

/** Locks the document; undefined when the company has none of that kind. */
async function lockDocument(
  context: WriteContext,
  kind: string,
  id: string,
): Promise<OpenDocument | undefined> {
  const cells = { id, company_id: context.companyId, kind }
  const row = await lockRow(context, 'business_documents', cells, columns)
  return row && openDocument(context, row)
}

/** By its row, which is locked. */
export function openDocument(context: WriteContext, row: SqlRow): OpenDocument {
  return {
    row,
    facts: factsOf(row),
    ledger: openLedger(context, row),
    lookups: createLookups(context),
    inserter: openLineRows(context),
    lastSequence: row['line_count'] === 0 ? 0 : undefined,
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

/** A line as it was written. */
export interface WrittenLine {
  readonly id: string
  /** What its row holds; undefined where only the store can tell. */
  readonly row: SqlRow | undefined
}

/** Creates one line. */
export async function createLine(
  context: WriteContext,
  entity: Entity,
  body: Body,
  place: LinePlace,
): Promise<WrittenLine> {
  const given = readBody(entity, context.version, body)
  const kind = kindOf(entity)
  const { documentId, id } = await placeOf(context, kind, given, place)
  const document = await lockDocument(context, kind, documentId)
  if (document === undefined) {
    const key = `the id '${documentId}'`
    if (documentId === place.documentId) {
      throw refuse.BadRequest_ResourceNotFound({ type: entity.type.replace(/Line$/, ''), key })
    }
    throw refuse.Internal_RecordNotFound(
      { property: 'documentId', type: 'document', key },
      { target: 'documentId' },
    )
  }
  const row = await addLine(context, document, given, id)
  const { areRowsKnown } = await closeDocument(document)
  return { id: textOf(row, 'id'), row: areRowsKnown ? row : undefined }
}

/** After the last line: their rows are written, then the document's sums. */
export async function closeDocument({ inserter, ledger }: OpenDocument): Promise<Finished> {
  await inserter.flush()
  return await ledger.finish()
}

/** Adds a line to an open document, which the caller closes, once for many lines. What its row holds. */
export async function addLine(
  context: WriteContext,
  document: OpenDocument,
  given: GivenFields,
  wantedId: string | undefined,
): Promise<SqlRow> {
  const { row, facts, ledger, lookups } = document
  const draft: LineDraft = { ...emptyLine, ...bareLine }
  const applied = applyObject(draft, given, facts, lookups, {
    isNew: true,
    untyped: context.version === 'v1.0' ? 'Item' : 'Comment',
  })
  // Not to wait where there is nothing to wait for is most of what a line of a long list costs.
  if (applied instanceof Promise) await applied
  const finished = finishDraft(draft, given, document, undefined)
  if (finished instanceof Promise) await finished
  if (!linesAreOpen(row, String(draft['line_type']))) throw closed(row)
  if (document.lineCount >= linesMax) throw ruleBroken(`A document has at most ${linesMax} lines.`)
  document.lineCount++
  const last = document.lastSequence ?? (await lastSequenceOf(context, document))
  const told = Number(given.get('sequence')?.value ?? 0)
  const sequence = told === 0 ? nextSequence(last) : await freeSequence(context, document, told)
  document.lastSequence = Math.max(last, sequence)
  const documentId = textOf(row, 'id')
  const excluding = Number(draft['amount_excluding_tax'])
  const at = { sequence, isLast: sequence > last }
  const put = ledger.put(ledgerLineOf(draft), excluding, at)
  Object.assign(draft, put instanceof Promise ? await put : put)
  draft['id'] = wantedId ?? newId(context)
  draft['company_id'] = context.companyId
  draft['kind'] = facts.kind
  draft['document_id'] = documentId
  draft['sequence'] = sequence
  draft['legacy_id'] = `${documentId}-${sequence}`
  draft['revision'] = 1
  const added = document.inserter.add(draft)
  if (added !== undefined) await added
  return draft
}

/** Changes one line. */
export async function changeLine(
  context: WriteContext,
  entity: Entity,
  id: string,
  body: Body,
  ifMatch: string | undefined,
  within: string | undefined,
): Promise<WrittenLine> {
  const given = readBody(entity, context.version, body)
  const { document, row } = await openLine(context, entity, id, within)
  checkTag(entity, row, ifMatch, true, context.conflictStatus)
  refuseFixed(given, row)
  const { facts, ledger, lookups } = document
  const draft: LineDraft = { ...bareLine, discount_applied_before_tax: 0 }
  for (const column in draft) draft[column] = row[column] ?? 0
  const isOther = await applyObject(draft, given, facts, lookups, {
    isNew: false,
    untyped: 'Comment',
  })
  await finishDraft(draft, given, document, isOther ? undefined : grossStored(row, document))
  const wasOpen = linesAreOpen(document.row, textOf(row, 'line_type'))
  if (!wasOpen || !linesAreOpen(document.row, String(draft['line_type'])))
    throw closed(document.row)
  const changed = changedCells(row, draft)
  if (Object.keys(changed).length === 0) return { id, row }
  const before = textOf(row, 'tax_key')
  const isReckoned =
    before !== draft['tax_key'] ||
    row['line_amount'] !== draft['line_amount'] ||
    row['allows_invoice_discount'] !== draft['allows_invoice_discount']
  if (isReckoned) {
    await ledger.take(row)
    ledger.giveUp(row)
    const excluding = Number(draft['amount_excluding_tax'])
    const at = { sequence: numberOf(row, 'sequence'), isLast: false }
    // The row was read with its shares worked out: what it holds itself of those columns is not known.
    Object.assign(changed, await ledger.put(ledgerLineOf(draft), excluding, at))
  }
  await updateRow(context.tx, 'business_lines', id, changed)
  // A line that leaves the shares of a discount must not go back to a tag it had before it had one.
  if (isReckoned && draft['tax_key'] === '')
    await raiseRevision(context.tx, id, numberOf(row, 'revision') + 1)
  const { areRowsKnown } = await ledger.finish()
  const written = { ...row, ...changed, revision: numberOf(row, 'revision') + 1 }
  return { id, row: areRowsKnown ? written : undefined }
}

/** A column that is set to what it holds would still be written into its indexes. */
function changedCells(row: SqlRow, cells: LineDraft): LineDraft {
  const changed: LineDraft = {}
  for (const column in cells) {
    const cell = cells[column]
    if (cell !== undefined && row[column] !== cell) changed[column] = cell
  }
  return changed
}

export async function removeLine(
  context: WriteContext,
  entity: Entity,
  id: string,
  ifMatch: string | undefined,
  within: string | undefined,
): Promise<void> {
  const { document, row } = await openLine(context, entity, id, within)
  checkTag(entity, row, ifMatch, false, context.conflictStatus)
  if (!linesAreOpen(document.row, textOf(row, 'line_type'))) throw closed(document.row)
  await document.ledger.take(row)
  await deleteRow(context.tx, 'business_lines', id)
  await closeDocument(document)
}

async function lastSequenceOf(context: WriteContext, { row }: OpenDocument): Promise<number> {
  const [last] = await context.tx.all(
    'select sequence from business_lines where document_id = ? order by sequence desc limit 1',
    textOf(row, 'id'),
  )
  return last === undefined ? 0 : numberOf(last, 'sequence')
}

/**
 * The line's document is locked first, as every writer of it does, and the line read after that. `within`: the
 * document that the address names.
 */
async function openLine(
  context: WriteContext,
  entity: Entity,
  id: string,
  within: string | undefined,
) {
  const kind = kindOf(entity)
  const documentId = within ?? (await documentOf(context, id))
  const document = documentId && (await lockDocument(context, kind, documentId))
  // Where there is no invoice discount nothing has to be worked out.
  const isPlain = document && document.row['discount_amount'] === 0
  const rows = isPlain ? 'business_lines' : `(${lineView.select}) as lines`
  const row = document && (await findRow(context.tx, rows, { id, document_id: documentId }))
  if (!document || !row) {
    throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
  }
  return { document, row }
}

async function documentOf(context: WriteContext, id: string): Promise<string | undefined> {
  const [line] = await context.tx.all('select document_id from business_lines where id = ?', id)
  return line && textOf(line, 'document_id')
}

function grossStored(row: SqlRow, document: OpenDocument): number {
  return grossOf(numberOf(row, 'quantity'), numberOf(row, 'unit_price'), termsOf(document.row))
}

/** `grossBefore`: what quantity and price came to, of a line that stays about what it is about. */
function finishDraft(
  draft: LineDraft,
  given: GivenFields,
  { facts, ledger, lookups }: OpenDocument,
  grossBefore: number | undefined,
): Found<void> {
  const ground = { document: facts, terms: ledger.terms, grossBefore }
  const figured = applyFigures(draft, given, ground, lookups)
  const hasPlace = given.has('itemVariantId') || given.has('locationId')
  const placed = hasPlace ? withFound(figured, () => applyPlace(draft, given, lookups)) : figured
  return withFound(placed, () => {
    for (const [name, column] of texts) {
      const value = given.get(name)?.value
      if (typeof value === 'string') draft[column] = value
    }
    draft['tax_key'] =
      draft['line_type'] === 'Comment' ? '' : `${draft['tax_code']}|${draft['tax_percent']}`
  })
}

const texts = [
  ['description', 'description'],
  ['description2', 'description_2'],
  ['shipmentDate', 'shipment_date'],
] as const

async function applyPlace(draft: LineDraft, given: GivenFields, lookups: Lookups): Promise<void> {
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
}

function ledgerLineOf(draft: LineDraft): LedgerLine {
  return {
    lineAmount: Number(draft['line_amount']),
    taxKey: String(draft['tax_key']),
    taxPercent: Number(draft['tax_percent']),
    allowsInvoiceDiscount: draft['allows_invoice_discount'] !== 0,
  }
}

function nextSequence(last: number): number {
  const next = last + sequenceStep
  if (next > sequenceMax)
    throw ruleBroken('The sequences of the document are used up; give one.', 'sequence')
  return next
}

/** The sequence as told, which no other line of the document has. */
async function freeSequence(
  context: WriteContext,
  document: OpenDocument,
  told: number,
): Promise<number> {
  if (told < 0) throw badValue('sequence', 'a number above 0 was expected.')
  await document.inserter.flush()
  const taken = await findRow(context.tx, 'business_lines', {
    document_id: textOf(document.row, 'id'),
    sequence: told,
  })
  if (taken === undefined) return told
  throw ruleBroken(`The sequence ${told} is taken by another line of the document.`, 'sequence')
}

/** What a line keeps for its life (business facts 3): a different value is refused, an empty one passed over. */
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
