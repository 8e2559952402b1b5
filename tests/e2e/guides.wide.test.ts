/**
 * The guides, pasted unchanged, but for those of `guides.test.ts`: each against its own server, on one store and on two
 * replicas, and all of them in any order on one home, where they leave nothing behind.
 */

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { seededRandom } from '../fuzz/random.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { startBalanced } from './balanced.ts'
import { startInstallation } from './installation.ts'
import {
  alone,
  type Block,
  blocksOf,
  guides,
  isThere,
  openDesk,
  openUsual,
  type Pasted,
  paste,
  pasteGuide,
  type Start,
  usualGuides,
} from './pasted-guides.ts'

const hasPostgres = findPostgres() !== undefined
const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Guides that are tested elsewhere (`demo-migrations.e2e.wide.test.ts`), that start servers themselves, or that are only
 * read.
 */
const elsewhere = [
  'deploy.md',
  'migrations.md',
  'postgres-replicas.md',
  'hardening.md',
  'testing.md',
  'console.md',
  'first-round.md',
]

/** Their containers are simulated, and live in the process that created them. */
const inOneProcess = ['guides/billing.md', 'guides/containers.md']

/**
 * Two replicas are left to the long suite. What they keep outside of the store (rights, sessions, events) is tested by
 * `newcomer.test.ts`, `revocation.test.ts` and `tests/console/session.wide.test.ts`, too.
 */
const starts: Readonly<Record<string, Start>> = {
  'on SQLite': alone,
  ...(isLong ? { 'on two replicas, each asked in turn': startBalanced } : {}),
}

for (const [where, start] of Object.entries(starts)) {
  describe(`pasted ${where}`, () => {
    for (const guide of Object.keys(guides)) {
      if (start === alone && usualGuides.includes(guide)) continue
      if (start === startBalanced && inOneProcess.includes(guide)) continue
      test(guide, { timeout: 300_000 }, async (t) => {
        if (start === startBalanced && !requireOrSkip(t, hasPostgres, howToGetPostgres)) return
        await pasteGuide(t, start, guide)
      })
    }

    test('guides/sharing.md', { timeout: 300_000 }, async (t) => {
      if (!requireOrSkip(t, hasPostgres, howToGetPostgres)) return
      if (!requireOrSkip(t, isThere('psql'), 'no psql: `apt-get install postgresql-client`')) return
      await pasteSharing(start)
    })
  })
}

const tls = { ARMATURE_TLS: 'auto', ARMATURE_TLS_PORT: '0' }
const startWith =
  (settings: Readonly<Record<string, string>>): Start =>
  (environment) =>
    startInstallation({ environment: { ...environment, ...settings } })

// It starts an interpreter thirty times, so it is left to the long suite; tests of `tests/conformance` run the programs
// as well.
const packages = join(root, 'tests/conformance/node_modules')
const published: typeof test | undefined = isLong ? test : undefined
published?.(
  'pasted with the published command line and packages: guides/clients.md',
  {
    timeout: 600_000,
  },
  async (t) => {
    if (!requireOrSkip(t, isThere('az'), 'no az: `apt-get install azure-cli`')) return
    if (!requireOrSkip(t, hasPostgres, howToGetPostgres)) return
    const arePackagesThere = existsSync(join(packages, '@azure/arm-postgresql-flexible'))
    if (!requireOrSkip(t, arePackagesThere, 'run `npm --prefix tests/conformance ci`')) return
    await using server = await startPostgres({ fsync: false })
    await using source = await startPostgres({ fsync: false })
    const client = new pg.Client({ connectionString: source.url('postgres') })
    await client.connect()
    await client.query('create database shop')
    await client.end()
    const { username, password } = new URL(server.url('postgres'))
    const blocks = blocksOf('guides/clients.md')
    const prepare = blocks.find(({ text }) => text.includes('armature env'))
    assert.ok(prepare !== undefined)
    await paste(
      startWith({
        ...tls,
        ARMATURE_VENDOR_NAMESPACE: 'Microsoft',
        ARMATURE_VENDOR_BRAND: 'Azure',
        ARMATURE_POSTGRES_SERVERS: `*=127.0.0.1:${server.port}`,
      }),
      [prepare, ...blocks.filter(({ word }) => word === 'typed' || word === 'az')],
      {
        folders: { node_modules: packages },
        // Without this it would report every command to its makers.
        environment: {
          AZURE_CONFIG_DIR: 'az',
          AZURE_CORE_COLLECT_TELEMETRY: 'no',
          PGUSER: decodeURIComponent(username),
          PGPASSWORD: decodeURIComponent(password),
          SOURCE: `127.0.0.1:${source.port}`,
        },
        tells: [
          // The programs of Node and of Python, both to their ends.
          /lines of an invoice: 1[\s\S]*lines of an invoice: 1/,
          /^the migration: WaitingForUserAction$/m,
          /"type": "servicePrincipal"/,
          /\+ Microsoft\.ManagedIdentity\/userAssignedIdentities\/worker/,
          /"provisioningState": "Succeeded"/,
          /simulated: 'web' started/,
          /"companyName": "This installation"/,
          // The demo made the first.
          /^G000000002\nDue$/m,
          /^Support$/m,
          /^orders\nReady$/m,
          /^the migration: Succeeded$/m,
          /^shop$/m,
          /"8192"\n"system-default"/,
          /^ada@example\.test\tReader$/m,
          /"displayName": "Owner"/,
          /"assignedIdentityInfo": "MSI"/,
        ],
      },
    )
  },
)

