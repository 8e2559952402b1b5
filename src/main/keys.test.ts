/**
 * A rotation of the installation's key, on both stores with every table: the texts of each purpose are resealed and
 * can be opened, at whatever step it was interrupted, and the old key opens nothing.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { businessMigrations } from '#business/migrations.ts'
import { identityMigrations } from '#identity/migrations.ts'
import { silentLog } from '#kernel/ports.ts'
import { type SealPurpose, sealPurposes } from '#kernel/seal-purposes.ts'
import { providerMigrations } from '#providers/index.ts'
import { Keyring } from '#sealing/keyring.ts'
import { SealingKey } from '#sealing/sealing-key.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { type ResourceRow, type Store, StoreUnavailable } from '#stores/store.ts'
import {
  findPostgres,
  howToGetPostgres,
  preparedDatabases,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { until } from '../../tests/until.ts'
import { restoreState, type StateOptions, saveState } from '../control/state.ts'
import { guardStore } from '../installation/guarded-store.ts'
import { openServerHome } from '../installation/home.ts'
import { requireNextKey } from '../installation/installation-key.ts'
import { installationMigrations } from '../installation/record.ts'
import { textPlaces } from '../installation/text-places.ts'
import { type Keys, openKeys } from './keys.ts'
import { randomIds as ids } from './random-ids.ts'
import { ownerIn } from './states.ts'

const clock = { now: () => Date.now() }
const options = {
  migrations: [
    ...installationMigrations,
    ...identityMigrations,
    ...businessMigrations,
    ...providerMigrations,
  ],
  words: { namespace: 'Vendor', brand: 'Vendor' },
  transactionRetriesMax: 8,
}
const fromHome = {
  key: undefined,
  keyFile: undefined,
  keyCommand: undefined,
  nextKey: { key: undefined, keyFile: undefined, keyCommand: undefined },
}
const atOnce = {
  pollMilliseconds: 5,
  knownMilliseconds: 0,
  waitMilliseconds: 0,
  silentMilliseconds: 0,
}

const openOnPostgres = (url: string): Promise<Store> =>
  openPostgres({ url, poolSize: 4, clock, ...options })
const databases = preparedDatabases(async (url) =>
  (await openOnPostgres(url))[Symbol.asyncDispose](),
)

const dialects: Readonly<Record<Store['dialect'], (t: TestContext) => Promise<Store | undefined>>> =
  {
    sqlite: () => openSqlite({ path: ':memory:', ...options }),
    async postgres(t) {
      if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
      return openOnPostgres(await databases.create())
    },
  }

function freshHome(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'armature-keys-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function open(store: Store, folder: string, waits = atOnce): Promise<Keys> {
  return openKeys({
    config: fromHome,
    home: openServerHome(folder),
    store,
    clock,
    ticks: () => performance.now(),
    ids,
    recordIds: ids,
    log: silentLog,
    waits,
  })
}

/** What each purpose seals, and where it is stored. Add a line here for a new purpose. */
const stored: Readonly<
  Record<SealPurpose, { readonly text: string; readonly place: 'document' | 'sign-in' } | undefined>
> = {
  identity: { text: 'a private key', place: 'sign-in' },
  // The installation itself stores it.
  index: undefined,
  secrets: { text: 'a vault secret', place: 'document' },
  containers: { text: 'a variable', place: 'document' },
  deployments: { text: 'parameters', place: 'document' },
  authorizations: { text: 'a token', place: 'document' },
  storage: { text: 'a storage key', place: 'document' },
  sql: { text: 'a password', place: 'document' },
  postgres: { text: 'another password', place: 'document' },
  generic: { text: 'a seed', place: 'document' },
  'billing-downloads': undefined,
}
const purposes = (Object.keys(stored) as SealPurpose[]).filter(
  (purpose) => stored[purpose] !== undefined,
)

/** More rows than one step of the walk takes. */
const rows = 130

function thing(
  row: Pick<ResourceRow, 'key' | 'id' | 'document'> & { readonly etag?: string },
): ResourceRow {
  const fixed = { type: 'vendor.test/things', tracked: true, uniqueKey: null, generation: 1 }
  return { etag: 'tag', ...fixed, ...row }
}

