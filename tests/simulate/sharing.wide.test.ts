/**
 * kill -9 of the server during synchronizations, again and again at random moments. In the end the target equals
 * the source, and every file was counted once.
 */

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshHome, type Installation, startInstallation } from '../e2e/installation.ts'
import { isLong } from '../long.ts'

const seed = Number(process.env['ARMATURE_SIMULATE_SEED'] ?? (isLong ? Date.now() % 1_000_000 : 1))
/** A full copy and an increment. The long suite continues with both in turn. */
const rounds = isLong ? 12 : 2
const files = 1500
const largeBytes = 150 * 1024 * 1024

/** A small generator: the same seed gives the same moments. */
function random(from: number): () => number {
  let state = from >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const version = 'api-version=2021-08-01'

async function runs(server: Installation, path: string) {
  const answer = await server.request('POST', `${path}/listSynchronizations?${version}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.items()
}

test(`killed while it copies: nothing lost, nothing counted twice (seed ${seed})`, async () => {
  const next = random(seed)
  const home = freshHome()
  try {
    let server = await startInstallation({ home })
    assert.equal((await server.cli(['demo', 'sharing'])).code, 0)
    const group = `/subscriptions/${server.subscriptionId}/resourceGroups/demo`
    const path = `${group}/providers/Vendor.DataShare/accounts/demo-consumer/shareSubscriptions/demo`
    const at = (side: string) =>
      join(home, 'storage', `demo${side}${server.subscriptionId.slice(0, 8)}`)
    const source = join(at('give'), 'data')
    const target = join(at('take'), 'copy')
    for (let round = 0; round < rounds; round++) {
      const part = join(source, `part-${round}`)
      mkdirSync(part, { recursive: true })
      for (let n = 0; n < files; n++) writeFileSync(join(part, `f${n}`), `${round} ${n}`)
      writeFileSync(join(source, 'large.bin'), Buffer.alloc(largeBytes, round + 1))
      const synchronizationMode = round % 2 === 0 ? 'FullSync' : 'Incremental'
      const begun = await server.request('POST', `${path}/synchronize?${version}`, {
        body: { synchronizationMode },
      })
      assert.equal(begun.status, 202, begun.text)
      const synchronizationId = String(begun.at('synchronizationId'))
      for (let kills = 0; kills < 3; kills++) {
        await sleep(next() * 700)
        await server.kill()
        server = await startInstallation({ home })
      }
      for (let looks = 0; ; looks++) {
        const found = (await runs(server, path)).find(
          (one) => one['synchronizationId'] === synchronizationId,
        )
        if (found?.['endTime'] !== undefined) {
          assert.equal(found['status'], 'Succeeded', JSON.stringify(found))
          break
        }
        assert.ok(looks < 600, `seed ${seed}: the run never ended`)
        await sleep(100)
      }
      const details = await server.request(
        'POST',
        `${path}/listSynchronizationDetails?${version}`,
        {
          body: { synchronizationId },
        },
      )
      const expected = synchronizationMode === 'FullSync' ? (round + 1) * files + 2 : files + 1
      assert.deepEqual(
        [details.at('value.0.filesRead'), details.at('value.0.filesWritten')],
        [expected, expected],
        `seed ${seed}, round ${round}`,
      )
      const listed = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort()
      assert.deepEqual(listed(target), listed(source), `seed ${seed}`)
      assert.ok(
        readFileSync(join(target, 'large.bin')).equals(readFileSync(join(source, 'large.bin'))),
      )
      assert.equal(readFileSync(join(target, `part-${round}`, 'f7'), 'utf8'), `${round} 7`)
    }
    const left = readdirSync(join(at('take'), '.armature'))
    assert.deepEqual(left, [], 'nothing unfinished is left')
    await server[Symbol.asyncDispose]()
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})
