import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lowCounts } from './machine-counts.ts'

test('what one container could take of the whole machine is named, with the value to set', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'armature-counts-'))
  t.after(() => rm(folder, { recursive: true }))
  assert.deepEqual(await lowCounts(folder), [])
  for (const each of ['fs/epoll', 'kernel/pty', 'net/ipv6/neigh/default'])
    await mkdir(join(folder, each), { recursive: true })
  await writeFile(join(folder, 'fs/epoll/max_user_watches'), '5491511\n')
  await writeFile(join(folder, 'fs/aio-max-nr'), '65536\n')
  await writeFile(join(folder, 'kernel/pid_max'), '4194304\n')
  await writeFile(join(folder, 'kernel/pty/max'), '1048576\n')
  await writeFile(join(folder, 'kernel/threads-max'), '192730\n')
  await writeFile(join(folder, 'net/ipv6/neigh/default/gc_thresh3'), '1024\n')
  assert.deepEqual(await lowCounts(folder), [
    'fs.aio-max-nr=1000000000',
    'fs.epoll.max_user_watches=1000000000',
    'kernel.threads-max=4194304',
    'net.ipv6.neigh.default.gc_thresh3=1048576',
  ])
})