async function fill(store: Store, { keyring }: Keys): Promise<void> {
  const sealed = (purpose: SealPurpose, at: number): string =>
    keyring.sealOf(purpose).seal(`${stored[purpose]?.text} ${at}`, `place ${at}`)
  await store.transact(async (tx) => {
    for (let at = 0; at < rows; at++) {
      const purpose = purposes[at % purposes.length] ?? 'secrets'
      const key = `/things/${String(at).padStart(4, '0')}`
      const document = JSON.stringify({
        at,
        purpose,
        tags: { odd: `~${'0'.repeat(12)}.sql.x` },
        sealed: sealed(purpose, at),
      })
      await tx.insert(thing({ key, id: key, etag: `tag ${at}`, document }))
    }
    await tx.putOperation({
      id: 'operation',
      resourceKey: '/things/0000',
      document: JSON.stringify({ sealed: sealed('deployments', 1) }),
      running: false,
      endedAt: 1,
    })
  })
  await store.sql.transact(async (tx) => {
    for (let at = 0; at < 5; at++) {
      await tx.run(
        `insert into identity_oauth_states (kind, id, payload, expires_at) values ('Session', ?, ?, 1)`,
        `id ${at}`,
        sealed('identity', at),
      )
    }
  })
}

/** Every sealed text of the store, with its location. */
async function sealedTexts(store: Store): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const { table, texts } of await textPlaces(store.sql)) {
    for (const row of await store.sql.all(
      `select ${texts.map((one) => `"${one}"`).join(', ')} from "${table}"`,
    )) {
      for (const [column, text] of Object.entries(row)) {
        for (const [whole] of String(text).matchAll(/~[0-9a-f]{12}\.[a-z-]+\.[\w-]{40,}/g)) {
          found.set(whole, `${table}.${column}`)
        }
      }
    }
  }
  return found
}

async function assertOpens(store: Store, { keyring }: Keys): Promise<void> {
  const seen = new Set<string>()
  for (const row of await store.list({ under: '/', limit: rows + 1 })) {
    const { at, purpose, sealed } = JSON.parse(row.document)
    const text = `${stored[purpose as SealPurpose]?.text} ${at}`
    assert.equal(keyring.sealOf(purpose).open(sealed, `place ${at}`), text)
    assert.equal(keyring.sealOf(purpose).open(sealed, 'elsewhere'), undefined)
    assert.equal(row.etag, `tag ${at}`, 'for clients nothing has changed')
    seen.add(purpose)
  }
  assert.deepEqual([...seen].sort(), [...purposes].sort())
  const states = await store.sql.all('select id, payload from identity_oauth_states order by id')
  assert.deepEqual(
    states.map((row, at) => keyring.sealOf('identity').open(String(row['payload']), `place ${at}`)),
    [0, 1, 2, 3, 4].map((at) => `a private key ${at}`),
  )
}

async function rotated({ rotation }: Keys): Promise<void> {
  await until(async () => (await rotation.status()).rotation === undefined)
  await rotation.refresh()
}

async function begin(keys: Keys, store: Store, folder: string): Promise<void> {
  const home = openServerHome(folder)
  assert.ok(
    await keys.rotation.begin(
      store.sql,
      await requireNextKey(fromHome, home, keys.keyring.current),
    ),
  )
}

