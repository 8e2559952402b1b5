/** Settings of database migrations: what the contract has no field for, so the operator says it. */

import { join, resolve } from 'node:path'
import { choice, type Setting, text, Wrong, whole } from './setting.ts'

export interface MigrationsConfig {
  readonly migrations: {
    /** Absolute; a folder for each migration under way. */
    readonly folder: string
    /** Where `pg_dump` and `pg_restore` are; the usual places are searched when undefined. */
    readonly client: string | undefined
    readonly fence: 'none' | 'cutover' | 'stay'
    readonly verify: 'none' | 'counts' | 'checksums'
    readonly tablesAtOnce: number
    /** By `host:port` as we reach a source: where target servers reach it, where that differs. */
    readonly sourcesFromTargets: ReadonlyMap<string, SourceFromTarget>
    /** The file at target servers with the authorities they trust sources by; theirs by default when undefined. */
    readonly authoritiesAtTarget: string | undefined
  }
}

interface SourceFromTarget {
  readonly host: string
  readonly port: number
}

const pairsMax = 100
const pairForm = /^([A-Za-z0-9._-]{1,255}:\d{1,5})=([A-Za-z0-9._-]{1,255}):(\d{1,5})$/

/** `127.0.0.1:5433=db:5432`, several with commas between them. */
const sourcesFromTargets: Setting<ReadonlyMap<string, SourceFromTarget>> = {
  expected: '`host:port=host:port`, several with commas between them',
  default: '',
  description:
    'For online migrations, where target servers reach a source under another name than this server does (containers): `127.0.0.1:5433=db:5432`.',
  parse(raw) {
    const list = typeof raw === 'string' ? raw.split(',').map((one) => one.trim()) : raw
    if (!Array.isArray(list) || list.length > pairsMax) return new Wrong()
    const pairs = new Map<string, SourceFromTarget>()
    for (const one of list) {
      if (one === '') continue
      const [, ours, host, port] = pairForm.exec(String(one)) ?? []
      if (ours === undefined || host === undefined || Number(port) < 1 || Number(port) > 65_535) {
        return new Wrong(`${JSON.stringify(one)} is no \`host:port=host:port\``)
      }
      pairs.set(ours.toLowerCase(), { host, port: Number(port) })
    }
    return pairs
  },
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
  migrationsFence: choice(['stay', 'cutover', 'none'], {
    default: 'stay',
    description:
      'When a database is cut over, its sessions at the source are ended and new ones may only read. `stay`: for good, so that nobody writes to the old one; `cutover`: until it is done; `none`: whoever writes must be stopped first.',
  }),
  migrationsVerify: choice(['none', 'counts', 'checksums'], {
    default: 'counts',
    description: 'What is compared before a migrated database counts as done.',
  }),
  migrationsTablesAtOnce: whole(1, 16, {
    default: '4',
    description: 'Tables of a database that are copied at the same time.',
  }),
  migrationsSourcesFromTargets: sourcesFromTargets,
  migrationsAuthoritiesAtTargets: text('empty, `system`, or a file', (v) => !v.includes('\0'), {
    default: '',
    description:
      'For online migrations with `VerifyCA` or `VerifyFull`: the file *at the target servers* with the authorities that they trust sources by, or `system` for those of their operating system (from version 16). Empty is their own default, `.postgresql/root.crt` in the home of the user they run as.',
  }),
} as const

export function arrangeMigrations(
  named: {
    readonly home: string
    readonly migrationsFolder: string
    readonly migrationsClient: string
    readonly migrationsFence: 'none' | 'cutover' | 'stay'
    readonly migrationsVerify: 'none' | 'counts' | 'checksums'
    readonly migrationsTablesAtOnce: number
    readonly migrationsSourcesFromTargets: ReadonlyMap<string, SourceFromTarget>
    readonly migrationsAuthoritiesAtTargets: string
  },
  directory: string,
): MigrationsConfig {
  const { home, migrationsFolder: folder, migrationsClient: client } = named
  const authorities = named.migrationsAuthoritiesAtTargets
  return {
    migrations: {
      folder: resolve(directory, folder === '' ? join(home, 'migrations') : folder),
      client: client === '' ? undefined : resolve(directory, client),
      fence: named.migrationsFence,
      verify: named.migrationsVerify,
      tablesAtOnce: named.migrationsTablesAtOnce,
      sourcesFromTargets: named.migrationsSourcesFromTargets,
      authoritiesAtTarget: authorities === '' ? undefined : authorities,
    },
  }
}
