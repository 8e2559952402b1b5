/** Settings of database migrations: what the contract has no field for, so the operator says it. */

import { join, resolve } from 'node:path'
import { choice, flag, text, whole } from './setting.ts'

export interface MigrationsConfig {
  readonly migrations: {
    /** Absolute; a folder for each migration under way. */
    readonly folder: string
    /** Where `pg_dump` and `pg_restore` are; the usual places are searched when undefined. */
    readonly client: string | undefined
    readonly fence: boolean
    readonly verify: 'none' | 'counts' | 'checksums'
    readonly tablesAtOnce: number
  }
}

export const migrationsSettings = {
  migrationsFolder: text('empty, or a folder', (v) => !v.includes('\0'), {
    default: '',
    description:
      'Where database migrations under way keep their records. Replicas must see the same one. Empty is `migrations` in the home.',
  }),
  migrationsClient: text('empty, or a folder', (v) => !v.includes('\0'), {
    default: '',
    description:
      'The folder of `pg_dump` and `pg_restore`, at least as new as every source. Empty searches the usual places.',
  }),
  migrationsFence: flag({
    default: 'true',
    description:
      'While a database is cut over, end its sessions at the source and let new ones only read. Without it whoever writes must be stopped first.',
  }),
  migrationsVerify: choice(['none', 'counts', 'checksums'], {
    default: 'counts',
    description: 'What is compared before a migrated database counts as done.',
  }),
  migrationsTablesAtOnce: whole(1, 16, {
    default: '4',
    description: 'Tables of a database that are copied at the same time.',
  }),
} as const

export function arrangeMigrations(
  named: {
    readonly home: string
    readonly migrationsFolder: string
    readonly migrationsClient: string
    readonly migrationsFence: boolean
    readonly migrationsVerify: 'none' | 'counts' | 'checksums'
    readonly migrationsTablesAtOnce: number
  },
  directory: string,
): MigrationsConfig {
  const { home, migrationsFolder: folder, migrationsClient: client } = named
  return {
    migrations: {
      folder: resolve(directory, folder === '' ? join(home, 'migrations') : folder),
      client: client === '' ? undefined : resolve(directory, client),
      fence: named.migrationsFence,
      verify: named.migrationsVerify,
      tablesAtOnce: named.migrationsTablesAtOnce,
    },
  }
}