for (const [dialect, fresh] of Object.entries(dialects)) {
  test(`${dialect}: a rotation seals every purpose anew; the old key opens nothing`, async (t) => {
    await using store = await fresh(t)
    if (store === undefined) return
    const folder = freshHome(t)
    await using keys = await open(store, folder)
    const oldText = keyTextIn(folder)
    const old = keys.keyring.current
    await fill(store, keys)
    const before = await sealedTexts(store)
    assert.deepEqual(
      new Set([...before.keys()].map((text) => text.split('.')[1])),
      new Set([...purposes, 'index']),
      'each stored purpose stands in the store',
    )
    assert.ok(
      Object.entries(sealPurposes).every(
        ([purpose, kind]) =>
          kind === 'given-out' || purpose === 'index' || purposes.includes(purpose as SealPurpose),
      ),
    )
    const index = keys.keyring.identitySeal(keys.indexKey).index('secret')
    await begin(keys, store, folder)
    await rotated(keys)
    const status = await keys.rotation.status()
    assert.equal(status.last?.resealed, before.size)
    assert.equal(status.last?.fromKeyId, old.id)
    assert.notEqual(keys.keyring.current.id, old.id)
    for (const [text, place] of await sealedTexts(store)) {
      assert.ok(text.startsWith(`~${keys.keyring.current.id}.`), place)
    }
    await assertOpens(store, keys)
    const [late] = before.keys()
    assert.equal(keys.keyring.sealOf('secrets').open(String(late), 'place 1'), undefined)

    // The next start takes the new key from the home, where the old one lies beside it.
    assert.deepEqual(readdirSync(folder).sort(), [
      'installation.key',
      `installation.key.old-${old.id}`,
    ])
    await using again = await open(store, folder)
    await assertOpens(store, again)
    assert.equal(again.keyring.identitySeal(again.indexKey).index('secret'), index)

    const stale = freshHome(t)
    writeFileSync(join(stale, 'installation.key'), oldText, { mode: 0o600 })
    await assert.rejects(open(store, stale), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailable && error.retry === 'never')
      assert.match(error.message, /another key/)
      assert.ok(error.message.includes(old.id), 'it names the key it has')
      return true
    })
  })

  test(`${dialect}: a rotation ends where callers gave names with sealed texts`, async (t) => {
    await using store = await fresh(t)
    if (store === undefined) return
    const folder = freshHome(t)
    await using keys = await open(store, folder)
    const sealed = keys.keyring.sealOf('identity').seal('a browser', 'known')
    const id = `/things/${sealed}`
    await store.transact((tx) => tx.insert(thing({ key: id.toLowerCase(), id, document: '{}' })))
    await store.sql.transact((tx) =>
      tx.run(
        `insert into identity_oauth_states (kind, id, payload, expires_at) values ('Session', ?, ?, 1)`,
        sealed,
        sealed,
      ),
    )
    await begin(keys, store, folder)
    await rotated(keys)
    assert.equal((await store.get(id.toLowerCase()))?.id, id, 'a name stays as it was given')
    const [state] = await store.sql.all('select id, payload from identity_oauth_states')
    assert.equal(state?.['id'], sealed)
    assert.ok(String(state?.['payload']).startsWith(`~${keys.keyring.current.id}.`))
  })

  test(`${dialect}: a rotation goes on from whatever step it ended at`, async (t) => {
    await using store = await fresh(t)
    if (store === undefined) return
    const folder = freshHome(t)
    let steps = 0
    {
      await using keys = await open(store, folder)
      await fill(store, keys)
    }
    // Each round is interrupted one transaction later than the one before. PostgreSQL is slower, so it is
    // interrupted less often.
    const further = dialect === 'sqlite' || process.env['ARMATURE_TEST_LONG'] === '1' ? 1 : 15
    for (let allowed = 0, done = false; !done; allowed += further) {
      const crashing = crashAfter(store, allowed)
      const keys = await open(crashing.store, folder)
      crashing.arm()
      try {
        if ((await keys.rotation.status()).rotation === undefined)
          await begin(keys, crashing.store, folder)
        else keys.rotation.start()
        const isOver = async () =>
          crashing.crashed() || (await keys.rotation.status()).rotation === undefined
        await until(isOver)
      } catch (error) {
        assert.match(String(error), /crash of the test/)
      }
      await keys[Symbol.asyncDispose]()
      done = !crashing.crashed() && (await keys.rotation.status()).last !== undefined
      steps += allowed
      assert.ok(allowed < 200, 'it never ends')
    }
    assert.ok(steps > 10, `it ended ${steps} times in between`)
    await using keys = await open(store, folder)
    await assertOpens(store, keys)
    for (const text of (await sealedTexts(store)).keys()) {
      assert.ok(text.startsWith(`~${keys.keyring.current.id}.`))
    }
  })

  test(`${dialect}: states are kept and brought back before and after a rotation, and not while it is under way`, async (t) => {
    await using store = await fresh(t)
    if (store === undefined) return
    const folder = freshHome(t)
    const keys = await open(store, folder, { ...atOnce, waitMilliseconds: 10_000 })
    await fill(store, keys)
    const options: StateOptions = {
      store,
      owner: (reads) => ownerIn(reads, keys.record),
      reconciledTypes: () => [],
      follows: [],
      now: () => 0,
      clock: () => undefined,
    }
    const before = await saveState(options)
    let asked = 0
    const meanwhile: StateOptions = {
      ...options,
      async owner(reads) {
        // Seen as before; the rotation begins before the transaction of the restore.
        if (asked++ > 0) return options.owner(reads)
        const owner = await options.owner(reads)
        await begin(keys, store, folder)
        return owner
      },
    }
    const refused = { code: 'ControlNotPossible', message: /is being rotated/ }
    await assert.rejects(restoreState(meanwhile, before), refused)
    assert.equal(asked, 2)
    await keys[Symbol.asyncDispose]()
    for (const phase of ['gathering', 'switching', 'resealing']) {
      await store.sql.transact((tx) => tx.run('update installation_rotation set phase = ?', phase))
      await assert.rejects(saveState(options), refused, phase)
      await assert.rejects(restoreState(options, before), refused, phase)
    }
    await store.sql.transact((tx) => tx.run(`update installation_rotation set phase = 'switching'`))
    await using again = await open(store, folder)
    again.rotation.start()
    await rotated(again)
    await assert.rejects(restoreState(options, before), /sealed with another key/)
    await restoreState(options, await saveState(options))
    await assertOpens(store, again)
  })

  test(`${dialect}: what is written from old memory is sealed with the new key`, async (t) => {
    await using store = await fresh(t)
    if (store === undefined) return
    const folder = freshHome(t)
    await using keys = await open(store, folder)
    const guarded = guardStore(store, keys.rotation.guard)
    const old = keys.keyring.sealOf('sql').seal('late', 'here')
    await begin(keys, store, folder)
    await rotated(keys)
    const id = keys.keyring.current.id
    const document = JSON.stringify({ old })
    await guarded.transact(async (tx) => {
      await tx.insert({
        key: '/late',
        id: '/late',
        type: 't',
        tracked: false,
        uniqueKey: null,
        etag: 'a',
        generation: 1,
        document,
      })
      await tx.putOperation({
        id: 'late',
        resourceKey: '/late',
        document,
        running: false,
        endedAt: 1,
      })
    })
    await guarded.sql.transact((tx) =>
      tx.run(`insert into identity_settings (name, value) values ('late', ?)`, document),
    )
    const found = await sealedTexts(store)
    assert.equal(
      [...found.values()].filter((place) => /resources|operations|identity_settings/.test(place))
        .length,
      3,
    )
    for (const text of found.keys()) assert.ok(text.startsWith(`~${id}.`))
    const kept = JSON.parse((await store.get('/late'))?.document ?? '')
    assert.equal(keys.keyring.sealOf('sql').open(kept.old, 'here'), 'late')
  })
}

