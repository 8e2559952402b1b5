/**
 * Loaded before each test file. Shares compiled code among all files, lets a file begin when there is room, ends one that hangs,
 * and records the cost of each for the runner.
 */

import './end-hung-file.ts'
import { appendFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { basename, join, relative } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { processorSeconds } from './cost.ts'
import { waitForRoom } from './room.ts'

const root = join(import.meta.dirname, '..')

// The launcher's cache folder, so that servers under test find it filled. Programs that a test starts without the
// launcher take it from the environment.
const cache = join(root, 'node_modules/.cache/armature')
enableCompileCache(cache)
process.env['NODE_COMPILE_CACHE'] ??= cache

const list = process.env['ARMATURE_TEST_COSTS']

if (isMainThread && list !== undefined && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const file = process.argv[1] ?? ''
  // Files that share a process are named by an entry that the runner made elsewhere (`groups.ts`).
  const path = file.startsWith(root) ? relative(root, file) : basename(file)
  const start = processorSeconds()
  const [folder, always] = [process.env['ARMATURE_TEST_ROOM'], process.env['ARMATURE_TEST_AT_ONCE']]
  if (folder !== undefined) await waitForRoom(folder, Number(always))
  const began = performance.now()
  process.on('exit', () => {
    const cost = {
      path,
      start,
      processor: processorSeconds(),
      wall: (performance.now() - began) / 1000,
    }
    appendFileSync(list, `${JSON.stringify(cost)}\n`)
  })
}
