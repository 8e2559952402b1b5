/** A rotation whose next key comes from a command that takes long, at a replica: it holds up the rotation, and nothing else. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { until } from '../../tests/until.ts'
import { guardStore } from '../installation/guarded-store.ts'
import { openServerHome } from '../installation/home.ts'
import { type GivenKeys, requireNextKey } from '../installation/installation-key.ts'
import { installationMigrations } from '../installation/record.ts'
import { type Keys, openKeys } from './keys.ts'
import { randomIds as ids } from './random-ids.ts'

const clock = { now: () => Date.now() }
const none = { key: undefined, keyFile: undefined, keyCommand: undefined }
// Long enough that the second poll comes from its own timer.
const waits = {
  pollMilliseconds: 15,
  knownMilliseconds: 40,
  // Far more than a poll takes on a busy machine.
  waitMilliseconds: 1500,
  silentMilliseconds: 20_000,
}

function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'armature-keys-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function open(store: Store, folder: string, nextKeyCommand?: string): Promise<Keys> {
  return openKeys({
    config: { ...none, nextKey: { ...none, keyCommand: nextKeyCommand } },
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

/** From the key in the home to the next one there. */
async function rotate({ rotation, keyring }: Keys, store: Store, folder: string): Promise<void> {
  const given: GivenKeys = { ...none, nextKey: none }
  const to = await requireNextKey(given, openServerHome(folder), keyring.current)
  assert.ok(await rotation.begin(store.sql, to))
  await until(async () => (await rotation.status()).rotation === undefined)
  await rotation.refresh()
}

test('a replica goes on while its command looks for the next key, and goes over when it has it', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using database = await startPostgres()
  await using store = await openPostgres({
    url: await database.createDatabase(),
    poolSize: 4,
    clock,
    migrations: installationMigrations,
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 8,
  })
  const [first, second] = [freshFolder(t), freshFolder(t)]
  const keyOf = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')
  await using one = await open(store, first)
  writeFileSync(join(second, 'installation.key'), keyOf(first, 'installation.key'), { mode: 0o600 })
  const given = join(second, 'given')
  const next = join(first, 'installation.key.next')
  const command = `until test -e '${given}'; do sleep 0.05; done; cat '${next}'`
  await using two = await open(store, second, command)
  two.rotation.start()
  const [old, guarded] = [one.keyring.current.id, guardStore(store, two.rotation.guard)]
  let written = 0
  let writing = true
  const writes = (async () => {
    while (writing) {
      await guarded.sql.transact((tx) => tx.all('select 1'))
      written++
    }
  })()

  await rotate(one, store, first)
  const refused = await one.rotation.status()
  assert.equal(refused.keyId, old)
  assert.match(String(refused.refused?.without), new RegExp(`home ${second}`))
  const before = written
  await until(() => written > before)

  writeFileSync(given, '')
  await until(async () => {
    await rotate(one, store, first)
    return one.keyring.current.id !== old
  })
  await two.rotation.refresh()
  writing = false
  await writes
  assert.equal(two.keyring.current.id, one.keyring.current.id)
})

test('a process that ends waits for no command', async (t) => {
  const folder = freshFolder(t)
  const begun = join(folder, 'begun')
  await using store = await openSqlite({
    path: ':memory:',
    migrations: installationMigrations,
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 8,
  })
  const keys = await open(store, folder)
  const command = `touch '${begun}'; exec sleep 600`
  const given: GivenKeys = { ...none, nextKey: { ...none, keyCommand: command } }
  const found = requireNextKey(given, openServerHome(folder), keys.keyring.current)
  found.catch(() => undefined)
  await until(() => existsSync(begun))
  await keys[Symbol.asyncDispose]()
  await assert.rejects(found, /this process ends/)
})
