/**
 * Creates, changes and removes lines of sales documents, with the document's sums. Refuses what the document's state
 * does not allow; what a line means is `line-object.ts`'s, its figures `line-figures.ts`'s.
 */

import { isUuid } from '#kernel/uuid.ts'
import { deleteRows, findRow, prefetchRow } from '#query/rows.ts'
import { selecting } from '#query/table.ts'
import { grossOf } from '../amounts/line.ts'
import { linesAreOpen } from '../documents/document-status.ts'
import { lineSelect } from '../entities/line-view.ts'
import { type Entity, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import type { LineRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { type DocumentHead, documentHead, type Finished, Ledger, termsOf } from './ledger.ts'
import { applyFigures } from './line-figures.ts'
import { applyObject, bareLine, type LineContext, type LineDraft } from './line-object.ts'
import { emptyLine, type LineRows, openLineRows } from './line-rows.ts'
import { createLookups, type Lookups, type MaybePromise, reference, withFound } from './lookups.ts'
import {
  changedCells,
  lockFor,
  lockRow,
  newId,
  raiseRevision,
  updateRow,
  type WriteContext,
  type Writing,
} from './rows.ts'
import { checkTag, type Target } from './tag.ts'
import { type Body, type GivenFields, readBody } from './values.ts'

/** The first line of a document is 10000, the next 10000 more (business facts 1, the sixth). */
const sequenceStep = 10_000
const sequenceMax = 2_147_483_647
/**
 * The number of lines in a document. An invoice discount or another currency affects every line, in one transaction, for
 * which all other writers of the embedded store wait (decision 0353).
 */
const linesMax = 20_000

/** A document opened for writing its lines: locked, with its sums. */
interface OpenDocument extends LineContext {
  readonly ledger: Ledger
  /** Inserts the rows of new lines. */
  readonly inserter: LineRows
  /** 0 in a document without lines; in others read when a line is added. */
  lastSequence: number | undefined
  lineCount: number
}

/** Locks the document; undefined when the company has none of that kind. */
async function lockDocument(
  context: WriteContext,
  kind: string,
  id: string,
): Promise<OpenDocument | undefined> {
  const head = await lockRow(context, documentHead, documentCells(context, kind, id))
  return head && openDocument(context, head)
}

function documentCells({ companyId }: Pick<WriteContext, 'companyId'>, kind: string, id: string) {
  return { id, company_id: companyId, kind }
}

type LineReads = Writing & Pick<WriteContext, 'companyId'>

/** `itemId` as in the body. */
interface AddressedLine {
  readonly documentId: string
  readonly id: string | undefined
  readonly itemId: unknown
}

/**
 * Sends together what the write of a line reads one after the other, in the same order: on PostgreSQL each answer is a way to the
 * server and back. What turns out otherwise, such as the share of a discount, is read by itself.
 */
export function prefetchLine(reads: LineReads, entity: Entity, line: AddressedLine): void {
  const { tx, dialect, companyId } = reads
  if (dialect !== 'postgres') return
  const { documentId, id, itemId } = line
  const ofDocument = { document_id: documentId }
  const document = documentCells(reads, kindOf(entity), documentId)
  prefetchRow(tx, documentHead, document, lockFor(reads, 'change'))
  if (id !== undefined) prefetchRow(tx, tables.lines, { id, ...ofDocument })
  else prefetchRow(tx, sequences, ofDocument, lastFirst)
  if (typeof itemId === 'string' && isUuid(itemId) && itemId !== noGuid) {
    const item = { company_id: companyId, id: itemId.toLowerCase() }
    prefetchRow(tx, tables.items, item, lockFor(reads, 'reference'))
  }
  prefetchRow(tx, tables.documentTaxGroups, ofDocument)
}

/** Opens a document by its row, which is locked. */
export function openDocument(context: WriteContext, head: DocumentHead): OpenDocument {
  return {
    head,
    ledger: new Ledger(context, head),
    lookups: createLookups(context),
    inserter: openLineRows(context),
    lastSequence: head.line_count === 0 ? 0 : undefined,
    lineCount: head.line_count,
  }
}

/** Where a new line belongs: the path, the body and the contract's odd key, which must agree. */
export interface LinePlace {
  /** The document of the path. */
  readonly documentId: string | undefined
  /** The key of `salesQuoteLines(key)` in a POST: a line whose document gets another, or a new line's id. */
  readonly key: string | undefined
}

/** A written line. */
export interface WrittenLine {
  readonly id: string
  /** Its row; undefined when only the store knows it. */
  readonly row: LineRow | undefined
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
  return { id: row.id, row: areRowsKnown ? row : undefined }
}

/** Called after the last line: writes their rows, then the document's sums. */
export async function closeDocument({ inserter, ledger }: OpenDocument): Promise<Finished> {
  await inserter.flush()
  return await ledger.finish()
}

/** Adds a line to an open document, which the caller closes once for many lines. Returns its row. */
export async function addLine(
  context: WriteContext,
  document: OpenDocument,
  given: GivenFields,
  wantedId: string | undefined,
): Promise<LineRow> {
  const { head, ledger } = document
  const draft: LineDraft = { ...emptyLine, ...bareLine }
  const applied = applyObject(draft, given, document, {
    isNew: true,
    untyped: context.version === 'v1.0' ? 'Item' : 'Comment',
  })
  // Awaiting nothing would be most of the cost of a line in a long list.
  if (applied instanceof Promise) await applied
  const finished = finishDraft(draft, given, document, undefined)
  if (finished instanceof Promise) await finished
  if (!linesAreOpen(head, draft.line_type)) throw closed(head)
  if (document.lineCount >= linesMax) throw ruleBroken(`A document has at most ${linesMax} lines.`)
  document.lineCount++
  const last = document.lastSequence ?? (await lastSequenceOf(context, document))
  const requested = Number(given.get('sequence')?.value ?? 0)
  let sequence = requested
  if (requested === 0) sequence = nextSequence(last)
  else if (requested <= last) await requireFree(context, document, requested)
  document.lastSequence = Math.max(last, sequence)
  const put = ledger.put(draft, { sequence, isLast: sequence > last })
  Object.assign(draft, put instanceof Promise ? await put : put)
  draft.id = wantedId ?? newId(context)
  draft.company_id = context.companyId
  draft.kind = head.kind
  draft.document_id = head.id
  draft.sequence = sequence
  draft.legacy_id = `${head.id}-${sequence}`
  draft.revision = 1
  const added = document.inserter.add(draft)
  if (added !== undefined) await added
  return draft
}

/** Changes one line. Also returns its row as it was. */
export async function changeLine(
  context: WriteContext,
  target: Target,
  body: Body,
): Promise<WrittenLine & { readonly before: LineRow }> {
  const { id } = target
  const { document, row } = await openLine(context, target)
  const given = readBody(target.entity, context.version, body)
  checkTag(target, row, true, context.conflictStatus)
  refuseFixed(given, row)
  const { head, ledger } = document
  const draft: LineDraft = { ...row }
  const isOther = await applyObject(draft, given, document, {
    isNew: false,
    untyped: 'Comment',
  })
  await finishDraft(draft, given, document, isOther ? undefined : grossStored(row, document))
  const types = [row.line_type, draft.line_type]
  if (!types.every((type) => linesAreOpen(head, type))) throw closed(head)
  const changed = changedCells(row, draft)
  if (Object.keys(changed).length === 0) return { id, row, before: row }
  const before = row.tax_key
  const isReckoned =
    before !== draft.tax_key ||
    row.line_amount !== draft.line_amount ||
    row.allows_invoice_discount !== draft.allows_invoice_discount
  if (isReckoned) {
    await ledger.take(row)
    ledger.giveUp(row)
    // The row was read with its shares computed, so its own values of those columns are unknown.
    Object.assign(changed, await ledger.put(draft, { sequence: row.sequence, isLast: false }))
  }
  await updateRow(context.tx, tables.lines, id, changed)
  // A line that leaves the shares of a discount must not get back an earlier tag.
  if (isReckoned && draft.tax_key === '') await raiseRevision(context.tx, id, row.revision + 1)
  const { areRowsKnown } = await ledger.finish()
  const written = { ...row, ...changed, revision: row.revision + 1 }
  return { id, row: areRowsKnown ? written : undefined, before: row }
}

export async function removeLine(context: WriteContext, target: Target): Promise<void> {
  const { document, row } = await openLine(context, target)
  checkTag(target, row, false, context.conflictStatus)
  if (!linesAreOpen(document.head, row.line_type)) throw closed(document.head)
  await document.ledger.take(row)
  await deleteRows(context.tx, tables.lines, { id: row.id })
  await closeDocument(document)
}

const sequences = selecting(tables.lines, 'sequence')
const lastFirst = ' order by sequence desc limit 1'
const owners = selecting(tables.lines, 'document_id')
/** Lines with their computed shares of a discount. */
const sharedLines = { ...tables.lines, name: `(${lineSelect}) as lines` }

async function lastSequenceOf(context: WriteContext, { head }: OpenDocument): Promise<number> {
  const found = await findRow(context.tx, sequences, { document_id: head.id }, lastFirst)
  return found?.sequence ?? 0
}

/** The line's document is locked first, as by every writer, and then the line is read. */
async function openLine(context: WriteContext, { entity, id, within }: Target) {
  const documentId = within ?? (await findRow(context.tx, owners, { id }))?.document_id
  const document = documentId && (await lockDocument(context, kindOf(entity), documentId))
  // Without an invoice discount nothing must be computed.
  const isPlain = document && document.head.discount_amount === 0
  const rows = isPlain ? tables.lines : sharedLines
  const row = document && (await findRow(context.tx, rows, { id, document_id: documentId }))
  if (!document || !row) {
    throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
  }
  return { document, row }
}

function grossStored(row: LineRow, { head }: OpenDocument): number {
  return grossOf(row.quantity, row.unit_price, termsOf(head))
}

/** `grossBefore`: quantity times price before, for a line whose object stays. */
function finishDraft(
  draft: LineDraft,
  given: GivenFields,
  document: OpenDocument,
  grossBefore: number | undefined,
): MaybePromise<void> {
  const { lookups } = document
  const figured = applyFigures(draft, given, document, grossBefore)
  const hasPlace = given.has('itemVariantId') || given.has('locationId')
  const placed = hasPlace ? withFound(figured, () => applyPlace(draft, given, lookups)) : figured
  return withFound(placed, () => {
    for (const [name, column] of texts) {
      const value = given.get(name)?.value
      if (typeof value === 'string') draft[column] = value
    }
    draft.tax_key = draft.line_type === 'Comment' ? '' : `${draft.tax_code}|${draft.tax_percent}`
  })
}

const texts = [
  ['description', 'description'],
  ['description2', 'description_2'],
  ['shipmentDate', 'shipment_date'],
] as const

async function applyPlace(draft: LineDraft, given: GivenFields, lookups: Lookups): Promise<void> {
  const item = draft.item_id
  const variant = reference('itemVariantId', 'id', given.get('itemVariantId')?.value)
  if (given.has('itemVariantId')) draft.item_variant_id = variant?.value ?? noGuid
  if (variant !== undefined) {
    const row = await lookups.need(tables.itemVariants, 'item variant', variant)
    if (item === noGuid || row.item_id !== item) {
      throw refuse.Internal_InvalidTableRelation(
        { property: 'itemVariantId', reason: 'the variant is of another item than the line.' },
        { target: 'itemVariantId' },
      )
    }
  }
  const location = reference('locationId', 'id', given.get('locationId')?.value)
  if (given.has('locationId')) draft.location_id = location?.value ?? noGuid
  if (location !== undefined) {
    const row = await lookups.need(tables.locations, 'location', location)
    if (row.use_as_in_transit !== 0)
      throw badValue('locationId', 'goods in transit cannot be sold from there.')
  }
}

function nextSequence(last: number): number {
  const next = last + sequenceStep
  if (next > sequenceMax)
    throw ruleBroken('The sequences of the document are used up; give one.', 'sequence')
  return next
}

/** No other line of the document has the requested sequence. */
async function requireFree(
  context: WriteContext,
  document: OpenDocument,
  requested: number,
): Promise<void> {
  if (requested < 0) throw badValue('sequence', 'a number above 0 was expected.')
  await document.inserter.flush()
  const cells = { document_id: document.head.id, sequence: requested }
  if ((await findRow(context.tx, tables.lines, cells)) === undefined) return
  throw ruleBroken(
    `The sequence ${requested} is taken by another line of the document.`,
    'sequence',
  )
}

/** Values that a line keeps for its life (business facts 3): a different value is refused, an empty one ignored. */
function refuseFixed(given: GivenFields, row: LineRow): void {
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
  const requested = reference('documentId', 'id', given.get('documentId')?.value)?.value
  if (requested !== undefined && place.documentId !== undefined && requested !== place.documentId) {
    throw badValue('documentId', 'names another document than the address.')
  }
  const documentId = requested ?? place.documentId
  const { key } = place
  if (key === undefined || key === noGuid) {
    if (documentId !== undefined) return { documentId, id: undefined }
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'documentId', reason: 'it names the document the line is to be in.' },
      { target: 'documentId' },
    )
  }
  const sibling = await findRow(context.tx, tables.lines, { id: key })
  if (sibling?.kind === kind && sibling.company_id === context.companyId) {
    return { documentId: documentId ?? sibling.document_id, id: undefined }
  }
  if (documentId !== undefined) return { documentId, id: sibling === undefined ? key : undefined }
  // Neither path nor body names a document, so the key does.
  return { documentId: key, id: undefined }
}

export function kindOf(entity: Entity): string {
  if (entity.discriminator === undefined) throw new Error(`${entity.set} has no kind`)
  return entity.discriminator.value
}

function closed(document: DocumentHead): Error {
  return refuse.Application_FieldValidationException(
    {
      property: 'status',
      reason: `the document is '${document.status}'; its lines may be changed while it is 'Draft'.`,
    },
    { target: 'status' },
  )
}
