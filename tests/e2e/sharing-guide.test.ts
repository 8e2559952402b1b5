/** The guide of sharing, typed as it stands: its blocks go into one shell, one after the other, against a server. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { startInstallation } from './installation.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

function blocks(): readonly string[] {
  const guide = readFileSync(join(root, 'docs/guides/sharing.md'), 'utf8')
  return [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text)
}

test('the guide does what it says', { timeout: 180_000 }, async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  const psql = (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((one) => existsSync(join(one, 'psql')))
  if (!requireOrSkip(t, psql, 'no psql: `apt-get install postgresql-client`')) return
  await using server = await startPostgres({ fsync: false })
  await using installation = await startInstallation()
  const { home } = installation
  const bin = join(home, 'bin')
  mkdirSync(bin)
  // `npx` of this checkout, from whatever folder.
  const launcher = join(root, 'bin/armature.mjs')
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nshift\nexec '${process.execPath}' '${launcher}' "$@"\n`,
  )
  chmodSync(join(bin, 'npx'), 0o755)
  const [where = '', ...rest] = blocks()
  assert.match(where, /^export PGHOST/, 'the first block says where PostgreSQL is')
  const url = new URL(server.url('postgres'))
  const script = ['set -euo pipefail', ...rest].join('\n')
  const { code, out, error } = await new Promise<{ code: unknown; out: string; error: string }>(
    (done) => {
      const env = {
        ...process.env,
        PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
        ARMATURE_HOME: home,
        PGHOST: url.hostname,
        PGPORT: url.port,
        PGUSER: decodeURIComponent(url.username),
        PGPASSWORD: decodeURIComponent(url.password) || 'none',
      }
      const ended = (problem: { code?: unknown } | null, out: string, error: string): void =>
        done({ code: problem?.code ?? 0, out, error })
      execFile('bash', ['-c', script], { env, cwd: home, timeout: 150_000 }, ended)
    },
  )
  assert.equal(code, 0, `${out}\n${error}`)
  const lines = out.split('\n')
  for (const line of ['one', '1000', 'changed', 'shop.duckdb']) {
    assert.ok(lines.includes(line), `'${line}' in\n${out}`)
  }
  // The increment: one file and one row.
  assert.match(out, /files +BlobFolder +Succeeded +1\b/, out)
})
