/** The tables of every area, in the order in which a store creates them. */

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
