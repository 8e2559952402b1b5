/** `serve --seed`: the same seed makes the same installation on every machine, from both kinds of file and on both stores. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { type Installation, startInstallation } from './installation.ts'

const whole = {
  principals: [{ name: 'lena' }, { name: 'ci', type: 'application' }],
  groups: [{ name: 'readers', members: ['lena'] }],
  resources: [
    {
      path: '/subscriptions/{subscription}/resourceGroups/web?api-version=2021-04-01',
      body: { location: 'local', tags: { owner: '{principal:lena}', tenant: '{tenant}' } },
    },
  ],
  roleAssignments: [{ principal: 'readers', role: 'Reader' }],
  transactions: [
    {
      properties: {
        date: '2026-10-01',
        transactionAmount: { currency: 'USD', value: 12.5 },
        productDescription: 'Support',
      },
    },
  ],
  healthEvents: [
    {
      method: 'POST',
      path: '/subscriptions/{subscription}/providers/Vendor.ResourceHealth/events/DRILL-1/publish?api-version=2025-05-01',
      body: {
        properties: { eventType: 'ServiceIssue', eventLevel: 'Error', title: 'Slow starts' },
      },
    },
  ],
  companies: [
    { method: 'POST', path: '/api/v2.0/companies', body: { name: 'Paper' }, as: 'paper' },
    {
      method: 'POST',
      path: '/api/v2.0/companies({paper})/customers',
      body: { displayName: 'Adatum' },
      as: 'adatum',
    },
    {
      method: 'POST',
      path: '/api/v2.0/companies({paper})/salesInvoices',
      body: { customerId: '{adatum}' },
    },
  ],
}

/** What another machine with the same seed has to show, too: whole answers, without their moments. */
async function shownBy(server: Installation): Promise<readonly string[]> {
  const { subscriptionId, tenantId } = server
  const subscription = `/subscriptions/${subscriptionId}`
  const profile = `/providers/Vendor.Billing/billingAccounts/${tenantId}/billingProfiles/default`
  const period = 'type=Unbilled&periodStartDate=2026-10-01&periodEndDate=2026-10-31'
  const paths = [
    '/directory/users',
    '/directory/servicePrincipals',
    '/directory/groups',
    `${subscription}/resourceGroups?api-version=2021-04-01`,
    `${subscription}/providers/Vendor.Authorization/roleAssignments?api-version=2022-04-01`,
    `${profile}/transactions?${period}&api-version=2024-04-01`,
    `${subscription}/providers/Vendor.ResourceHealth/events?api-version=2025-05-01`,
    '/api/v2.0/companies',
  ]
  const shown: string[] = []
  for (const path of paths) {
    const { status, text } = await server.request('GET', path)
    assert.equal(status, 200, text)
    shown.push(text)
  }
  const companies = JSON.parse(shown.at(-1) ?? '') as { readonly value: readonly { id: string }[] }
  const [company] = companies.value
  const invoices = `/api/v2.0/companies(${company?.id})/salesInvoices?$expand=customer`
  shown.push((await server.request('GET', invoices)).text)
  return shown.map((text) =>
    text.replaceAll(/"\d{4}-\d\d-\d\dT[^"]+"/g, '"at"').replaceAll(server.url, ''),
  )
}

test('two machines with the same seed start the same, from YAML and from JSON, on both stores', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-seed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [yaml, json] = [join(folder, 'seed.yaml'), join(folder, 'seed.json')]
  writeFileSync(yaml, stringify(whole))
  writeFileSync(json, JSON.stringify(whole))
  const shown = async (file: string, store?: string): Promise<readonly string[]> => {
    const given = store === undefined ? {} : { store }
    await using server = await startInstallation({ words: ['--seed', file], ...given })
    const all = await shownBy(server)
    for (const [at, text] of [
      'lena',
      '"ci"',
      'readers',
      '/resourceGroups/web',
      '5eed0000',
    ].entries()) {
      assert.ok(all[at]?.includes(text), `${text}: ${all[at]}`)
    }
    for (const [at, text] of ['Support', 'Slow starts', 'Paper', 'Adatum'].entries()) {
      assert.ok(all[at + 5]?.includes(text), `${text}: ${all[at + 5]}`)
    }
    return all
  }
  const first = await shown(yaml)
  assert.deepEqual(await shown(json), first)
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using postgres = await startPostgres()
  assert.deepEqual(await shown(json, await postgres.createDatabase()), first)
})
