/** Every field, join and navigation of the entities has its columns in the tables. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { etagOf, type Field } from './entity.ts'
import { businessModel } from './model.ts'

/** Including nested fields. */
function flat(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((one) => (one.type.kind === 'complex' ? flat(one.type.fields) : [one]))
}

for (const { set, table, joins, fields, navigations } of businessModel.entities) {
  test(`${set}: fields, joins and navigations have their columns`, () => {
    const missing: string[] = []
    const tables = new Map(joins.map((join) => [join.name, join.table]))
    const look = (column: string, join?: string) => {
      const { columns, name } = join === undefined ? table : (tables.get(join) ?? assert.fail(join))
      if (!Object.hasOwn(columns, column)) missing.push(`${name}.${column}`)
    }
    for (const { type, column, join } of flat(fields)) {
      if (type.kind !== 'nothing') look(column, join)
    }
    for (const { name, on } of joins) {
      for (const { foreign, local } of on) {
        look(foreign, name)
        look(local.column, local.join)
      }
    }
    for (const { target, on } of navigations) {
      look(on.local)
      const led = businessModel.entities.find((one) => one.set === target)?.table
      if (led === undefined || !Object.hasOwn(led.columns, on.foreign)) missing.push(target)
    }
    assert.deepEqual(missing, [])
  })
}

test('the tag of a row stays the same in every version of this server, since clients keep it', () => {
  const id = '0198f0a0-1b2c-7abc-9def-0123456789ab'
  for (const revision of [1, 12, 123]) {
    const tag = Buffer.from(`${id};${revision}`).toString('base64url')
    assert.equal(etagOf(id, revision), `W/"${tag}"`)
  }
})
