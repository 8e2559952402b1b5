/** The record of a running migration is bounded, whatever names a server uses. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type DatabaseTask, tell } from './database-task.ts'
import { freshRecord, RecordFolder } from './record.ts'

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

test('a record that grew without end is not written', () => {
  const path = mkdtempSync(join(tmpdir(), 'armature-record-'))
  try {
    const record = { ...freshRecord('shop', 1), leftOut: ['x'.repeat(40_000_000)] }
    const state = { databases: [record], message: '', updatedAt: 1, rolesDone: true, ended: false }
    assert.throws(
      () => new RecordFolder(path).writeState({ ...state, worker: undefined }, false),
      /more than 33554432 characters/,
    )
  } finally {
    rmSync(path, { recursive: true })
  }
})
