import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { replaceFile } from './replace-file.ts'

test('the old file stays whole until the new one is, which is as private as asked', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-files-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'note.json')
  writeFileSync(path, 'old', { mode: 0o644 })
  // Left by a process that had our id, readable by everybody.
  writeFileSync(`${path}.${process.pid}.new`, 'half', { mode: 0o666 })
  const reader = readFileSync(path, 'utf8')
  replaceFile(path, 'new')
  assert.deepEqual([reader, readFileSync(path, 'utf8')], ['old', 'new'])
  assert.equal(statSync(path).mode & 0o777, 0o600)
  replaceFile(path, new TextEncoder().encode('newer'), { mode: 0o644, isDurable: true })
  assert.equal(readFileSync(path, 'utf8'), 'newer')
  assert.equal(statSync(path).mode & 0o777, 0o644)
  assert.deepEqual(readdirSync(folder), ['note.json'])
})

test('nothing is left of a file that cannot be written', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-files-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'note.json')
  mkdirSync(path)
  assert.throws(() => replaceFile(path, 'new'), /EISDIR|ENOTEMPTY|EEXIST/)
  assert.deepEqual(readdirSync(folder), ['note.json'])
})
