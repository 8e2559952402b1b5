/** The tables of every area that owns some, in the order in which a store makes them. */

import { businessMigrations } from '#business/migrations.ts'
import { identityMigrations } from '#identity/migrations.ts'
import { providerMigrations } from '#providers/index.ts'
import type { Migration } from '#stores/store.ts'
import { installationMigrations } from '../installation/record.ts'

export const areaMigrations: readonly Migration[] = [
  ...installationMigrations,
  ...identityMigrations,
  ...businessMigrations,
  ...providerMigrations,
]
