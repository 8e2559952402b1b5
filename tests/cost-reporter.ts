/**
 * A reporter beside the usual one: ends the run with the dearest files, by seconds of processors, which a loaded machine
 * changes less than the time that passes, and names those over `cost-budget.json`.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { costReport, readCosts } from './cost.ts'
import budget from './cost-budget.json' with { type: 'json' }

const folder = mkdtempSync(join(tmpdir(), 'armature-costs-'))
const list = join(folder, 'costs')
writeFileSync(list, '')
// The runner loads reporters before it starts a file, and files get its environment.
process.env['ARMATURE_TEST_COSTS'] = list
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

// biome-ignore lint/style/noDefaultExport: the runner takes the default export of a reporter.
export default async function* report(events: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const _ of events);
  yield `\n${costReport(readCosts(readFileSync(list, 'utf8')), budget)}\n`
}