test('both stores have the same places of text', async (t) => {
  await using sqlite = await dialects.sqlite(t)
  await using postgres = await dialects.postgres(t)
  if (sqlite === undefined || postgres === undefined) return
  const shown = async (store: Store): Promise<readonly string[]> =>
    (await textPlaces(store.sql)).flatMap(({ table, texts }) =>
      texts.map((column) => `${table}.${column}`),
    )
  const places = await shown(sqlite)
  const others = await shown(postgres)
  assert.deepEqual(
    {
      sqlite: places.filter((one) => !others.includes(one)),
      postgres: others.filter((one) => !places.includes(one)),
    },
    // The only table that exists only on PostgreSQL.
    { sqlite: [], postgres: ['billing_dimension_texts.text'] },
  )
  for (const place of [
    'resources.document',
    'operations.document',
    'events.detail',
    'installation.value',
  ]) {
    assert.ok(places.includes(place), place)
  }
})

test('two replicas: one without the new key holds it up; with it both go over', async (t) => {
  await using store = await dialects.postgres(t)
  if (store === undefined) return
  const [first, second] = [freshHome(t), freshHome(t)]
  // Long enough that the second poll comes from its own timer.
  const waits = {
    pollMilliseconds: 15,
    knownMilliseconds: 40,
    // Far more than a poll takes on a busy machine.
    waitMilliseconds: 1500,
    silentMilliseconds: 4000,
  }
  await using one = await open(store, first, waits)
  const oldText = keyTextIn(first)
  writeFileSync(join(second, 'installation.key'), oldText, { mode: 0o600 })
  await using two = await open(store, second, waits)
  two.rotation.start()
  await fill(store, one)
  const old = one.keyring.current.id
  // The second one waits for the others as long as the first one did.
  for (const _ of ['first', 'again']) {
    await begin(one, store, first)
    await rotated(one)
    const refused = await one.rotation.status()
    assert.equal(refused.keyId, old)
    assert.equal(refused.refused?.without.length, 1)
    assert.match(refused.refused?.without[0] ?? '', new RegExp(`home ${second}`))
  }

  writeFileSync(
    join(second, 'installation.key.next'),
    readFileSync(join(first, 'installation.key.next')),
    { mode: 0o600 },
  )
  // It looked for the key when the first rotation began. A start looks again.
  await two[Symbol.asyncDispose]()
  await using third = await open(store, second, waits)
  third.rotation.start()
  const guarded = guardStore(store, third.rotation.guard)
  let writing = true
  const writes = (async () => {
    for (let at = 0; writing; at++) {
      await guarded.sql.transact((tx) => {
        const sealed = third.keyring.sealOf('storage').seal(`write ${at}`, 'w')
        return tx.run('insert into identity_settings (name, value) values (?, ?)', `w${at}`, sealed)
      })
      // Often enough that some begin in every phase.
      await pause(10)
    }
  })()
  await begin(one, store, first)
  await rotated(one)
  writing = false
  await writes
  await third.rotation.refresh()
  assert.notEqual(one.keyring.current.id, old)
  assert.equal(third.keyring.current.id, one.keyring.current.id)
  await assertOpens(store, third)
  for (const [text, place] of await sealedTexts(store)) {
    assert.ok(text.startsWith(`~${one.keyring.current.id}.`), place)
  }
})

