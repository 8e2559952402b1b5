/**
 * `armature-plane/testing`: what a test imports. It is small, so that what takes time runs side by side: another thread makes
 * the first key while this one loads the server, from code that was compiled before.
 */

import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { makeSigningPair } from '#identity/signing-pair.ts'
import type { TestInstallation, TestOptions } from './installation.ts'

export type {
  FaultRule,
  KeptRule,
  Scenario,
  Seed,
  Snapshot,
  TestInstallation,
  TestOptions,
} from './installation.ts'

// Not where code is counted: what comes from the cache is counted less exactly.
const isCounted =
  process.env['NODE_V8_COVERAGE'] !== undefined ||
  process.execArgv.includes('--experimental-test-coverage')
// Inside the install, as the launcher has it: a cache that others may write would be code of theirs.
if (!isCounted) {
  enableCompileCache(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'armature'))
}

/** A pair takes longer to make than the rest of a start: the installations of one process share theirs. */
const pair = makeSigningPair()
const loading = import('./installation.ts')

/** Starts an installation. Many may run in one process; close each, or begin it with `await using`. */
export async function start(options: TestOptions = {}): Promise<TestInstallation> {
  const { open } = await loading
  return open(options, () => pair)
}
