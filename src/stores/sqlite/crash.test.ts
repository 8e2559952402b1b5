/** Kills a writing process at many moments: every answered write is there, and no partial one. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { contractOptions } from '../contract/setting.ts'
import { openSqlite } from './open.ts'

const rounds = 6

/** Writes pairs of rows concurrently, some of them again, and prints each that was answered. */
const writerScript = `
  import { openSqlite } from ${JSON.stringify(String(new URL('open.ts', import.meta.url)))}
  import { contractOptions, contractRow } from ${JSON.stringify(String(new URL('../contract/setting.ts', import.meta.url)))}
  const [path, round] = process.argv.slice(-2)
  const store = await openSqlite({ path, ...contractOptions })
  const lane = async (number) => {
    for (let n = 0; ; n++) {
      const key = '/' + round + '-' + number + '-' + n
      await store.transact(async (tx) => {
        await tx.insert(contractRow(key))
        await tx.insert(contractRow(key + '/twin'))
        await tx.schedule(key, 1)
        await tx.follow('f', key)
      })
      process.stdout.write(key + '\\n')
    }
  }
  for (let number = 0; number < 16; number++) lane(number)
`

test('no answered write is lost to kill -9, and none is half there', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'armature-crash-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const answered = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const before = answered.size
    const writer = spawn(
      process.execPath,
      ['--input-type=module', '-e', writerScript, '--', path, String(round)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const lines = createInterface({ input: writer.stdout })
    lines.on('line', (key) => answered.add(key))
    const read = once(lines, 'close')
    while (answered.size < before + 16) await once(lines, 'line')
    // Prime to the length of a batch, so that each round ends at another moment of one.
    await sleep((round * 37) % 150)
    writer.kill('SIGKILL')
    await read

    // Opens at once: the lock of the dead process ended with it.
    await using store = await openSqlite({ path, ...contractOptions })
    const { keys, position } = await store.feed('f').since(0, 1_000_000)
    assert.equal(position, keys.length)
    const followed = new Set(keys)
    for (const key of answered) assert.ok(followed.has(key), `${key} was answered and is lost`)
    for (const key of followed) {
      assert.ok((await store.get(key)) !== undefined, `${key} is in the feed alone`)
      assert.ok((await store.get(`${key}/twin`)) !== undefined, `${key} lacks its twin`)
    }
    assert.equal(await store.count({ under: '/', limit: 1_000_000 }), 2 * followed.size)
    const rows = await store.sql.all('SELECT count(*) AS n FROM work')
    assert.deepEqual(rows, [{ n: followed.size }])
  }
  assert.ok(answered.size >= rounds * 16)
})
