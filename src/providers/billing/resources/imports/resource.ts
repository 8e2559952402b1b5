/** Files of transactions as resources: the progress of each, and its refused rows. */

import { refuse } from '#kernel/error.ts'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { billingVersion } from '../../domain/entity.ts'
import {
  importAnswer,
  ofImport,
  placeOf,
  refusalAnswer,
  showImport,
  stateColumns,
} from '../../domain/imports/import.ts'
import type { Ledger } from '../../domain/ledger/ledger.ts'
import { keysOf } from '../../domain/ledger/statements.ts'
import { entityName } from '../../domain/names.ts'
import { importRefusals, imports as importRows } from '../../domain/tables.ts'

export function imports(ledger: Ledger): readonly ResourceType[] {
  const { sql, words } = ledger
  const common = {
    scope: 'tenant',
    tracked: false,
    name: entityName,
    versions: [],
    apiVersions: [billingVersion],
  } as const
  return [
    defineComputed({
      ...common,
      type: 'Billing/billingAccounts/billingProfiles/imports',
      description: 'Files of transactions, and how far each has come.',
      answer: added(importAnswer),
      source: {
        async get({ id }) {
          const place = placeOf(parentOf(id))
          const [row] = await sql.all(
            `select ${stateColumns} from billing_imports where ${ofImport}`,
            ...keysOf(place),
            nameOf(id).toLowerCase(),
          )
          return row && showImport(words, place, importRows.row(row))
        },
        async list({ parent, cursor, limit }) {
          const place = placeOf(parent)
          const rows = await sql.all(
            `select ${stateColumns} from billing_imports
             where account_key = ? and profile_key = ? and name_key > ? order by name_key limit ?`,
            ...keysOf(place),
            cursor ?? '',
            limit + 1,
          )
          const shown = rows.slice(0, limit)
          const last = shown.at(-1)
          return {
            items: shown.map((row) => showImport(words, place, importRows.row(row))),
            ...(rows.length > limit && last !== undefined
              ? { next: importRows.row(last).name.toLowerCase() }
              : {}),
          }
        },
      },
    }),
    defineComputed({
      ...common,
      type: 'Billing/billingAccounts/billingProfiles/imports/refusals',
      description: 'The rows of a file that were refused, and why.',
      answer: added(refusalAnswer),
      source: {
        async list({ parent, cursor, limit }) {
          const keys = keysOf(placeOf(parentOf(parent)))
          const name = nameOf(parent).toLowerCase()
          const there = await sql.all(
            `select 1 from billing_imports where ${ofImport}`,
            ...keys,
            name,
          )
          if (there.length === 0) throw refuse.ResourceNotFound({ id: parent.text })
          const rows = await sql.all(
            `select line, place, reason from billing_import_refusals
             where ${ofImport} and line > ? order by line limit ?`,
            ...keys,
            name,
            Number(cursor ?? 0),
            limit + 1,
          )
          const shown = rows.slice(0, limit)
          const last = shown.at(-1)
          return {
            items: shown
              .map(importRefusals.row)
              .map(({ place, ...row }) => ({ ...row, column: place })),
            ...(rows.length > limit && last !== undefined ? { next: String(last['line']) } : {}),
          }
        },
      },
    }),
  ]
}
