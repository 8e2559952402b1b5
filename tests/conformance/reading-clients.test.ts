/** Published typed clients: billing, service health, and paging and retries of every client. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runClientTest } from './published.ts'

/** More than one page. */
const rows = Array.from({ length: 120 }, (_, at) => `2026-10-01,${at + 1}.25,Support ${at},Charge`)

test('typed clients of billing and service health, pages and retries', (t) =>
  runClientTest(t, {
    file: import.meta.filename,
    programs: ['reading.mjs'],
    packages: ['@azure/arm-billing', '@azure/arm-resourcehealth', '@azure/arm-resources'],
    environment: { ARMATURE_CONTROL: 'local' },
    async prepare({ home, cli }) {
      const file = join(home, 'rows.csv')
      writeFileSync(
        file,
        `date,transactionAmount,productDescription,transactionType\n${rows.join('\n')}\n`,
      )
      for (const words of [
        ['billing', 'import', file],
        ['demo', 'billing'],
        ['demo', 'health'],
      ]) {
        const ran = await cli(words)
        assert.equal(ran.code, 0, `${words}: ${ran.out}${ran.error}`)
      }
      return {}
    },
  }))
