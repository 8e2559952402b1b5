/**
 * Tests that need a tool the machine may lack (a PostgreSQL server, a container engine, a browser) say so
 * here: skipped loudly with the reason, or failed where `ARMATURE_TEST_REQUIRE=all` demands everything.
 */

import type { TestContext } from 'node:test'

/** True when the test may go on. `how` tells the reader how to get what is missing. */
export function requireOrSkip(t: TestContext, available: boolean, how: string): boolean {
  if (available) return true
  if (process.env['ARMATURE_TEST_REQUIRE'] === 'all') {
    throw new Error(`ARMATURE_TEST_REQUIRE=all, but: ${how}`)
  }
  process.stderr.write(`SKIPPED: ${t.name}: ${how}\n`)
  t.skip(how)
  return false
}
