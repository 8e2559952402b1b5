/** The client programs that a killed leader of a process group leaves are ended, and nothing else. Places of workers are told apart. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import { endProgramsLeftBy, identify, isRunning, placeOf } from './process-identity.ts'

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

test('machines of one name are two places, and so are containers of one machine', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-places-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const system = (name: string, namespace: string, start: string): string => {
    const path = join(folder, name)
    mkdirSync(join(path, 'self/ns'), { recursive: true })
    mkdirSync(join(path, 'sys/kernel/random'), { recursive: true })
    writeFileSync(join(path, 'self/ns', namespace), '')
    symlinkSync(namespace, join(path, 'self/ns/pid'))
    writeFileSync(join(path, 'sys/kernel/random/boot_id'), start)
    return path
  }
  const systems = [
    system('machine', 'pid:[4026531836]', 'first'),
    system('other-machine', 'pid:[4026531836]', 'second'),
    system('container', 'pid:[4026532001]', 'first'),
  ]
  assert.equal(new Set(systems.map((one) => placeOf('/records', one))).size, 3)
  assert.equal(placeOf('/records'), placeOf('/records'))
})
