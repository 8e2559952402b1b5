/** The report at the end of a run: what it names, when it fails, and that the files of its budgets exist. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { costReport, processorSeconds } from '../cost.ts'
import budget from '../cost-budget.json' with { type: 'json' }

const costs = [
  { path: 'cheap.test.ts', start: 0.1, processor: 9, wall: 90 },
  { path: 'dear.test.ts', start: 0.1, processor: 11, wall: 5 },
  { path: 'allowed.test.ts', start: 0.9, processor: 19, wall: 5 },
  { path: 'src-many.test.mjs', start: 0.1, processor: 30, wall: 5 },
]
const wide = { total: 70, limit: 80, start: 0.1, file: 20, files: {} }

test('files over their budget are named, and so is a run over that of all', () => {
  const files = { 'allowed.test.ts': 20 }
  const report = costReport(costs, { ...wide, total: 60, file: 10, files })
  const [shown = '', over = ''] = report.text.split('OVER THEIR BUDGET')
  assert.match(shown, /^69 seconds of processors in 4 files/)
  assert.match(shown, /19\.0 +5\.0 {2}allowed[\s\S]*dear[\s\S]*cheap/)
  assert.deepEqual(over.match(/\w+\.test\.ts/g), ['dear.test.ts'])
  assert.match(over, /OVER THE BUDGET OF ALL by 9 seconds/)
  assert.doesNotMatch(costReport(costs, wide).text, /OVER/)
})

test('a run over the limit fails, unless most files started slowly', () => {
  assert.equal(costReport(costs, { ...wide, limit: 69 }).isFailed, false)
  const over = costReport(costs, { ...wide, limit: 68 })
  assert.match(over.text, /THE RUN FAILS/)
  assert.equal(over.isFailed, true)
  const busy = costReport(costs, { ...wide, limit: 68, start: 0.09 })
  assert.match(busy.text, /fails nothing: the machine is slow or was busy/)
  assert.equal(busy.isFailed, false)
})

test('the list of budgets holds files that are there, and may cost more than others', () => {
  for (const [path, seconds] of Object.entries<number>(budget.files)) {
    assert.ok(existsSync(join(import.meta.dirname, '../..', path)), `${path} is gone: take it out`)
    assert.ok(seconds > budget.file, `${path} needs no budget of its own`)
  }
})

test('the list of what lasts longest holds files that are there', () => {
  for (const path of Object.keys(budget.lasting))
    assert.ok(existsSync(join(import.meta.dirname, '../..', path)), `${path} is gone: take it out`)
})

test('the seconds of a program that was waited for count', () => {
  const before = processorSeconds()
  const spin = 'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end);'
  execFileSync(process.execPath, ['-e', spin])
  if (process.platform === 'linux') assert.ok(processorSeconds() - before >= 0.2)
})
