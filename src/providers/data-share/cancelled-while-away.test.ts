/**
 * A process dies while it publishes, and the run is cancelled before another process takes it over: a target that
 * had begun to change is completed, and a copy that was set aside is never lost.
 */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type CopyEngine, CopyFailure } from '#engines/copy/engine.ts'
import type { Store } from '#stores/store.ts'
import { type Sharing, sharingStore, startSharing } from './testing/start.ts'

/** The state after the first of the two renames of a full run's publishing: the target is set aside. */
async function cutShort(store: Store, root: string, run: string): Promise<void> {
  const [manifest] = await store.sql.all('select token from share_manifests')
  const stage = join(
    root,
    'taker',
    '.armature',
    `${manifest?.['token']}-${run.replaceAll('-', '')}`,
  )
  const target = join(root, 'taker', 'got', 'all')
  mkdirSync(join(stage, 'old'), { recursive: true })
  writeFileSync(join(stage, 'old', 'a.txt'), 'what was there before')
  renameSync(target, join(stage, 'data'))
  await store.sql.transact(async (tx) => {
    const [row] = await tx.all('select subscription_key from share_runs where id = ?', run)
    await tx.run(
      `update share_runs set status = 'InProgress', ended_at = null, cancelled = 1, lease_owner = null,
        lease_until = 0 where id = ?`,
      run,
    )
    await tx.run(
      'insert into share_active (subscription_key, run_id) values (?, ?)',
      String(row?.['subscription_key']),
      run,
    )
    await tx.run(
      "update share_details set status = 'InProgress', ended_at = null, publishing = 1 where run_id = ?",
      run,
    )
    // The manifest names the previous state: nothing of this run yet.
    await tx.run("update share_manifests set stage = ''")
  })
}

async function world(
  work: (open: () => Promise<Sharing>, root: string, store: Store) => Promise<void>,
) {
  const root = mkdtempSync(join(tmpdir(), 'armature-share-'))
  const store = await sharingStore()
  try {
    await work(() => startSharing({ store, root }), root, store)
  } finally {
    await store[Symbol.asyncDispose]()
    rmSync(root, { recursive: true, force: true })
  }
}

async function copied(started: Sharing): Promise<string> {
  await started.prepare()
  started.write('giver', 'data/in/a.txt', 'one')
  started.write('giver', 'data/in/b.txt', 'two')
  const folder = await started.share('folder', 'BlobFolder', {
    containerName: 'data',
    prefix: 'in',
  })
  await started.map('m', 'BlobFolder', { dataSetId: folder, containerName: 'got', prefix: 'all' })
  const run = await started.synchronize('FullSync')
  assert.equal((await started.ended(run)).status, 'Succeeded')
  return run
}

test('what was publishing is published, and the run is cancelled', async () => {
  await world(async (open, root, store) => {
    let run = ''
    {
      await using started = await open()
      run = await copied(started)
    }
    await cutShort(store, root, run)
    assert.ok(!existsSync(join(root, 'taker/got/all')))
    await using started = await open()
    const ended = await started.ended(run)
    assert.equal(ended.status, 'Cancelled', JSON.stringify(ended))
    assert.equal(started.read('taker', 'got/all/a.txt'), 'one')
    const [detail] = await started.details(run)
    assert.equal(detail.status, 'Succeeded')
    // The next run adds to it.
    started.write('giver', 'data/in/c.txt', 'three')
    const next = await started.synchronize('Incremental')
    assert.equal((await started.ended(next)).status, 'Succeeded')
    assert.equal(started.read('taker', 'got/all/b.txt'), 'two')
    assert.equal(started.read('taker', 'got/all/c.txt'), 'three')
  })
})

test('what was publishing and is gone is not copied again for a run that is cancelled', async () => {
  await world(async (open, root, store) => {
    let run = ''
    {
      await using started = await open()
      run = await copied(started)
    }
    await cutShort(store, root, run)
    rmSync(join(root, 'taker', '.armature'), { recursive: true })
    await using started = await open()
    const ended = await started.ended(run)
    assert.equal(ended.status, 'Cancelled', JSON.stringify(ended))
    assert.ok(!existsSync(join(root, 'taker/got/all')))
    const [detail] = await started.details(run)
    assert.equal(detail.status, 'Cancelled')
  })
})

test('what is gone is publishing no more', async () => {
  await world(async (open, root, store) => {
    let run = ''
    {
      await using started = await open()
      run = await copied(started)
    }
    await cutShort(store, root, run)
    await store.sql.transact((tx) => tx.run('update share_runs set cancelled = 0'))
    const engine: CopyEngine = {
      open: () => ({
        async copy(_task, journal) {
          await journal.forget()
          throw new CopyFailure('Unsupported', 'it was cut off')
        },
        async [Symbol.asyncDispose]() {},
      }),
    }
    await using started = await startSharing({ store, root, engine })
    await started.ended(run)
    const [detail] = await store.sql.all('select publishing from share_details')
    assert.equal(detail?.['publishing'], 0)
  })
})

test('a copy set aside by a run that nobody takes up is put back by the next', async () => {
  await world(async (open, root) => {
    await using started = await open()
    const run = await copied(started)
    const [manifest] = await started.store.sql.all('select token from share_manifests')
    const stage = join(
      root,
      'taker',
      '.armature',
      `${manifest?.['token']}-${run.replaceAll('-', '')}x`,
    )
    mkdirSync(stage, { recursive: true })
    renameSync(join(root, 'taker/got/all'), join(stage, 'old'))
    started.write('giver', 'data/in/c.txt', 'three')
    const next = await started.synchronize('Incremental')
    assert.equal((await started.ended(next)).status, 'Succeeded')
    assert.equal(started.read('taker', 'got/all/a.txt'), 'one')
    assert.equal(started.read('taker', 'got/all/c.txt'), 'three')
    assert.ok(!existsSync(stage))
  })
})
