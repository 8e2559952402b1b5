/** The record of a running migration is bounded, whatever names a server uses. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type DatabaseTask, tell } from './database-task.ts'
import { freshRecord, type MigrationState, RecordFolder } from './record.ts'

test('a message made of names without end is cut', () => {
  const record = freshRecord('shop', 1)
  // Telling uses only the record of the task.
  const task = { record } as unknown as DatabaseTask
  tell(task, { message: `the target lacks these roles: ${'x'.repeat(24_000_000)}` })
  assert.match(task.record.observed.message, /^the target lacks these roles: x+…$/)
  assert.equal(task.record.observed.message.length, 4_000)
  tell(task, { phase: 'copying' })
  assert.equal(task.record.observed.message.length, 4_000)
})

test('a record that grew without end is not written, and is not read', () => {
  const path = mkdtempSync(join(tmpdir(), 'armature-record-'))
  try {
    const folder = new RecordFolder(path)
    const of = (characters: number): MigrationState => ({
      databases: [{ ...freshRecord('shop', 1), leftOut: ['x'.repeat(characters)] }],
      message: '',
      updatedAt: 1,
      rolesDone: true,
      ended: false,
      worker: undefined,
    })
    assert.throws(() => folder.writeState(of(40_000_000), false), /has more than 32 MB/)
    const state = of(20_000_000)
    assert.throws(() => folder.writeState(state, false, state.databases[0]), /has more than 16 MB/)
    assert.equal(folder.readState(), undefined)
    writeFileSync(folder.file('state.json'), JSON.stringify(of(40_000_000)))
    assert.deepEqual(folder.readState()?.databases, [])
  } finally {
    rmSync(path, { recursive: true })
  }
})
