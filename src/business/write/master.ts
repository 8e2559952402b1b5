/** Creates, changes and removes master data by the declarations and `master-rules.ts`. Documents are elsewhere. */

import { deleteRows, findRow, insertRow } from '#query/rows.ts'
import type { Cells } from '#query/table.ts'
import type { SqlValue } from '#stores/store.ts'
import { checkSeries, nextFreeNumber } from '../documents/numbers.ts'
import { lockLedger, Posting } from '../documents/posting.ts'
import { decimalUnit, type Entity, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import * as tables from '../tables.ts'
import { createLookups, reference } from './lookups.ts'
import { type MasterRules, masterRules } from './master-rules.ts'
import {
  changedCells,
  deleteInTurns,
  lockRow,
  takeTurn,
  today,
  updateRow,
  type WriteContext,
} from './rows.ts'
import { checkTag, type Target } from './tag.ts'
import { type Body, emptyValue, type Given, type GivenFields, readBody } from './values.ts'

type DraftCells = Record<string, SqlValue>

/** What a POST through a navigation adds to its body: the owner's column and id. */
export interface Owner {
  readonly column: string
  readonly id: string
}

export async function createMaster(
  context: WriteContext,
  entity: Entity,
  body: Body,
  owner?: Owner,
): Promise<string> {
  const rules = masterRules[entity.set] ?? {}
  const given = readBody(entity, context.version, withOwner(entity, body, owner))
  const cells: DraftCells = {}
  for (const field of entity.fields) {
    if (field.join === undefined && field.column !== '') cells[field.column] = emptyValue(field)
  }
  Object.assign(cells, rules.defaults)
  await applyGiven(context, cells, given, rules)
  if (rules.series !== undefined && cells['number'] === '') {
    cells['number'] = await nextFreeNumber(context, rules.series)
  }
  for (const name of rules.required ?? []) {
    const field = entity.fields.find((one) => one.name === name)
    const cell = field === undefined ? '' : cells[field.column]
    if (cell !== '' && cell !== noGuid && cell !== 0) continue
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name, reason: `every ${entity.type} has one.` },
      { target: name },
    )
  }
  const id = reference('id', 'id', given.get('id')?.value)?.value ?? context.ids.uuid()
  const row = {
    ...cells,
    id,
    revision: 1,
    ...(entity.scope === 'company' ? { company_id: context.companyId } : {}),
    ...touched(entity, context, true),
  }
  await refuseTaken(context, entity, row)
  if (entity.table === tables.itemUnits) await requireQuantity(context, row)
  if (cells['inventory'] !== undefined && cells['inventory'] !== 0) await lockLedger(context)
  await insertRow(context.tx, entity.table, row)
  await adjust(context, row, Number(cells['inventory'] ?? 0))
  return id
}

function withOwner(entity: Entity, body: Body, owner: Owner | undefined): Body {
  const field = entity.fields.find(({ column }) => column === owner?.column)
  if (owner === undefined || field === undefined) return body
  return { ...body, [field.name]: owner.id }
}

/** Returns the row as it was. */
export async function changeMaster(
  context: WriteContext,
  target: Target,
  body: Body,
): Promise<Cells> {
  const { entity, id } = target
  const given = readBody(entity, context.version, body)
  if (given.has('inventory')) await lockLedger(context)
  // PostgreSQL locks a row whose unique name changes as one that is removed.
  if (entity.table === tables.companies && given.has('name')) await takeTurn(context, target.id)
  if (entity.table === tables.itemUnits) await keepItemOf(context, id)
  const row = await lockMaster(context, target, given)
  const open = new Map<string, Given>()
  for (const [name, one] of given) {
    const { field, value } = one
    if (field.write !== 'create') open.set(name, one)
    // What is fixed and left empty stays as it is.
    else if (value !== row[field.column] && value !== emptyValue(field))
      throw ruleBroken(`'${name}' cannot be changed.`, name)
  }
  const cells: DraftCells = { ...row }
  await applyGiven(context, cells, open, masterRules[entity.set] ?? {})
  const changed = changedCells<DraftCells>(row, cells)
  if (Object.keys(changed).length === 0) return row
  if (entity.set === 'companies' && changed['name'] !== undefined) {
    requireCompanyName(cells['name'])
    await refuseTaken(context, entity, cells, entity.alternateKeys)
  }
  if (entity.set === 'numberSeries') await checkSeries(context, cells)
  if (entity.set === 'accounts' && changed['account_type'] !== undefined)
    await refuseBooked(context, cells)
  if (entity.set === 'postingAccounts') await requireOpenAccount(context, cells)
  if (changed['quantity_per_unit'] !== undefined) {
    const isBase = await requireQuantity(context, cells)
    if (!isBase) await refuseUsedUnit(context, row)
  }
  if (entity.set === 'items') await refuseUsedItem(context, row, changed)
  await updateRow(context.tx, entity.table, id, { ...changed, ...touched(entity, context, false) })
  if (changed['inventory'] !== undefined)
    await adjust(context, cells, Number(changed['inventory']) - Number(row['inventory']))
  return row
}

