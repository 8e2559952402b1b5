/**
 * For tests that need a tool the machine may lack (a PostgreSQL server, a container engine, a browser). They are
 * skipped loudly with the reason, or fail with `ARMATURE_TEST_REQUIRE=all`.
 */

import type { TestContext } from 'node:test'

/** True if the test may go on. `how` tells the reader how to install what is missing. */
export function requireOrSkip(t: TestContext, available: boolean, how: string): boolean {
  if (available) return true
  if (process.env['ARMATURE_TEST_REQUIRE'] === 'all') {
    throw new Error(`ARMATURE_TEST_REQUIRE=all, but: ${how}`)
  }
  process.stderr.write(`SKIPPED: ${t.name}: ${how}\n`)
  t.skip(how)
  return false
}
