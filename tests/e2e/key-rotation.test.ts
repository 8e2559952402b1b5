/** The installation's key is rotated by the command line on a real server, which is killed again and again. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { isLong, someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createResourceGroup } from './access.ts'
import {
  clientToken,
  freshHome,
  type Installation,
  StartRefused,
  startInstallation,
} from './installation.ts'

const shared: { server?: Promise<PostgresServer> } = {}
after(async () => (await shared.server)?.stop())

const version = 'api-version=2026-01-01'
const secrets = 12

async function writeSecrets(server: Installation): Promise<readonly string[]> {
  const group = `/subscriptions/${server.subscriptionId}/resourceGroups/keys`
  await createResourceGroup(server, group)
  const vault = `${group}/providers/Vendor.Secrets/vaults/one`
  const made = await server.request('PUT', `${vault}?${version}`, {
    body: { location: 'local', properties: {} },
  })
  assert.ok(made.status < 300, made.text)
  const paths = Array.from({ length: secrets }, (_, at) => `${vault}/secrets/secret-${at}`)
  for (const path of paths) {
    const answer = await server.request('PUT', `${path}?${version}`, {
      body: { properties: { value: `hush ${path}` } },
    })
    assert.ok(answer.status < 300, answer.text)
  }
  return paths
}

async function assertReadable(server: Installation, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await server.request('POST', `${path}/verify?${version}`)
    assert.equal(answer.at('readable'), true, `${path}: ${answer.text}`)
  }
}

async function stores(t: {
  skip(message?: string): void
  readonly name: string
}): Promise<string | undefined> {
  // The context of node:test has more members than needed here.
  if (!requireOrSkip(t as never, findPostgres() !== undefined, howToGetPostgres)) return undefined
  shared.server ??= startPostgres({ fsync: true })
  return (await shared.server).createDatabase()
}

// `src/main/keys.test.ts` resumes a rotation from each step on both stores. Here a process is killed.
for (const kind of someOf(['sqlite', 'postgres'] as const, 2)) {
  test(`${kind}: killed at several points of a rotation, it goes on; nothing is lost`, async (t) => {
    const store = kind === 'sqlite' ? undefined : await stores(t)
    if (kind === 'postgres' && store === undefined) return
    const home = freshHome()
    t.after(() => rmSync(home, { recursive: true, force: true }))
    const start = () => startInstallation({ home, ...(store === undefined ? {} : { store }) })
    let server = await start()
    const paths = await writeSecrets(server)
    const { keyId: before } = JSON.parse((await server.cli(['key', 'status', '--json'])).out)
    const begun = await server.cli(['key', 'rotate', '--installation', '--no-wait', '--json'])
    assert.equal(begun.code, 0, begun.error)
    // At several moments, each later than the one before: the rotation never starts over.
    for (let kills = 0; kills < (isLong ? 4 : 2); kills++) {
      await sleep(kills * 20)
      await server.kill()
      server = await start()
      await assertReadable(server, paths)
    }
    await until(async () => {
      const status = await server.request('GET', '/directory/keys/installation')
      return status.at('rotation') === undefined
    })
    const after = JSON.parse((await server.cli(['key', 'status', '--json'])).out)
    assert.notEqual(after.keyId, before)
    assert.equal(after.last.fromKeyId, before)
    await assertReadable(server, paths)
    assert.equal(typeof (await clientToken(server.url, server.owner)), 'string')
    await server.stop()

    // The old key is refused, and the message names the expected key.
    const oldHome = freshHome()
    t.after(() => rmSync(oldHome, { recursive: true, force: true }))
    const key = readFileSync(join(home, `installation.key.old-${before}`), 'utf8').trim()
    const ownStore = store ?? undefined
    if (ownStore !== undefined) {
      await assert.rejects(startInstallation({ home: oldHome, key, store: ownStore }), (error) => {
        assert.ok(error instanceof StartRefused)
        assert.match(error.output, /another key/)
        return true
      })
    } else {
      await assert.rejects(startInstallation({ home, key }), (error) => {
        assert.ok(error instanceof StartRefused)
        assert.match(error.output, /another key/)
        return true
      })
    }
    const again = await start()
    await assertReadable(again, paths)
    await again[Symbol.asyncDispose]()
  })
}

test('a key from a file: the next one is given by a file, and both start until the setting is changed', async (t) => {
  const home = freshHome()
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [keyFile, nextFile] = [join(home, 'key'), join(home, 'next')]
  const [oldKey, newKey] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  writeFileSync(keyFile, `${oldKey}\n`)
  const environment = { ARMATURE_KEY_FILE: keyFile }
  let server = await startInstallation({ home, environment })
  const paths = await writeSecrets(server)
  const { keyId: before } = JSON.parse((await server.cli(['key', 'status', '--json'])).out)
  const missing = await server.cli(['key', 'rotate', '--installation'])
  assert.equal(missing.code, 1)
  assert.match(missing.error, /ARMATURE_KEY_NEXT/)
  await server.stop()

  const both = { ...environment, ARMATURE_KEY_NEXT_FILE: nextFile }
  writeFileSync(nextFile, `${oldKey}\n`)
  server = await startInstallation({ home, environment: both })
  const same = await server.cli(['key', 'rotate', '--installation'])
  assert.equal(same.code, 1)
  assert.match(same.error, /the one there is/)
  // Written while the server runs.
  writeFileSync(nextFile, `${newKey}\n`)
  const rotated = await server.cli(['key', 'rotate', '--installation'])
  assert.equal(rotated.code, 0, rotated.error)
  const { keyId } = JSON.parse((await server.cli(['key', 'status', '--json'])).out)
  assert.notEqual(keyId, before)
  await assertReadable(server, paths)
  await server.stop()
  for (const settings of [both, { ARMATURE_KEY_FILE: nextFile }]) {
    const again = await startInstallation({ home, environment: settings })
    await assertReadable(again, paths)
    await again.stop()
  }
  await assert.rejects(startInstallation({ home, environment }), /another key/)
  assert.ok(!readdirSync(home).some((name) => name.startsWith('installation.key')))
})
