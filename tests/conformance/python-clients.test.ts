/**
 * Debian's Python packages, unmodified: the operations that they support, and data sharing, for which npm has no
 * package.
 */

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../require.ts'
import { runClientTest } from './published.ts'

const library = '/usr/lib/python3/dist-packages/azure/mgmt/datashare'

test('Python clients', async (t) => {
  if (!requireOrSkip(t, existsSync(library), 'no python3-azure: `apt-get install azure-cli`'))
    return
  await runClientTest(t, {
    file: import.meta.filename,
    programs: ['python-clients.py'],
    packages: [],
    async prepare({ home, cli }) {
      const rows = Array.from({ length: 60 }, (_, at) => `2026-10-01,${at + 1}.25,Support ${at}`)
      const file = join(home, 'rows.csv')
      writeFileSync(file, `date,transactionAmount,productDescription\n${rows.join('\n')}\n`)
      for (const words of [
        ['billing', 'import', file],
        ['demo', 'billing'],
        ['demo', 'sharing'],
        ['demo', 'health'],
      ]) {
        const ran = await cli(words)
        assert.equal(ran.code, 0, `${words}: ${ran.out}${ran.error}`)
      }
      return {}
    },
  })
})
