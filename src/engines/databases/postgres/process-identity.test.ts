/** The client programs that a killed leader of a process group leaves are ended, and nothing else. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import { endProgramsLeftBy, identify, isRunning } from './process-identity.ts'

test('client programs of a killed worker are ended, others and those of one that runs are not', async (t) => {
  const isLinux = existsSync('/proc/self/stat')
  if (!requireOrSkip(t, isLinux, 'the system has no records of processes')) return
  const folder = mkdtempSync(join(tmpdir(), 'armature-programs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // A process has the name of the file that it was started by.
  symlinkSync('/bin/sleep', join(folder, 'pg_dump'))
  const words = '"$0" 600 & echo $!; sleep 600 & echo $!; wait'
  const leader = spawn('/bin/sh', ['-c', words, join(folder, 'pg_dump')], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => leader.kill('SIGKILL'))
  leader.stdout.setEncoding('utf8')
  let said = ''
  while (said.split('\n').length < 3) said += String((await once(leader.stdout, 'data'))[0])
  const [program, other] = said.split('\n').map((line) => identify(Number(line)))
  assert.ok(leader.pid !== undefined && program !== undefined && other !== undefined)
  t.after(() => isRunning(other) && process.kill(other.pid, 'SIGKILL'))
  t.after(() => isRunning(program) && process.kill(program.pid, 'SIGKILL'))
  const identity = identify(leader.pid)
  endProgramsLeftBy(identity)
  assert.ok(isRunning(identity) && isRunning(program))
  leader.kill('SIGKILL')
  await once(leader, 'exit')
  assert.ok(isRunning(program))
  endProgramsLeftBy(identity)
  await until(() => !isRunning(program))
  assert.ok(isRunning(other))
})
