/** The secret commands, with the edge and the plane: the value is sent and never printed. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { servePlane } from '#http/testing/serve-plane.ts'
import { ids, subscription } from '#providers/container-instance/testing/start.ts'
import { startSecrets } from '#providers/secrets/testing/start.ts'
import { runCli } from './testing/run-cli.ts'

test('set from standard input and from a file, list, delete', async () => {
  await using started = await startSecrets()
  await using server = await servePlane(started.plane, { ids })
  const { url } = server
  const run = (words: readonly string[], input = '') =>
    runCli(
      [
        ...[
          'secret',
          ...words,
          ...(words[0] === 'set' ? ['--yes'] : []),
          '--vault',
          'shop',
          '-g',
          'demo',
        ],
        ...['--subscription', subscription, '--url', url, '--token', 'any'],
      ],
      { input },
    )
  const made = await run(['set', 'key', '--value', '-'], 'hush-1\n')
  assert.equal(made.code, 0, made.error)
  assert.match(made.error, /Made the vault shop/)
  assert.equal(made.out, 'armature://shop/secrets/key\n')
  assert.equal(await started.secrets.read(made.out.trim()), 'hush-1')

  const folder = mkdtempSync(join(tmpdir(), 'armature-value-'))
  writeFileSync(join(folder, 'value'), 'hush-2\n')
  const again = await run(['set', 'key', '--value', `@${join(folder, 'value')}`, '--keep-newline'])
  rmSync(folder, { recursive: true })
  assert.equal(again.code, 0, again.error)
  assert.doesNotMatch(again.error, /Made/)
  assert.equal(await started.secrets.read(made.out.trim()), 'hush-2\n')

  const list = await run(['list'])
  assert.match(list.out, /key +[0-9a-f]{32} +armature:\/\/shop\/secrets\/key/)
  for (const one of [made, again, list]) assert.ok(!`${one.out}${one.error}`.includes('hush'))
  assert.equal((await run(['set', 'key', '--value', '-'], '')).code, 1)
  const typed = await run(['set', 'key', '--value', 'hush-3'])
  assert.equal(typed.code, 2)
  assert.match(typed.error, /`--value` takes `@file`, `-` or `env:NAME`/)
  assert.ok(!typed.error.includes('hush'))
  assert.match((await run(['delete', 'key'])).error, /Deleted key/)
  assert.match((await run(['delete', 'key'])).error, /There was none/)
})
