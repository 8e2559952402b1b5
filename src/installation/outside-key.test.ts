/** The key comes from the configured source, and from nowhere else if that fails. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SealingKey } from '#sealing/sealing-key.ts'
import { openServerHome } from './home.ts'
import { requireNextKey } from './installation-key.ts'
import { outsideKey } from './outside-key.ts'

const none = { key: undefined, keyFile: undefined, keyCommand: undefined }
const key = Buffer.alloc(32, 7)
const text = key.toString('base64')

test('as it is, in a file, by a command', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, `${text}\n`, { mode: 0o600 })
  assert.equal(outsideKey(none), undefined)
  for (const source of [{ key: text }, { keyFile }, { keyCommand: `cat '${keyFile}'` }]) {
    assert.deepEqual(Buffer.from((await outsideKey({ ...none, ...source })) ?? []), key)
  }
})

test('a source that gives no key ends the start, and several are one too many', async () => {
  for (const [source, said] of [
    [{ key: 'short' }, /ARMATURE_KEY must give/],
    [{ keyFile: '/nonexistent/key' }, /ENOENT/],
    [{ keyCommand: 'echo nothing' }, /ARMATURE_KEY_COMMAND must give/],
    [
      { keyCommand: `echo ${text}; exit 3` },
      /^Error: The command of ARMATURE_KEY_COMMAND failed: it ended with 3$/,
    ],
    [{ keyCommand: 'yes' }, /it prints too much/],
    [{ key: text, keyCommand: `echo ${text}` }, /one of ARMATURE_KEY and ARMATURE_KEY_COMMAND/],
  ] as const) {
    await assert.rejects(async () => outsideKey({ ...none, ...source }), said)
  }
})

test('a command is waited for, and nothing else is', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const go = join(folder, 'go')
  const keyCommand = `until test -e '${go}'; do sleep 0.01; done; echo ${text}`
  const found = outsideKey({ ...none, keyCommand })
  // Nobody could write it if the process waited for the command.
  writeFileSync(go, '')
  assert.deepEqual(Buffer.from((await found) ?? []), key)
})

test('a command that makes a key anew each time gives no next key: nobody would have it after a restart', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const next = (keyCommand: string) =>
    requireNextKey(
      { ...none, nextKey: { ...none, keyCommand } },
      openServerHome(folder),
      new SealingKey(Buffer.alloc(32, 1)),
    )
  await assert.rejects(next('head -c 32 /dev/urandom | base64'), /another key each time/)
  assert.ok((await next(`echo ${text}`)).isOf(key))
})