test('a process without the new key holds up a rotation that is begun again at once, too', async (t) => {
  await using store = await dialects.sqlite(t)
  if (store === undefined) return
  const [first, second] = [freshHome(t), freshHome(t)]
  const waits = { ...atOnce, pollMilliseconds: 10, waitMilliseconds: 1500 }
  await using one = await open(store, first, waits)
  writeFileSync(join(second, 'installation.key'), keyTextIn(first), { mode: 0o600 })
  // It looks when it is told to: never between the two.
  await using two = await open(store, second, waits)
  const old = one.keyring.current.id
  for (const _ of ['first', 'again']) {
    await begin(one, store, first)
    await two.rotation.refresh()
    await rotated(one)
    assert.equal((await one.rotation.status()).keyId, old)
  }
})

for (const [dialect, fresh] of Object.entries(dialects)) {
  test(`${dialect}: a rotation begins at the key that the installation has, and ends at another one`, async (t) => {
    await using store = await fresh(t)
    if (store === undefined) return
    const [first, second] = [freshHome(t), freshHome(t)]
    await using one = await open(store, first)
    writeFileSync(join(second, 'installation.key'), keyTextIn(first), { mode: 0o600 })
    await using two = await open(store, second)
    const to = await requireNextKey(fromHome, openServerHome(first), one.keyring.current)
    await one.rotation.begin(store.sql, to)
    await rotated(one)
    // The command that gives the key took longer than the rotation of another request.
    await assert.rejects(one.rotation.begin(store.sql, to), /has ended meanwhile/)
    // This process has stood still.
    await assert.rejects(two.rotation.begin(store.sql, to), /has ended meanwhile/)
    assert.equal((await one.rotation.status()).rotation, undefined)
  })
}

test('a process that begins while a rotation is under way needs both keys', async (t) => {
  await using store = await dialects.sqlite(t)
  if (store === undefined) return
  const folder = freshHome(t)
  const keys = await open(store, folder, {
    ...atOnce,
    pollMilliseconds: 10_000,
    waitMilliseconds: 10_000,
  })
  const oldText = keyTextIn(folder)
  await begin(keys, store, folder)
  await keys[Symbol.asyncDispose]()
  await store.sql.transact((tx) => tx.run(`update installation_rotation set phase = 'switching'`))
  const [oldOnly, newOnly] = [freshHome(t), freshHome(t)]
  writeFileSync(join(oldOnly, 'installation.key'), oldText, { mode: 0o600 })
  const newText = readFileSync(join(folder, 'installation.key.next'))
  writeFileSync(join(newOnly, 'installation.key'), newText, { mode: 0o600 })
  for (const home of [oldOnly, newOnly]) await assert.rejects(open(store, home), /another key/)
  await using again = await open(store, folder)
  again.rotation.start()
  await rotated(again)
  assert.equal((await again.rotation.status()).last?.toKeyId, again.keyring.current.id)
})

/** After keys were opened there. */
function keyTextIn(folder: string): string {
  return readFileSync(join(folder, 'installation.key'), 'utf8')
}

/** A store that fails permanently after this many transactions, as after a kill. */
function crashAfter(store: Store, allowed: number) {
  let left = Number.POSITIVE_INFINITY
  let crashed = false
  const spend = (): void => {
    if (left-- > 0) return
    crashed = true
    throw new Error('a crash of the test')
  }
  const guarded = guardStore(store, {
    ready() {
      spend()
      return undefined
    },
    reseals: false,
    resealing: (text) => new Keyring(new SealingKey(Buffer.alloc(32))).resealing(text),
  })
  return {
    store: guarded,
    crashed: () => crashed,
    arm() {
      left = allowed
    },
  }
}
