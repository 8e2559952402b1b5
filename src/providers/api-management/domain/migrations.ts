/**
 * Subscriptions of before are given their unique keys (`keyOfSubscription`). Letters beyond ASCII are compared as they are
 * written: a subscription that spells such a letter of its product otherwise is found again when it is next written.
 */

import type { Migration } from '#stores/store.ts'

const sqliteName = "substr(key, length(rtrim(key, replace(key, '/', ''))) + 1)"
const sqliteProducts = `substr(key, 1, length(key) - length(${sqliteName}) - length('subscriptions/')) || 'products/'`
const sqliteScope = "lower(json_extract(document, '$.model.scope'))"

const postgresProducts = "regexp_replace(key, 'subscriptions/[^/]*$', 'products/')"
// By its letters, since PostgreSQL reads no JSON that holds a NUL anywhere. Inside of another text its quotes would be escaped.
const postgresScope = `lower(substring(document from '"scope":"([^"\\\\]*)"') COLLATE "C")`

const ofSubscriptions = "type LIKE '%.apimanagement/service/subscriptions'"

export const apiManagementMigrations: readonly Migration[] = [
  {
    area: 'api-management',
    number: 1,
    sqlite: [
      `UPDATE resources SET unique_key = ${sqliteScope} || '#' || ${sqliteName}
        WHERE ${ofSubscriptions}
          AND substr(${sqliteScope}, 1, length(${sqliteProducts})) = ${sqliteProducts}
          AND instr(substr(${sqliteScope}, length(${sqliteProducts}) + 1), '/') = 0
          AND instr(${sqliteScope}, '#') = 0`,
    ],
    postgres: [
      `UPDATE resources SET unique_key = ${postgresScope} || '#' || regexp_replace(key, '^.*/', '')
        WHERE ${ofSubscriptions}
          AND starts_with(${postgresScope}, ${postgresProducts})
          AND strpos(substr(${postgresScope}, length(${postgresProducts}) + 1), '/') = 0
          AND strpos(${postgresScope}, '#') = 0`,
    ],
  },
]
