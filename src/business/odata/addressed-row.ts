/**
 * Restricts rows to the one an address means, writes a row's own address, and makes the message when there is no
 * such row.
 */

import type { SqlValue } from '#stores/store.ts'
import { type Fragment, joined } from '../compile/fragment.ts'
import type { SqlWriter } from '../compile/sql.ts'
import type { Entity } from '../entity.ts'
import { refuse } from '../errors.ts'
import type { Conditions } from './level-statement.ts'
import type { Key, Segment } from './request.ts'

/** With `areFound` other conditions find the rows, and nothing goes through those of the company. */
export function ofCompany(
  entity: Entity,
  companyId: string | undefined,
  areFound = false,
): (writer: SqlWriter) => readonly Fragment[] {
  return (writer) => {
    if (entity.scope === 'installation') return []
    if (companyId === undefined) throw new Error(`Rows of ${entity.set} belong to a company.`)
    const column = areFound ? writer.withoutIndex('t0.company_id') : 't0.company_id'
    return [joined(`${column} = `, writer.parameter('text', companyId))]
  }
}

export function columnEquals(writer: SqlWriter, column: string, value: SqlValue): Fragment {
  return joined(`t0.${column} = `, writer.parameter('text', value))
}

export function keyConditions(key: Key): Conditions {
  return (writer, source) => key.map(({ field, value }) => writer.equal(source, field, value))
}

export function writtenPart({ field, value }: Key[number]): string {
  const written =
    field.type.kind === 'string'
      ? `'${encodeURIComponent(String(value).replaceAll("'", "''"))}'`
      : `${value}`
  return field.name === 'id' ? written : `${field.name}=${written}`
}

export function describeKey(key: Key): string {
  return key.map(({ field, value }) => `${field.name} '${String(value).slice(0, 80)}'`).join(', ')
}

export function absent({ entity, key, navigation }: Segment): Error {
  const named = key === undefined ? `a place at the end of '${navigation?.name}'` : describeKey(key)
  return refuse.BadRequest_ResourceNotFound({ type: entity.type, key: named })
}

export function below(companyId: string | undefined): string {
  return companyId === undefined ? '' : `companies(${companyId})/`
}
