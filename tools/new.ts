/**
 * `npm run new -- provider Example`, `npm run new -- resource example things 2026-01-01`,
 * `npm run new -- version example things 2027-01-01`: makes the files that CONTRIBUTING.md describes, names them in the
 * tables, and adds a contract test that fails until the shape is written.
 */

import { join } from 'node:path'
import { makeNew, UsageError } from './new/make-new.ts'

try {
  const { made, next } = makeNew(join(import.meta.dirname, '..'), process.argv.slice(2))
  for (const path of made) process.stdout.write(`${path}\n`)
  process.stdout.write(`\n${next}\n`)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
