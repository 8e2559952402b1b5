/** Compiles `flush-recorder.c`, to be loaded before a program by `LD_PRELOAD`. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export function canRecordFlushes(): boolean {
  return process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0
}

export const howToRecordFlushes = 'needs Linux and a C compiler (Debian: gcc).'

/** Returns the library's path, in `folder`. */
export function compileFlushRecorder(folder: string): string {
  const library = join(folder, 'flush-recorder.so')
  const source = fileURLToPath(new URL('flush-recorder.c', import.meta.url))
  const options = ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-lpthread']
  const built = spawnSync('cc', options)
  assert.equal(built.status, 0, String(built.stderr))
  return library
}
