/**
 * A reporter beside the usual one. At the end of the run it lists the most expensive files by processor seconds,
 * which depend less on the load of the machine than wall time, and names those over `cost-budget.json`.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { costReport, readCosts } from './cost.ts'
import budget from './cost-budget.json' with { type: 'json' }

const folder = mkdtempSync(join(tmpdir(), 'armature-costs-'))
const list = join(folder, 'costs')
writeFileSync(list, '')
// The runner loads reporters before it starts a file, and files inherit its environment.
process.env['ARMATURE_TEST_COSTS'] = list
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

// biome-ignore lint/style/noDefaultExport: the runner takes the default export of a reporter.
export default async function* report(events: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const _ of events);
  yield `\n${costReport(readCosts(readFileSync(list, 'utf8')), budget)}\n`
}
