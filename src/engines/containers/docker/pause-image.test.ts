import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import { pauseProgram } from './pause-image.ts'

test('the sandbox program waits until it is killed', async (t) => {
  const program = pauseProgram(arch() === 'x64' ? 'amd64' : arch())
  const how = 'the sandbox program is for Linux on amd64 and arm64'
  if (!requireOrSkip(t, platform() === 'linux' && program !== undefined, how)) return
  const folder = await mkdtemp(join(tmpdir(), 'armature-pause-'))
  try {
    const path = join(folder, 'pause')
    await writeFile(path, program ?? '', { mode: 0o755 })
    const child = spawn(path, [], { stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
    await new Promise((resolve) => child.once('spawn', resolve))
    child.kill('SIGTERM')
    // A program that crashed or returned would end by another signal, or with a code.
    assert.equal(await ended, 'SIGTERM')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('there are programs for two architectures, and no pretence for others', () => {
  assert.equal(pauseProgram('amd64')?.length, 129)
  assert.equal(pauseProgram('arm64')?.length, 152)
  assert.equal(pauseProgram('riscv64'), undefined)
})
