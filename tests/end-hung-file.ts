/**
 * Loaded before each test file. Ends the file's process when it has run for too long: the runner's own time limit ends
 * a test, and leaves the process of one that never gives up.
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