test('pasted with https: guides/clients.md', { timeout: 300_000 }, async (t) => {
  const areThere = existsSync(join(packages, '@azure/identity')) && isThere('curl')
  const howToGet = 'run `npm --prefix tests/conformance ci`, and have curl'
  if (!requireOrSkip(t, areThere, howToGet)) return
  await paste(
    startWith(tls),
    blocksOf('guides/clients.md').filter(({ word }) => word === undefined),
    {
      tells: [
        /EnvironmentCredential 200/,
        /ManagedIdentityCredential 200/,
        /a token for \d+ seconds/,
        /principalId/,
        /"loginEndpoint":"https:\/\/localhost:\d+\/adfs"/,
      ],
      folders: { node_modules: packages },
    },
  )
})

/** All blocks but the first, which says where PostgreSQL is. */
function sharing(server: PostgresServer): readonly [readonly Block[], Pasted] {
  const [where, ...rest] = blocksOf('guides/sharing.md')
  assert.match(where?.text ?? '', /^export PGHOST/, 'the first block says where PostgreSQL is')
  const url = new URL(server.url('postgres'))
  const environment = {
    PGHOST: url.hostname,
    PGPORT: url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password) || 'none',
  }
  const tells = [
    ...['one', '1000', 'changed', 'shop\\.duckdb'].map((line) => new RegExp(`^${line}$`, 'm')),
    // The increment: one file and one row.
    /files +BlobFolder +Succeeded +1\b/,
  ]
  return [rest, { environment, tells }]
}

async function pasteSharing(start: Start): Promise<void> {
  await using server = await startPostgres({ fsync: false })
  await paste(start, ...sharing(server), openUsual)
}

test('no guide is left out', () => {
  const there = readdirSync(join(root, 'docs/guides')).filter((name) => !elsewhere.includes(name))
  const tested = Object.keys(guides).filter((name) => name.startsWith('guides/'))
  assert.deepEqual(
    there.map((name) => `guides/${name}`).sort(),
    [...tested, 'guides/sharing.md', 'guides/clients.md'].sort(),
  )
})

const inAnyOrder: typeof test | undefined = isLong ? test : undefined
for (const seed of [22, 2222]) {
  inAnyOrder?.(
    `pasted on one home, in the order of seed ${seed}: nothing is left behind`,
    { timeout: 1_200_000 },
    async (t) => {
      if (!requireOrSkip(t, hasPostgres, howToGetPostgres)) return
      if (!requireOrSkip(t, isThere('psql'), 'no psql: `apt-get install postgresql-client`')) return
      await using server = await startPostgres({ fsync: false })
      await using installation = await alone({ ARMATURE_CONTAINERS: 'simulated' })
      const { home } = installation
      using desk = openDesk()
      const random = seededRandom(seed)
      const before = [...leftIn(home), ...(await databasesOf(server))]
      const left: (readonly [string, readonly Block[], Pasted])[] = [
        ...Object.entries(guides).map(([name, one]) => [name, blocksOf(name), one] as const),
        ['guides/sharing.md', ...sharing(server)],
      ]
      while (left.length > 0) {
        const [[name, blocks, pasted] = assert.fail()] = left.splice(random.below(left.length), 1)
        t.diagnostic(name)
        await desk.paste(home, blocks, pasted)
        assert.deepEqual(readdirSync(desk.folder), [], `${name} leaves files`)
        const now = [...leftIn(home), ...(await databasesOf(server))]
        assert.deepEqual(
          now.filter((one) => !before.includes(one)),
          name === 'guides/sharing.md' ? staying : [],
          `${name} leaves something`,
        )
        before.push(...now)
      }
    },
  )
}

/** Subscriptions cannot be deleted, but are left empty. So are the folders below which data is shared. */
const staying = [
  '/subscriptions/22222222-2222-4222-8222-222222222222',
  'databases',
  'storage',
  join('databases', '.armature'),
]

/** The keys of all resources, principals and credentials, and the files of the home. */
function leftIn(home: string): readonly string[] {
  using db = new DatabaseSync(join(home, 'armature.db'), { readOnly: true })
  const keys = [
    'select key from resources',
    "select 'principal ' || id as key from identity_principals",
    "select 'credential ' || id as key from identity_credentials",
  ].flatMap((query) =>
    db
      .prepare(query)
      .all()
      .map(({ key }) => String(key)),
  )
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
  return [...keys, ...files.filter((name) => !expected.includes(name))]
}

/** Images that the simulated engine has pulled stay, as with any engine. So does the command line's last token of the owner. */
const expected = [join('simulated-containers', 'images.json'), 'token.json']

async function databasesOf(server: PostgresServer): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: server.url('postgres') })
  await client.connect()
  const { rows } = await client.query('select datname from pg_database')
  await client.end()
  return rows.map(({ datname }) => `database ${datname}`)
}
