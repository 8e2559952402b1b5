/** The billing commands on a real installation: from usage to a refund, and files in parts. */

import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startInstallation } from '../../tests/e2e/installation.ts'

const version = 'api-version=2024-04-01'

test('what a container cost, its invoice, a refund; a file that grows, and another of its name', async () => {
  const environment = { ARMATURE_CONTAINERS: 'simulated' }
  await using installation = await startInstallation({ environment })
  const folder = mkdtempSync(join(tmpdir(), 'armature-billing-'))
  const run = async (...words: readonly string[]) => {
    const ran = await installation.cli(words)
    assert.equal(ran.code, 0, `${words.join(' ')}: ${ran.error}`)
    return ran.out
  }
  try {
    await run('resource-group', 'create', 'demo', '--location', 'local')
    const image = ['--image', 'registry.example/web:1']
    await run('container-group', 'create', 'web', '-g', 'demo', ...image, '--cpu', '2')
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await run('container-group', 'delete', 'web', '-g', 'demo')
    assert.match(await run('billing', 'usage'), /charges +2$/m)
    assert.match(await run('billing', 'transactions'), /Usage Charge.*vCPU/)

    const file = join(folder, 'rows.csv')
    const line = (at: number) => `2026-05-01,${at}.25,"Product, ${at % 9}"\n`
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => line(from + at)).join('')
    writeFileSync(file, `date,transactionAmount,productDescription\n${lines(0, 20_000)}`)
    assert.match(await run('billing', 'import', file), /recorded +20000/)
    assert.match(await run('billing', 'import', file), /recorded +20000/)
    appendFileSync(file, lines(20_000, 20_010))
    assert.match(await run('billing', 'import', file), /recorded +20010/)
    writeFileSync(file, `date,transactionAmount\n${'2026-05-01,1\n'.repeat(60_000)}`)
    const other = await installation.cli(['billing', 'import', file])
    assert.notEqual(other.code, 0)
    assert.match(other.error, /another --name/)
    writeFileSync(join(folder, 'bad.csv'), 'date,transactionAmount\n2026-05-01,1\nnever,1\n')
    const bad = await installation.cli(['billing', 'import', join(folder, 'bad.csv')])
    assert.equal(bad.code, 1)
    assert.match(bad.out, /3 +date/)

    assert.match(await run('billing', 'close'), /G000000001/)
    assert.match(await run('billing', 'invoices'), /G000000002/)
    const account = `/providers/Vendor.Billing/billingAccounts/${installation.tenantId}`
    const list = `${account}/invoices/G000000001/transactions?${version}&count=true`
    const answer = await installation.request(
      'GET',
      `${list}&top=1&orderBy=transactionAmount/value desc`,
    )
    assert.equal(answer.at('count'), 20_011)
    const name = String(answer.at('value.0.name'))
    assert.match(await run('billing', 'refund', name, '--amount', '1.5'), /Refund/)
    assert.match(await run('billing', 'transactions'), /-1\.5 USD +Pending/)
    assert.match(await run('demo', 'billing', '--run'), /HTTP 200/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
