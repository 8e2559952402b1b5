/**
 * Loaded before each test file. Ends the file's process after a time limit: the runner's own limit ends a test, but
 * leaves a process that never ends.
 */

import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const minutes = process.env['ARMATURE_TEST_LONG'] === undefined ? 15 : 60

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  setTimeout(() => {
    writeSync(2, `${process.argv[1]} has run for ${minutes} minutes and is ended.\n`)
    process.kill(process.pid, 'SIGKILL')
  }, minutes * 60_000).unref()
}
