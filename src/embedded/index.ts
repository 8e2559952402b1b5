/**
 * `armature-plane/testing`: what a test imports. It is small, so that what takes time runs side by side: another thread makes
 * the first key while this one loads the server, from code that was compiled before.
 */

import module from 'node:module'
import { join } from 'node:path'
import { makeSigningPair } from '#identity/signing-pair.ts'
import type { TestInstallation, TestOptions } from './installation.ts'

export type {
  FaultRule,
  FaultRuleStatus,
  Scenario,
  Seed,
  Snapshot,
  TestInstallation,
  TestOptions,
} from './installation.ts'

// An older Node has no names that this and the server import, and would say only that.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  throw new Error(`Armature runs on Node 22.13 or newer; this is Node ${process.versions.node}.`)
}

// Not while code coverage is counted: cached code is counted less exactly.
const isCounted =
  process.env['NODE_V8_COVERAGE'] !== undefined ||
  process.execArgv.includes('--experimental-test-coverage')
// The cache is inside the installation folder, like the launcher's. In a folder that others may write, it could
// hold code of theirs.
if (!isCounted) {
  module.enableCompileCache(
    join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'armature'),
  )
}

/** A key pair takes longer than the rest of a start, so the installations of one process share it. */
const pair = makeSigningPair()
const loading = import('./installation.ts')

/** Starts an installation. Many may run in one process. Close each one, or use `await using`. */
export async function start(options: TestOptions = {}): Promise<TestInstallation> {
  const { open } = await loading
  return open(options, () => pair)
}
