/**
 * Loaded before each test file. Code is compiled once for all files, a file that hangs is ended, and each tells what it
 * cost to whoever reports (`cost-reporter.ts`).
 */

import './end-hung-file.ts'
import { appendFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join, relative } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { processorSeconds } from './cost.ts'

const root = join(import.meta.dirname, '..')

// The launcher's place, so that the servers under test find it filled.
enableCompileCache(join(root, 'node_modules/.cache/armature'))

const list = process.env['ARMATURE_TEST_COSTS']

if (isMainThread && list !== undefined && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const path = relative(root, process.argv[1] ?? '')
  process.on('exit', () => {
    const cost = { path, processor: processorSeconds(), wall: performance.now() / 1000 }
    appendFileSync(list, `${JSON.stringify(cost)}\n`)
  })
}
