/** Settings of database migrations: values for which the contract has no field. */

import { join, resolve } from 'node:path'
import { choice, type Setting, text, Wrong, wholeNumber } from './setting.ts'

export interface MigrationsConfig {
  readonly migrations: {
    /** An absolute path, with a folder for each running migration. */
    readonly folder: string
    /** The folder of `pg_dump` and `pg_restore`; the usual places are searched when undefined. */
    readonly client: string | undefined
    /** The bound of memory of each of them. */
    readonly clientMegabytes: number
    readonly fence: 'none' | 'cutover' | 'stay'
    readonly verify: 'none' | 'counts' | 'checksums'
    readonly atOnceMax: number
    readonly tablesAtOnce: number
    readonly databasesAtOnce: number
    /** Where target servers reach a source, by the `host:port` this server uses, if it differs. */
    readonly sourcesFromTargets: ReadonlyMap<string, HostAndPort>
    /** The address of servers that are created without one, by server name. `*` is every other server. */
    readonly serverAddresses: ReadonlyMap<string, HostAndPort>
    /**
     * The file on target servers with the certificate authorities they trust for sources; their default when
     * undefined.
     */
    readonly authoritiesAtTarget: string | undefined
  }
}

interface HostAndPort {
  readonly host: string
  readonly port: number
}

const pairsMax = 100
const place = '([A-Za-z0-9._-]{1,255}):(\\d{1,5})'

/** `key=host:port`, several separated by commas. `key` is a pattern, and `keyForm` describes it. */
function addresses(
  key: string,
  keyForm: string,
  description: string,
): Setting<ReadonlyMap<string, HostAndPort>> {
  const pairForm = new RegExp(`^(${key})=${place}$`)
  return {
    expected: `\`${keyForm}=host:port\`, several with commas between them`,
    default: '',
    description,
    parse(raw) {
      const list = typeof raw === 'string' ? raw.split(',').map((one) => one.trim()) : raw
      if (!Array.isArray(list) || list.length > pairsMax) return new Wrong()
      const pairs = new Map<string, HostAndPort>()
      for (const one of list) {
        if (one === '') continue
        const [, from, host, port] = pairForm.exec(String(one)) ?? []
        if (from === undefined || host === undefined || Number(port) < 1 || Number(port) > 65_535) {
          return new Wrong(`${JSON.stringify(one)} is no \`${keyForm}=host:port\``)
        }
        pairs.set(from.toLowerCase(), { host, port: Number(port) })
      }
      return pairs
    },
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
  migrationsClientMemory: wholeNumber(256, 1_048_576, {
    default: '2048',
    description:
      'Megabytes of memory that each process of `pg_dump` and `pg_restore` may take, as address space. They keep the catalogs of a database in memory: about 1 GB for 100,000 tables. One that needs more ends, and its migration or validation fails and says so. Only where the system limits address space (Linux).',
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
  migrationsAtOnce: wholeNumber(1, 1000, {
    default: '32',
    description:
      'Migrations at work at the same time. Each is a process of about 100 MB. A resource group may have half of them, at least one; the last ones are for resource groups and subscriptions without any; others wait.',
  }),
  migrationsTablesAtOnce: wholeNumber(1, 16, {
    default: '4',
    description: 'Tables of a database that are copied at the same time.',
  }),
  migrationsDatabasesAtOnce: wholeNumber(1, 16, {
    default: '2',
    description:
      'Databases of a migration that are copied at the same time. Those that wait for their cutover do not count.',
  }),
  migrationsSourcesFromTargets: addresses(
    '[A-Za-z0-9._-]{1,255}:\\d{1,5}',
    'host:port',
    'For online migrations, where target servers reach a source under another name than this server does (containers): `127.0.0.1:5433=db:5432`.',
  ),
  postgresServers: addresses(
    '[A-Za-z0-9-]{1,63}|\\*',
    'name',
    'Where PostgreSQL servers are that clients put without an address, by their names: `orders=127.0.0.1:5432`. `*` is every other name. Each must let the administrator of the body sign in.',
  ),
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
    readonly migrationsClientMemory: number
    readonly migrationsFence: 'none' | 'cutover' | 'stay'
    readonly migrationsVerify: 'none' | 'counts' | 'checksums'
    readonly migrationsAtOnce: number
    readonly migrationsTablesAtOnce: number
    readonly migrationsDatabasesAtOnce: number
    readonly migrationsSourcesFromTargets: ReadonlyMap<string, HostAndPort>
    readonly postgresServers: ReadonlyMap<string, HostAndPort>
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
      clientMegabytes: named.migrationsClientMemory,
      fence: named.migrationsFence,
      verify: named.migrationsVerify,
      atOnceMax: named.migrationsAtOnce,
      tablesAtOnce: named.migrationsTablesAtOnce,
      databasesAtOnce: named.migrationsDatabasesAtOnce,
      sourcesFromTargets: named.migrationsSourcesFromTargets,
      serverAddresses: named.postgresServers,
      authoritiesAtTarget: authorities === '' ? undefined : authorities,
    },
  }
}
