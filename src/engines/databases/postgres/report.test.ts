/** A report takes what is shown, however many tables a migration has. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { reportedTablesMax } from '../engine.ts'
import { freshRecord, RecordFolder } from './record.ts'
import { recordCompared, recordCopied, reportOf } from './report.ts'

const many = reportedTablesMax + 500
const nameOf = (at: number): string => `public.t${at}`

function folder(t: { after(run: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'armature-report-'))
  t.after(() => rmSync(path, { recursive: true }))
  const databases = [freshRecord('shop', 1)]
  const state = { databases, message: '', updatedAt: 1, rolesDone: true, ended: false }
  new RecordFolder(path).writeState({ ...state, worker: undefined }, false)
  const copied = Array.from({ length: many }, (_, at) => ({
    ...{ name: nameOf(at), rows: at, bytes: many - at, milliseconds: 1 },
  }))
  recordCopied({ folder: path, index: 0 }, copied)
  // One of them came while changes flowed.
  const compared = Array.from({ length: many + 1 }, (_, at) => ({
    ...{ name: nameOf(at), how: 'counts' as const, rows: at, milliseconds: 2 },
  }))
  recordCompared({ folder: path, index: 0 }, compared)
  return path
}

function check(path: string): void {
  const [report] = reportOf(new RecordFolder(path))
  assert.equal(report?.tables.length, reportedTablesMax)
  assert.equal(report.tablesNotShown, 501)
  assert.deepEqual(report.tables[1], {
    ...{ name: nameOf(1), rows: 1, bytes: many - 1, milliseconds: 1 },
    compared: { how: 'counts', rows: 1, milliseconds: 2 },
  })
}

test('whoever asks for a report reads no file with all tables', (t) => {
  const path = folder(t)
  for (const name of ['copied-0.json', 'compared-0.json']) writeFileSync(join(path, name), 'none')
  check(path)
})

test('a migration that began under an earlier version is reported, too', (t) => {
  const path = folder(t)
  rmSync(join(path, 'shown-0.json'))
  check(path)
})
