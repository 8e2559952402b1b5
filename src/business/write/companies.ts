/** Creates a company with its posting accounts and its creator's right, and removes it with everything in it. */

import { deleteRows, insertRow } from '#query/rows.ts'
import type { Table } from '#query/table.ts'
import { createSeries } from '../documents/numbers.ts'
import { createAccounts } from '../documents/posting-accounts.ts'
import type { Model } from '../entity.ts'
import { type Entity, noGuid } from '../entity.ts'
import { ruleBroken } from '../errors.ts'
import * as tables from '../tables.ts'
import { createMaster, removeMaster, requireCompanyName } from './master.ts'
import { deleteInTurns, lockRow, newId, takeTurn, type WriteContext } from './rows.ts'
import type { Target } from './tag.ts'
import type { Body } from './values.ts'

export async function createCompany(
  context: WriteContext,
  entity: Entity,
  body: Body,
): Promise<string> {
  const id = await createMaster(context, entity, {
    localCurrencyCode: 'USD',
    ...(typeof body['name'] === 'string' ? { displayName: body['name'] } : {}),
    ...body,
  })
  requireCompanyName(body['name'])
  await createAccounts(context, id)
  await createSeries(context, id)
  await insertRow(context.tx, tables.companyInformation, {
    id: newId(context),
    company_id: id,
    revision: 1,
    display_name: String(body['displayName'] || body['name']).slice(0, 100),
    last_modified_date_time: context.now,
  })
  if (context.principalId !== noGuid) {
    await insertRow(context.tx, tables.accessRights, {
      id: context.ids.uuid(),
      company_id: id,
      revision: 1,
      principal_id: context.principalId,
      role: 'full',
      description: 'Made the company.',
      last_modified_date_time: context.now,
    })
  }
  return id
}

export async function removeCompany(
  context: WriteContext,
  model: Model,
  target: Target,
): Promise<void> {
  const { id } = target
  // First, so that what is being posted in it is seen below.
  await takeTurn(context, id)
  await lockRow(context, tables.companies, { id }, 'removal')
  const [posted] = await context.tx.all(
    `select id from business_documents
       where company_id = ? and kind <> 'quote' and status not in ('Draft', 'In Review')
     union all select id from business_general_ledger_entries where company_id = ? limit 1`,
    id,
    id,
  )
  if (posted !== undefined)
    throw ruleBroken('The company has posted documents or payments; it is kept.')
  await removeMaster(context, target)
  await deleteRows(context.tx, tables.subscriptions, { company_id: id })
  for (const one of ownedRows) await removeOwned(context, id, one)
  const ofCompany = model.entities.filter(({ scope }) => scope === 'company')
  const below = new Set(ownedRows.flatMap((one) => one.below.map(({ name }) => name)))
  for (const table of new Set([...ofCompany.map(({ table: own }) => own), tables.counters])) {
    if (!below.has(table.name)) await deleteInTurns(context, table, 'company_id = ?', [id])
  }
  await deleteRows(context.tx, tables.followedSets, { company_id: id })
  await deleteInTurns(context, { name: 'business_row_changes' }, 'company_id = ?', [id])
}

type Named = Pick<Table, 'name'>

interface OwnedRows {
  readonly table: Named
  readonly column: string
  readonly below: readonly Named[]
}

/** Rows with the rows below them, which no index finds by their company. */
const ownedRows: readonly OwnedRows[] = [
  {
    table: tables.documents,
    column: 'document_id',
    below: [tables.lines, tables.documentTaxGroups, tables.lineBlocks],
  },
  { table: tables.items, column: 'item_id', below: [tables.itemVariants, tables.itemUnits] },
]
const ownersAtOnce = { sqlite: 10, postgres: 1_000 } as const

async function removeOwned(
  context: WriteContext,
  companyId: string,
  { table: { name }, column, below }: OwnedRows,
): Promise<void> {
  const { tx, dialect } = context
  const some = `select id from ${name} where company_id = ? limit ${ownersAtOnce[dialect]}`
  for (;;) {
    const ids = (await tx.all(some, companyId)).map(({ id }) => String(id))
    if (ids.length === 0) return
    const among = `in (${ids.map(() => '?').join(', ')})`
    for (const table of below) await deleteInTurns(context, table, `${column} ${among}`, ids)
    await tx.run(`delete from ${name} where id ${among}`, ...ids)
  }
}
