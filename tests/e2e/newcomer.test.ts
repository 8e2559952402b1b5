/**
 * A newcomer's first day, by command line and by API: start, grant one application the right to read one resource
 * group, see it refused everywhere else. On SQLite; `newcomer.wide.test.ts` does it on PostgreSQL with two replicas.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createResourceGroup } from './access.ts'
import { freshHome, type Installation, startInstallation } from './installation.ts'
import { walks } from './newcomer.ts'
import { refusedStart, rememberable, version } from './restarts.ts'

describe('SQLite', { timeout: 360_000 }, () => {
  const home = freshHome()
  let installation: Installation
  before(async () => {
    installation = await startInstallation({ home })
  })
  after(async () => {
    await installation[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true })
  })

  walks(() => ({ a: installation, b: installation }))

  test('a second process on the same home is refused, and the first goes on', async () => {
    await refusedStart({ home }, /in use by another process/, /PostgreSQL/)
    assert.ok(existsSync(join(home, 'running.json')), 'the note of the one that runs stays')
    assert.equal((await installation.cli(['status', '--json'])).code, 0)
    assert.equal((await installation.request('GET', '/readyz')).status, 200)
  })

  test('a restart keeps everything: after SIGTERM, and after SIGKILL', async () => {
    const check = await rememberable(installation)
    assert.equal(await installation.stop(), 0)
    assert.ok(!existsSync(join(home, 'running.json')))
    installation = await startInstallation({ home })
    assert.doesNotMatch(installation.output(), /First start/)
    await check(installation)
    const checkAgain = await rememberableAfterCrash(installation)
    await installation.kill()
    installation = await startInstallation({ home })
    await check(installation)
    await checkAgain(installation)
  })

  test('other words, another key, no key: refused, each with what to do', async () => {
    await installation.stop()
    const words = { ARMATURE_VENDOR_NAMESPACE: 'Contoso' }
    await refusedStart({ home, environment: words }, /Vendor/, /Contoso/)
    await refusedStart({ home, environment: { ARMATURE_VENDOR_BRAND: 'Fabrikam' } }, /Fabrikam/)
    const key = Buffer.alloc(32, 7).toString('base64')
    await refusedStart({ home, key }, /another key/, /ARMATURE_KEY/)
    const path = join(home, 'installation.key')
    const content = readFileSync(path)
    rmSync(path)
    await refusedStart({ home }, /installation\.key/, /ARMATURE_KEY/)
    // The key may be given by a setting instead of the file.
    installation = await startInstallation({ home, key: content.toString() })
    assert.equal((await installation.request('GET', '/readyz')).status, 200)
  })
})

async function rememberableAfterCrash(installation: Installation) {
  const path = `/subscriptions/${installation.subscriptionId}/resourceGroups/crash`
  const names = Array.from({ length: 50 }, (_, at) => `${path}-${at}`)
  const made = await Promise.all(names.map((name) => createResourceGroup(installation, name)))
  for (const answer of made) assert.equal(answer.status, 201, answer.text)
  return async (restarted: Installation): Promise<void> => {
    for (const name of names) {
      assert.equal((await restarted.request('GET', `${name}?${version}`)).status, 200)
    }
  }
}
