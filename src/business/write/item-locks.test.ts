/** Locks of items and of what is below them, on PostgreSQL, which locks each row. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { until } from '../../../tests/until.ts'
import { openCompany } from '../testing/books.ts'

test('changes of items and of their units wait for each other in one order', async (t) => {
  await using company = await openCompany(t, 'postgres', { transactionRetriesMax: 1 })
  if (company === undefined) return
  const { sql, itemId } = company
  const unitOfMeasureId = await company.create('unitsOfMeasure', { code: 'BOX' })
  const unit = { itemId, unitOfMeasureId, quantityPerUnit: 5 }
  const unitId = await company.create('itemUnitsOfMeasure', unit)
  const outside = AsyncLocalStorage.snapshot()
  const isWaiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  const item = 'select id from business_items where id = ?'
  const units = 'select id from business_item_units_of_measure where item_id = ?'
  for (const [first, then, set, id, body] of [
    // As the removal of the item does.
    [
      `${item} for update`,
      `${units} for update`,
      'itemUnitsOfMeasure',
      unitId,
      { quantityPerUnit: 6 },
    ],
    // As a change set that refers to the item before it changes it.
    [`${item} for key share`, `${item} for no key update`, 'items', itemId, { type: 'Service' }],
  ] as const) {
    const changes = await sql.transact(async (tx) => {
      await tx.all(first, itemId)
      const change = outside(() => company.change(set, id, body, '*'))
      change.catch(() => undefined)
      await until(async () => (await outside(() => sql.all(isWaiting))).length === 1)
      await tx.all(then, itemId)
      return [change]
    })
    await Promise.all(changes)
  }
})
