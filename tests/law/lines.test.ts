/** Lines per operation (decision 0076): the code may grow with what it serves, but by less. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
/** The starting point: 100,211 lines for 291 operations. One more each since every answer is declared (decision 0167). */
const linesPerOperationMax = 345
const verbs = new Set(['get', 'head', 'put', 'post', 'patch', 'delete'])

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(?:ts|json)$/.test(path))
}

/** Shipped lines: no tests, no test support, no contract suites. */
function productionLines(): number {
  return filesBelow('src')
    .filter((path) => !/\.test\.ts$|\/testing\/|\/contract/.test(path) && path.endsWith('.ts'))
    .reduce((sum, path) => sum + readFileSync(join(root, path), 'utf8').split('\n').length - 1, 0)
}

/** Each verb of each path counts once, whatever versions serve it. */
function servedOperations(): number {
  const served = filesBelow('openapi').flatMap((path) => {
    // Written by `npm run generate`.
    const { paths = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      readonly paths?: Readonly<Record<string, object>>
    }
    return Object.entries(paths).flatMap(([at, methods]) =>
      Object.keys(methods)
        .filter((method) => verbs.has(method))
        .map((method) => `${method} ${at.toLowerCase().replaceAll(/\{[^}]*\}/g, '{}')}`),
    )
  })
  return new Set(served).size
}

test('an operation costs no more lines than when this was first measured', (t) => {
  const [lines, operations] = [productionLines(), servedOperations()]
  t.diagnostic(
    `${lines} lines for ${operations} operations: ${Math.round(lines / operations)} each`,
  )
  assert.ok(operations > 0)
  assert.ok(
    lines / operations <= linesPerOperationMax,
    `${lines} lines for ${operations} operations are more than ${linesPerOperationMax} each: merge what repeats`,
  )
})