export function requireCompanyName(name: unknown): void {
  if (typeof name !== 'string' || name === '') {
    throw ruleBroken("A company needs a 'name'.", 'name')
  }
}

/** The stock that a line moves is counted in base units. */
async function refuseUsedUnit({ tx }: WriteContext, row: Cells): Promise<void> {
  const cells = {
    item_id: String(row['item_id']),
    unit_of_measure_id: String(row['unit_of_measure_id']),
  }
  if ((await findRow(tx, tables.lines, cells, ' limit 1')) === undefined) return
  throw ruleBroken('The unit of the item is in use by a line; it is kept as it is.')
}

/**
 * What was posted is taken back as what it was: with its stock, in the same units, and on the same account. A first base
 * unit changes what is in that unit alone.
 */
async function refuseUsedItem(
  context: WriteContext,
  row: Cells,
  changed: Partial<DraftCells>,
): Promise<void> {
  const { tx } = context
  const { type, base_unit_of_measure_id: unit } = changed
  if (type === undefined && unit === undefined) return
  const id = String(row['id'])
  // Lines that are being written keep the item as it is. Another change may have come before the lock.
  await lockRow(context, tables.items, { id }, 'removal')
  const cells = { item_id: id }
  const ofUnit = { ...cells, unit_of_measure_id: String(unit) }
  const isFirst = type === undefined && row['base_unit_of_measure_id'] === noGuid
  const user = isFirst
    ? await findRow(tx, tables.lines, ofUnit, ' limit 1')
    : ((await findRow(tx, tables.lines, cells, ' limit 1')) ??
      (await findRow(tx, tables.itemLedgerEntries, cells, ' limit 1')))
  if (user !== undefined)
    throw ruleBroken(
      `The item ${String(row['number'])} is in use by lines or entries; its type and its base unit stay.`,
      type === undefined ? 'baseUnitOfMeasureId' : 'type',
    )
  const counted = unit === undefined ? undefined : await findRow(tx, tables.itemUnits, ofUnit)
  if ((counted?.quantity_per_unit ?? decimalUnit) !== decimalUnit)
    throw badValue(
      'baseUnitOfMeasureId',
      "the 'quantityPerUnit' of the item in this unit is not 1.",
    )
}

/** A base unit counts as one. Returns whether it is one. */
async function requireQuantity(context: WriteContext, unit: DraftCells): Promise<boolean> {
  const item = await lockRow(context, tables.items, { id: String(unit['item_id']) }, 'reference')
  const isBase = item?.base_unit_of_measure_id === unit['unit_of_measure_id']
  if (isBase && unit['quantity_per_unit'] !== decimalUnit)
    throw badValue('quantityPerUnit', 'the base unit of the item counts as 1.')
  return isBase
}

/** The item of a unit, which whoever removes it locks before its units. A unit stays with its item. */
async function keepItemOf(context: WriteContext, id: string): Promise<void> {
  const { tx, companyId: company_id } = context
  const unit = await findRow(tx, tables.itemUnits, { id, company_id })
  if (unit !== undefined) await lockRow(context, tables.items, { id: unit.item_id }, 'reference')
}

/** What was booked on an account stays on one that takes postings. */
async function refuseBooked({ tx }: WriteContext, { id, number }: DraftCells): Promise<void> {
  const row = await findRow(tx, tables.generalLedgerEntries, { account_id: String(id) }, ' limit 1')
  if (row === undefined) return
  throw ruleBroken(`The account ${String(number)} has entries; its type stays.`, 'accountType')
}

async function requireOpenAccount(context: WriteContext, cells: DraftCells): Promise<void> {
  const { tx, companyId: company_id } = context
  const account = await findRow(tx, tables.accounts, {
    id: String(cells['account_id']),
    company_id,
  })
  if (account === undefined || (account.account_type === 'Posting' && account.blocked === 0)) return
  throw badValue(
    'accountId',
    `the account ${account.number} is blocked, or is not one that takes postings.`,
  )
}

/** A counted change of stock has an entry too. */
async function adjust(context: WriteContext, item: DraftCells, by: number): Promise<void> {
  if (by === 0) return
  const source = { type: ' ', number: '', id: noGuid, date: today(context) } as const
  const posting = new Posting(context, { ...source, description: '', customer: undefined })
  const named = {
    id: String(item['id']),
    number: String(item['number']),
    description: String(item['display_name']),
  }
  posting.stocked(named, by, by > 0 ? 'Positive Adjmt.' : 'Negative Adjmt.')
  await posting.finish()
}

