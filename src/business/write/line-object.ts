/**
 * What a line is about: its type and the item or account behind it, and what follows from them (business facts 4 and 6).
 * Independent of the order of the properties in a body.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'
import { convertPrice } from '../amounts/line.ts'
import type { LineType } from '../entities/sales-lines.ts'
import { noDate, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import { type Found, type Lookups, reference, withFound } from './lookups.ts'
import { flagOf, numberOf, textOf } from './rows.ts'
import { type GivenFields, inRange, type Parts } from './values.ts'

/** A line being made or changed: cells by column. */
export type LineDraft = Record<string, SqlValue>

/** Of the line's document, what its lines depend on. */
export interface DocumentFacts {
  readonly kind: string
  readonly taxAreaId: string
  readonly taxLiable: boolean
  readonly pricesIncludeTax: boolean
  readonly documentDate: string
}

/** What a line of any type begins with, and goes back to when its type is changed. */
export const bareLine: Readonly<LineDraft> = Object.freeze({
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

/** Applies type and object; true when the line is about something else now than before. */
export function applyObject(
  draft: LineDraft,
  given: GivenFields,
  document: DocumentFacts,
  lookups: Lookups,
  manner: { readonly isNew: boolean; readonly untyped: LineType },
): Found<boolean> {
  const item = reference('itemId', 'id', given.get('itemId')?.value)
  const account = reference('accountId', 'id', given.get('accountId')?.value)
  if (item !== undefined && account !== undefined) {
    throw ruleBroken(
      "'itemId' and 'accountId' exclude each other: a line is about one thing.",
      'accountId',
    )
  }
  const number = wantedNumber(given)
  const type = wantedType(draft, given, item !== undefined, account !== undefined, number, manner)
  const isOfType = !manner.isNew && draft['line_type'] === type
  // A new line is bare already.
  if (!isOfType && !manner.isNew) Object.assign(draft, bareLine)
  draft['line_type'] = type
  if (isOfType) refuseTakingAway(draft, given, item !== undefined || account !== undefined)
  if (type === 'Comment') {
    if (number !== undefined && number.value !== draft['line_object_number']) {
      throw badValue(number.property, "a comment has no object; set 'lineType' to Item or Account.")
    }
    return !isOfType
  }
  // Of a line that has one already the number stays; it is changed by `itemId` or `accountId` (business facts 3).
  if (isOfType && number !== undefined && draft['line_object_number'] !== '') {
    if (number.value === draft['line_object_number'] && item === undefined && account === undefined)
      return false
    if (item === undefined && account === undefined) {
      throw badValue(number.property, "cannot be changed; set 'itemId' or 'accountId' instead.")
    }
  }
  const [table, name, by] =
    type === 'Item'
      ? (['business_items', 'item', item] as const)
      : (['business_accounts', 'account', account] as const)
  return withFound(lookups.agree(table, name, [by, number]), (row) => {
    if (row === undefined) return !isOfType
    const column = type === 'Item' ? 'item_id' : 'account_id'
    if (isOfType && draft[column] === row['id']) return false
    const quantity = draft['quantity'] ?? 0
    if (!manner.isNew) Object.assign(draft, bareLine, { line_type: type, quantity })
    if (type === 'Item') return withFound(takeItem(draft, row, document, lookups), () => true)
    takeAccount(draft, row)
    return true
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
  draft: LineDraft,
  given: GivenFields,
  isItem: boolean,
  isAccount: boolean,
  number: { readonly property: string } | undefined,
  manner: { readonly isNew: boolean; readonly untyped: LineType },
): string {
  const told = given.get('lineType')?.value
  const byObject = isItem ? 'Item' : isAccount ? 'Account' : undefined
  if (typeof told === 'string') {
    if (!writable.has(told)) {
      throw badValue(
        'lineType',
        `lines of the type '${told}' are not written here; Comment, Account and Item are.`,
      )
    }
    // An echo of the whole line with another object in it: the object says what the line is to be.
    const isEcho = !manner.isNew && told === draft['line_type']
    if (byObject !== undefined && told !== byObject && !isEcho) {
      throw badValue(
        'lineType',
        `'${told}' does not go with ${isItem ? "'itemId'" : "'accountId'"}.`,
      )
    }
    return byObject ?? told
  }
  if (byObject !== undefined) return byObject
  if (!manner.isNew) return String(draft['line_type'])
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

/** The zero GUID for the object a line has: told what to do instead of being passed over. */
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
  item: SqlRow,
  document: DocumentFacts,
  lookups: Lookups,
): Found<void> {
  const number = textOf(item, 'number')
  if (flagOf(item, 'blocked')) throw badValue('itemId', `the item ${number} is blocked.`)
  if (flagOf(item, 'sales_blocked') && document.kind !== 'creditMemo') {
    throw badValue('itemId', `the item ${number} is blocked for sales.`)
  }
  const code = textOf(item, 'tax_group_code')
  const area = document.taxLiable ? document.taxAreaId : noGuid
  return withFound(lookups.taxPercent(area, code), (percent) => {
    const price = convertPrice(
      numberOf(item, 'unit_price'),
      flagOf(item, 'price_includes_tax'),
      document.pricesIncludeTax,
      percent,
    )
    draft['item_id'] = textOf(item, 'id')
    draft['line_object_number'] = number
    draft['object_name'] = textOf(item, 'display_name')
    draft['description'] = textOf(item, 'display_name')
    draft['description_2'] = textOf(item, 'display_name_2')
    draft['unit_of_measure_id'] = textOf(item, 'base_unit_of_measure_id')
    draft['unit_of_measure_code'] = textOf(item, 'base_unit_of_measure_code')
    draft['unit_price'] = inRange('unitPrice', price)
    draft['tax_code'] = code
    draft['shipment_date'] = document.kind === 'quote' ? noDate : document.documentDate
    draft['allows_invoice_discount'] = numberOf(item, 'allow_invoice_discount')
  })
}

function takeAccount(draft: LineDraft, account: SqlRow): void {
  const number = textOf(account, 'number')
  if (flagOf(account, 'blocked')) throw badValue('accountId', `the account ${number} is blocked.`)
  if (textOf(account, 'account_type') !== 'Posting' || !flagOf(account, 'direct_posting')) {
    throw badValue('accountId', `the account ${number} does not take direct postings.`)
  }
  Object.assign(draft, {
    account_id: textOf(account, 'id'),
    line_object_number: number,
    object_name: textOf(account, 'display_name'),
    description: textOf(account, 'display_name'),
    tax_code: textOf(account, 'tax_group_code'),
  })
}
