/**
 * The server is killed while a file is imported, usage is charged and invoices are made. Whatever the moment: what
 * was answered is there, nothing is there twice, and every invoice is the sum of its transactions.
 */

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshHome, type Installation, startInstallation } from '../e2e/installation.ts'
import { seededRandom } from '../fuzz/random.ts'

const version = 'api-version=2024-04-01'
const rowsTotal = 6000
const rowsPerPiece = 100
const rounds = process.env['ARMATURE_TEST_LONG'] === '1' ? 20 : 4

const row = (at: number): string =>
  `${JSON.stringify({ date: '2026-05-01', transactionAmount: at / 100, productDescription: `Product ${at % 7}` })}\n`

class Billing {
  readonly #on: Installation
  readonly account: string
  readonly profile: string

  constructor(on: Installation) {
    this.#on = on
    this.account = `/providers/Vendor.Billing/billingAccounts/${on.tenantId}`
    this.profile = `${this.account}/billingProfiles/default`
  }

  /** Goes on with the import until it is complete or the server is gone. */
  async importAll(): Promise<void> {
    const state = await this.#on.request('GET', `${this.profile}/imports/rows?${version}`)
    let position = state.status === 200 ? Number(state.at('properties.position')) : 0
    while (position < rowsTotal) {
      const text = Array.from({ length: rowsPerPiece }, (_, at) => row(position + at)).join('')
      const answer = await this.#on.request(
        'POST',
        `${this.profile}/importTransactions?${version}`,
        {
          body: {
            name: 'rows',
            format: 'ndjson',
            position,
            digest: position === 0 ? '' : String(position),
            nextPosition: position + rowsPerPiece,
            nextDigest: String(position + rowsPerPiece),
            firstLine: position + 1,
            text,
          },
        },
      )
      assert.equal(answer.status, 200, answer.text)
      position += rowsPerPiece
    }
  }

  async again(action: string): Promise<never> {
    for (;;) {
      const answer = await this.#on.request('POST', `${this.profile}/${action}?${version}`, {
        body: {},
      })
      assert.ok([200, 409].includes(answer.status), answer.text)
      await sleep(5)
    }
  }
}

const group = (on: Installation, at = ''): string =>
  `/subscriptions/${on.subscriptionId}/resourceGroups/rg/providers/Vendor.ContainerInstance/containerGroups/web${at}?api-version=2025-09-01`

const container = {
  name: 'one',
  properties: {
    image: 'registry.example/web:1',
    resources: { requests: { cpu: 0.5, memoryInGB: 1 } },
  },
}

test('import, rating and invoicing outlive kill -9 of the server', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const random = seededRandom(seed)
  const home = freshHome()
  const start = () =>
    startInstallation({
      home,
      environment: { ARMATURE_CONTAINERS: 'simulated', ARMATURE_THROTTLE: 'false' },
    })
  let running = await start()
  try {
    const body = { location: 'here', properties: { osType: 'Linux', containers: [container] } }
    assert.equal((await running.request('PUT', group(running), { body })).status, 201)
    const reached: unknown[] = []
    for (let round = 0; round < rounds; round++) {
      const billing = new Billing(running)
      const gone = () => undefined
      const work = [
        billing.importAll().catch(gone),
        billing.again('chargeUsage').catch(gone),
        billing.again('closeInvoices').catch(gone),
      ]
      const restart = round % 2 === 0 ? 'stop' : 'start'
      await running.request('POST', group(running, `/${restart}`)).catch(gone)
      await sleep(100 + random.below(700))
      await running.kill()
      await Promise.all(work)
      await running[Symbol.asyncDispose]()
      running = await start()
      const state = await running.request(
        'GET',
        `${new Billing(running).profile}/imports/rows?${version}`,
      )
      reached.push(state.at('properties.position'))
    }
    t.diagnostic(`rows at each kill: ${reached.join(', ')}`)
    const billing = new Billing(running)
    await billing.importAll()
    await running.request('POST', group(running, '/stop'))
    await settled(running)
    for (const action of ['chargeUsage', 'closeInvoices']) {
      const path = `${billing.profile}/${action}?${version}`
      const answer = await running.request('POST', path, { body: {} })
      assert.ok([200, 409].includes(answer.status), answer.text)
    }
    const invoices = await running.request(
      'GET',
      `${billing.account}/invoices?${version}&count=true`,
    )
    let entries = 0
    for (const { name } of invoices.items()) {
      const at = `${billing.account}/invoices/${name}`
      const list = await running.request('GET', `${at}/transactions?${version}&count=true&top=1`)
      entries += Number(list.at('count'))
      const summary = await running.request('GET', `${at}/transactionSummary?${version}`)
      const one = await running.request('GET', `${at}?${version}`)
      assert.equal(one.at('properties.totalAmount.value'), summary.at('total'))
    }
    await running.kill()
    assertLedger(join(home, 'armature.db'), entries)
  } finally {
    await running[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true })
  }
})

async function settled(on: Installation): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    const answer = await on.request('GET', group(on))
    if (
      answer.at('properties.provisioningState') === 'Succeeded' &&
      answer.at('properties.instanceView.state') === 'Stopped'
    )
      return
    await sleep(50)
  }
  assert.fail('the group never stopped')
}

/** Past the server: rows against sums, and seconds that ran against seconds that were charged. */
function assertLedger(path: string, entriesShown: number): void {
  const db = new DatabaseSync(path, { readOnly: true })
  const one = (text: string): Record<string, unknown> => ({ ...db.prepare(text).get() })
  const counted = one(
    `select count(*) as n, count(distinct name) as names, cast(sum(amount) as text) as amount,
       sum(case when units is null then 1 else 0 end) as imported from billing_entries`,
  )
  assert.equal(counted['imported'], rowsTotal, 'rows of the file')
  assert.equal(counted['names'], counted['n'], 'a name twice')
  assert.equal(counted['n'], entriesShown, 'entries on invoices')
  const sums = one(
    'select sum(entries) as n, cast(sum(amount) as text) as amount from billing_statements',
  )
  assert.deepEqual([sums['n'], sums['amount']], [counted['n'], counted['amount']])
  const parts = one(
    'select sum(entries) as n, cast(sum(amount) as text) as amount from billing_statement_dimensions',
  )
  assert.deepEqual([parts['n'], parts['amount']], [counted['n'], counted['amount']])
  const open = one('select count(*) as n from billing_usage where unrated = 1')
  assert.equal(open['n'], 0, 'runs that are not charged')
  const ran = one(
    'select count(*) as n, sum(cast((ended_at - started_at) / 1000 as integer)) as seconds from billing_usage',
  )
  assert.ok(Number(ran['n']) >= 2, 'the group hardly ran')
  const charged = one(
    `select coalesce(sum(units), 0) as hours from billing_entries where dimension_id in
       (select id from billing_dimensions where document like '%"vCPU"%')`,
  )
  const seconds = (Number(charged['hours']) * 3600) / 0.5
  assert.ok(Math.abs(seconds - Number(ran['seconds'])) < 1e-6, `${seconds} of ${ran['seconds']}`)
  db.close()
}
