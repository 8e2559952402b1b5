/** Names whose DNS servers do not answer, as the system's resolver waits for them. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../../tests/until.ts'
import { Names } from './names.ts'

/** The resolver of Linux looks a name without a dot up in a file of aliases first, and waits for whoever writes into a pipe. */
const isLinux = process.platform === 'linux'

test('names that nobody answers for hold up no others', { skip: !isLinux }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-names-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const aliases = join(folder, 'aliases')
  execFileSync('mkfifo', [aliases])
  const names = new Names({ HOSTALIASES: aliases })
  await using _names = names
  let ended = 0
  const end = (): void => {
    ended++
  }
  const held = Array.from({ length: 40 }, (_, at) =>
    names.resolve(at < 10 ? `silent-${at}` : 'silent').then(end, end),
  )
  assert.ok((await names.resolve('localhost')).length > 0)
  assert.equal(ended, 0)
  await names[Symbol.asyncDispose]()
  await Promise.all(held.slice(0, 10))
})

test('what the system says of a name is said, and a process that is lost is followed by another', {
  skip: !isLinux,
}, async () => {
  const names = new Names()
  await using _names = names
  await assert.rejects(names.resolve('name.invalid'), /getaddrinfo/)
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  const pids = children.trim().split(' ').map(Number)
  assert.equal(pids.length, 1)
  const under = Array.from({ length: 3 }, () => names.resolve('localhost'))
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await Promise.allSettled(under)
  await until(() =>
    names.resolve('localhost').then(
      (found) => found.length > 0,
      () => false,
    ),
  )
})
