/**
 * The object of a line: its type, its item or account, and what follows from them (business facts 4 and 6). The
 * order of properties in a body does not matter.
 */

import type { CellsOf } from '#query/table.ts'
import { convertPrice } from '../amounts/line.ts'
import type { LineType } from '../entities/sales-lines.ts'
import { noDate, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import type { LineRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { fromLocal, type Rate } from './exchange-rates.ts'
import type { DocumentHead } from './ledger.ts'
import { type Lookups, type MaybePromise, reference, withFound } from './lookups.ts'
import { type GivenFields, inRange, type Parts } from './values.ts'

/** A line that is being created or changed. */
export type LineDraft = { -readonly [K in keyof LineRow]: LineRow[K] }

/** What a line depends on besides itself. */
export interface LineContext {
  /** The columns of its document. */
  readonly head: DocumentHead
  readonly lookups: Lookups
}

interface Manner {
  readonly isNew: boolean
  readonly untyped: LineType
}

/** The initial cells of a line of any type, to which a change of type returns it. */
export const bareLine: Partial<LineRow> = Object.freeze({
  line_type: 'Comment',
  item_id: noGuid,
  account_id: noGuid,
  line_object_number: '',
  object_name: '',
  description: '',
  description_2: '',
  unit_of_measure_id: noGuid,
  unit_of_measure_code: '',
  quantity: 0,
  unit_price: 0,
  discount_amount: 0,
  discount_percent: 0,
  tax_code: '',
  tax_percent: 0,
  item_variant_id: noGuid,
  location_id: noGuid,
  shipment_date: noDate,
  allows_invoice_discount: 0,
})

const writable: ReadonlySet<string> = new Set<LineType>(['Comment', 'Account', 'Item'])

/** Applies type and object; returns whether the line's object is a different one. */
export function applyObject(
  draft: LineDraft,
  given: GivenFields,
  ground: LineContext,
  manner: Manner,
): MaybePromise<boolean> {
  const item = reference('itemId', 'id', given.get('itemId')?.value)
  const account = reference('accountId', 'id', given.get('accountId')?.value)
  if (item !== undefined && account !== undefined) {
    throw ruleBroken(
      "'itemId' and 'accountId' exclude each other: a line is about one thing.",
      'accountId',
    )
  }
  const number = wantedNumber(given)
  const byObject = item !== undefined ? 'Item' : account !== undefined ? 'Account' : undefined
  const type = wantedType(draft.line_type, given, { byObject, number }, manner)
  const isOfType = !manner.isNew && draft.line_type === type
  // A new line has the initial cells already.
  if (!isOfType && !manner.isNew) Object.assign(draft, bareLine)
  draft.line_type = type
  if (isOfType) refuseTakingAway(draft, given, item !== undefined || account !== undefined)
  if (type === 'Comment') {
    if (number !== undefined && number.value !== draft.line_object_number) {
      throw badValue(number.property, "a comment has no object; set 'lineType' to Item or Account.")
    }
    return !isOfType
  }
  // If the line has an object already, the number stays; `itemId` or `accountId` changes it (business facts 3).
  if (isOfType && number !== undefined && draft.line_object_number !== '') {
    if (number.value === draft.line_object_number && item === undefined && account === undefined)
      return false
    if (item === undefined && account === undefined) {
      throw badValue(number.property, "cannot be changed; set 'itemId' or 'accountId' instead.")
    }
  }
  /** Whether the found object differs from the line's. Then the line starts over. */
  const isOther = (objectId: string, foundId: string): boolean => {
    if (isOfType && objectId === foundId) return false
    const { quantity } = draft
    if (!manner.isNew) Object.assign(draft, bareLine, { line_type: type, quantity })
    return true
  }
  const { lookups } = ground
  if (type === 'Item') {
    return withFound(lookups.agree(tables.items, 'item', [item, number]), (row) => {
      if (row === undefined) return !isOfType
      return isOther(draft.item_id, row.id) && withFound(takeItem(draft, row, ground), () => true)
    })
  }
  return withFound(lookups.agree(tables.accounts, 'account', [account, number]), (row) => {
    if (row === undefined) return !isOfType
    const isNew = isOther(draft.account_id, row.id)
    if (isNew) takeAccount(draft, row)
    return isNew
  })
}

function wantedNumber(given: GivenFields) {
  const plain = reference('lineObjectNumber', 'number', given.get('lineObjectNumber')?.value)
  if (plain !== undefined) return plain
  const details = given.get('lineDetails')?.value
  return details instanceof Map
    ? reference('lineDetails/number', 'number', (details as Parts).get('number'))
    : undefined
}

function wantedType(
  current: string,
  given: GivenFields,
  {
    byObject,
    number,
  }: {
    readonly byObject: LineType | undefined
    readonly number: { readonly property: string } | undefined
  },
  manner: Manner,
): string {
  const lineType = given.get('lineType')?.value
  if (typeof lineType === 'string') {
    if (!writable.has(lineType)) {
      throw badValue(
        'lineType',
        `lines of the type '${lineType}' are not written here; Comment, Account and Item are.`,
      )
    }
    // An echo of the whole line with another object: the object decides.
    const isEcho = !manner.isNew && lineType === current
    if (byObject !== undefined && lineType !== byObject && !isEcho) {
      throw badValue(
        'lineType',
        `'${lineType}' does not go with ${byObject === 'Item' ? "'itemId'" : "'accountId'"}.`,
      )
    }
    return byObject ?? lineType
  }
  if (byObject !== undefined) return byObject
  if (!manner.isNew) return current
  if (number !== undefined && manner.untyped === 'Comment') {
    throw refuse.BadRequest_RequiredParamNotProvided(
      {
        name: 'lineType',
        reason: `it says whether '${number.property}' is of an Item or an Account.`,
      },
      { target: 'lineType' },
    )
  }
  return manner.untyped
}

/** The zero GUID for an existing object is refused with advice instead of being ignored. */
function refuseTakingAway(draft: LineDraft, given: GivenFields, isReplaced: boolean): void {
  if (isReplaced) return
  for (const [property, column] of [
    ['itemId', 'item_id'],
    ['accountId', 'account_id'],
  ] as const) {
    if (given.get(property)?.value === noGuid && draft[column] !== noGuid) {
      throw badValue(property, "cannot be taken away; change 'lineType' to make it another line.")
    }
  }
}

function takeItem(
  draft: LineDraft,
  item: CellsOf<typeof tables.items>,
  { head, lookups }: LineContext,
): MaybePromise<void> {
  const { number, tax_group_code: code } = item
  if (item.blocked !== 0) throw badValue('itemId', `the item ${number} is blocked.`)
  if (item.sales_blocked !== 0 && head.kind !== 'creditMemo') {
    throw badValue('itemId', `the item ${number} is blocked for sales.`)
  }
  return withFound(lookups.taxPercent(taxAreaOf(head), code), (percent) => {
    const price = itemPrice(item, head, percent)
    draft.item_id = item.id
    draft.line_object_number = number
    draft.object_name = item.display_name
    draft.description = item.display_name
    draft.description_2 = item.display_name_2
    draft.unit_of_measure_id = item.base_unit_of_measure_id
    draft.unit_of_measure_code = item.base_unit_of_measure_code
    draft.unit_price = inRange('unitPrice', price)
    draft.tax_code = code
    draft.shipment_date = head.kind === 'quote' ? noDate : head.document_date
    draft.allows_invoice_discount = item.allow_invoice_discount
  })
}

/** The price of a base unit of the item in the document: with or without tax, in its currency. */
export function itemPrice(
  item: Pick<CellsOf<typeof tables.items>, 'unit_price' | 'price_includes_tax'>,
  head: Pick<DocumentHead, 'prices_include_tax'> & Rate,
  percent: number,
): number {
  const includesTax = item.price_includes_tax !== 0
  const local = convertPrice(item.unit_price, includesTax, head.prices_include_tax !== 0, percent)
  return fromLocal(local, head)
}

/** The tax area whose rates apply. */
export function taxAreaOf(document: Pick<DocumentHead, 'tax_liable' | 'tax_area_id'>): string {
  return document.tax_liable === 0 ? noGuid : document.tax_area_id
}

function takeAccount(draft: LineDraft, account: CellsOf<typeof tables.accounts>): void {
  const { number } = account
  if (account.blocked !== 0) throw badValue('accountId', `the account ${number} is blocked.`)
  if (account.account_type !== 'Posting' || account.direct_posting === 0) {
    throw badValue('accountId', `the account ${number} does not take direct postings.`)
  }
  draft.account_id = account.id
  draft.line_object_number = number
  draft.object_name = account.display_name
  draft.description = account.display_name
  // Accounts of earlier versions have their codes as they were written.
  draft.tax_code = account.tax_group_code.toUpperCase()
}
