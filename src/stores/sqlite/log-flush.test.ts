/** A disk that refuses to flush: nobody is told that a write is kept, and the store writes again once the disk takes it. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { requireOrSkip } from '../../../tests/require.ts'
import {
  canRecordFlushes,
  compileFlushRecorder,
  howToRecordFlushes,
} from '../testing/flush-recorder.ts'

const script = `
  import { rmSync, writeFileSync } from 'node:fs'
  import { openSqlite } from ${JSON.stringify(String(new URL('open.ts', import.meta.url)))}
  import { contractOptions, contractRow } from ${JSON.stringify(String(new URL('../contract/setting.ts', import.meta.url)))}
  const [folder] = process.argv.slice(-1)
  const store = await openSqlite({ path: folder + '/store.db', ...contractOptions })
  const followed = []
  const write = async (key) => {
    const outcome = await store.transact(async (tx) => {
      await tx.insert(contractRow(key, {}))
      await tx.follow('f', key)
    }).then(() => 'kept', (error) => error.constructor.name + ' ' + error.retry)
    followed.push([key, outcome])
  }
  await write('/before')
  writeFileSync(process.env.FLUSH_FAILURE, '')
  await write('/during')
  await write('/still')
  rmSync(process.env.FLUSH_FAILURE)
  await write('/after')
  await write('/later')
  const rows = await store.list({ under: '/', limit: 10 })
  const feed = await store.feed('f').since(0, 10)
  console.log(JSON.stringify({ followed, keys: rows.map(({ key }) => key), feed, position: store.feed('f').position() }))
  await store[Symbol.asyncDispose]()
`

test('a flush that fails fails the writes, which go on once the disk takes them', (t) => {
  if (!requireOrSkip(t, canRecordFlushes(), howToRecordFlushes)) return
  const folder = mkdtempSync(join(tmpdir(), 'armature-flush-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'script.mjs')
  writeFileSync(file, script)
  const ran = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', file, folder], {
    env: {
      ...process.env,
      LD_PRELOAD: compileFlushRecorder(folder),
      FLUSH_FAILURE: join(folder, 'refuses'),
    },
    encoding: 'utf8',
  })
  assert.equal(ran.status, 0, ran.stderr)
  const { followed, keys, feed, position } = JSON.parse(ran.stdout) as Record<string, unknown>
  assert.deepEqual(followed, [
    ['/before', 'kept'],
    ['/during', 'StoreUnavailable later'],
    ['/still', 'StoreUnavailable later'],
    ['/after', 'kept'],
    ['/later', 'kept'],
  ])
  // Its commit came before the flush, so it is there: an unavailable store leaves the outcome open.
  assert.deepEqual(keys, ['/after', '/before', '/during', '/later'])
  assert.deepEqual(feed, { position: 4, keys: ['/before', '/during', '/after', '/later'] })
  assert.equal(position, 4)
})