export async function removeMaster(context: WriteContext, target: Target): Promise<void> {
  const { entity, id } = target
  const row = await lockMaster(context, target)
  if (entity.table === tables.itemUnits) await refuseUsedUnit(context, row)
  const rules = masterRules[entity.set] ?? {}
  for (const { table, column, what } of rules.usedBy ?? []) {
    const [user] = await context.tx.all(
      // As the index says that has only rows with a reference.
      `select id from ${table.name} where ${column} = ? and ${column} <> '${noGuid}' limit 1`,
      id,
    )
    if (user !== undefined) throw ruleBroken(`The ${entity.type} is in use by ${what}; it is kept.`)
  }
  for (const { table, column } of rules.owns ?? []) {
    await deleteInTurns(context, table, `${column} = ? and company_id = ?`, [id, context.companyId])
  }
  await deleteRows(context.tx, entity.table, { id })
}

/** The row, if it has the tag that the caller knows. Without `given` it is removed, and that alone needs no tag. */
async function lockMaster(
  context: WriteContext,
  target: Target,
  given?: GivenFields,
): Promise<Cells> {
  const { entity, id } = target
  const cells = entity.scope === 'company' ? { id, company_id: context.companyId } : { id }
  if (entity.table === tables.accessRights) await takeTurn(context, id)
  const row = await lockRow(context, entity.table, cells, await purposeOf(context, target, given))
  if (row === undefined) {
    throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
  }
  const isTagRequired = given !== undefined
  checkTag(target, { revision: Number(row['revision']) }, isTagRequired, context.conflictStatus)
  return row
}

/** Of the lock that is needed in the end: raising one could stop whoever shares the row and changes it later. */
async function purposeOf(
  { tx, companyId: company_id }: WriteContext,
  { entity, id }: Target,
  given: GivenFields | undefined,
): Promise<'change' | 'removal'> {
  // Lines that are being written keep the quantity of their unit.
  if (given === undefined || entity.table === tables.itemUnits) return 'removal'
  if (entity.table !== tables.items) return 'change'
  const names = ['type', 'baseUnitOfMeasureId', 'baseUnitOfMeasureCode']
  const kept = names.flatMap((name) => given.get(name) ?? [])
  if (kept.length === 0) return 'change'
  const row: Cells | undefined = await findRow(tx, tables.items, { id, company_id })
  return kept.some(({ field, value }) => row?.[field.column] !== value) ? 'removal' : 'change'
}

async function applyGiven(
  context: WriteContext,
  cells: DraftCells,
  given: GivenFields,
  rules: MasterRules,
): Promise<void> {
  for (const [name, { field, value }] of given) {
    if (name === 'id' || typeof value === 'object') continue
    const range = rules.ranges?.[name]
    if (range !== undefined && (Number(value) < range[0] || Number(value) > range[1])) {
      throw badValue(
        name,
        `between ${range[0] / decimalUnit} and ${range[1] / decimalUnit} is allowed.`,
      )
    }
    const wrong = rules.checks?.[name]?.(String(value))
    if (wrong !== undefined) throw badValue(name, wrong)
    cells[field.column] =
      rules.upper?.includes(name) === true && typeof value === 'string'
        ? value.toUpperCase()
        : value
  }
  const lookups = createLookups(context)
  for (const pair of rules.pairs ?? []) {
    const byId = given.get(pair.id)
    const byCode = given.get(pair.code)
    if (byId === undefined && byCode === undefined) continue
    const code = byCode?.value
    const row = await lookups.agree(pair.table, pair.type, [
      reference(pair.id, 'id', byId?.value),
      reference(
        pair.code,
        pair.by,
        typeof code === 'string' && pair.by === 'code' ? code.toUpperCase() : code,
      ),
    ])
    const columns = [
      byId?.field.column ?? snake(pair.id),
      byCode?.field.column ?? snake(pair.code),
    ] as const
    if (Object.hasOwn(cells, columns[0])) cells[columns[0]] = row === undefined ? noGuid : row.id
    if (Object.hasOwn(cells, columns[1])) cells[columns[1]] = row?.[pair.by] ?? ''
  }
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A clear message, before the index would fail without one. */
async function refuseTaken(
  context: WriteContext,
  entity: Entity,
  cells: DraftCells,
  keys: Entity['alternateKeys'] = [['id'], ...entity.alternateKeys],
): Promise<void> {
  for (const key of keys) {
    const fields = key.flatMap((name) => entity.fields.find((field) => field.name === name) ?? [])
    const columns = fields.map(({ column }) => column)
    const wanted: DraftCells = Object.fromEntries(
      columns.map((column) => [column, cells[column] ?? '']),
    )
    if (entity.scope === 'company' && key[0] !== 'id') wanted['company_id'] = context.companyId
    if ((await findRow(context.tx, entity.table, wanted)) === undefined) continue
    const property = key.at(-1) ?? 'id'
    const value = String(cells[columns.at(-1) ?? 'id'])
    throw refuse.Internal_EntityWithSameKeyExists(
      { property, type: entity.type, value },
      { target: property },
    )
  }
}

function touched(entity: Entity, context: WriteContext, isNew: boolean): DraftCells {
  if (entity.set !== 'companies') return { last_modified_date_time: context.now }
  return {
    system_modified_at: context.now,
    system_modified_by: context.principalId,
    ...(isNew ? { system_created_at: context.now, system_created_by: context.principalId } : {}),
  }
}
