/**
 * The server is killed while a file is imported, usage is charged and invoices are created, at least once during
 * each. Whatever the moment: everything that was answered is there, nothing is there twice, and every invoice is
 * the sum of its transactions. On both stores, in the ordinary suite on SQLite.
 */

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { freshHome, type Installation, startInstallation } from '../e2e/installation.ts'
import { seededRandom } from '../fuzz/random.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'

const version = 'api-version=2024-04-01'
const rowsTotal = isLong ? 60_000 : 12_000
const rowsPerPiece = 100

/** The least number of kills during each kind of work. */
const hitsWanted = isLong ? 5 : 1
const roundsMin = isLong ? 20 : 4
const roundsMax = 100

const works = ['importTransactions', 'chargeUsage', 'closeInvoices'] as const
type Work = (typeof works)[number]

const row = (at: number): string =>
  `${JSON.stringify({ date: '2026-05-01', transactionAmount: at / 100, productDescription: `Product ${at % 7}` })}\n`

class Billing {
  /** Work that was requested and is not answered. */
  readonly open = new Set<Work>()
  readonly #took = new Map<Work, number>()
  #isPaused = false
  readonly #on: Installation
  readonly account: string
  readonly profile: string

  constructor(on: Installation) {
    this.#on = on
    this.account = `/providers/Vendor.Billing/billingAccounts/${on.tenantId}`
    this.profile = `${this.account}/billingProfiles/default`
  }

  /** Continues the import until it is complete or the server is gone. */
  async importAll(): Promise<void> {
    const state = await this.#on.request('GET', `${this.profile}/imports/rows?${version}`)
    let position = state.status === 200 ? Number(state.at('properties.position')) : 0
    while (position < rowsTotal && !this.#isPaused) {
      const text = Array.from({ length: rowsPerPiece }, (_, at) => row(position + at)).join('')
      const status = await this.#ask('importTransactions', {
        name: 'rows',
        format: 'ndjson',
        position,
        digest: position === 0 ? '' : String(position),
        nextPosition: position + rowsPerPiece,
        nextDigest: String(position + rowsPerPiece),
        firstLine: position + 1,
        text,
      })
      assert.equal(status, 200)
      position += rowsPerPiece
    }
  }

  async again(work: Work): Promise<never> {
    for (;;) {
      assert.ok([200, 409].includes(await this.#ask(work, {})))
      await sleep(2)
    }
  }

  /** Stops the import after the current part. */
  pause(): void {
    this.#isPaused = true
  }

  goOn(): void {
    this.#isPaused = false
  }

  /** Resolves as soon as the work is requested and not answered, or after a while if nobody requests it. */
  async asked(work: Work): Promise<void> {
    for (let looks = 0; looks < 200 && !this.open.has(work); looks++) await sleep(1)
  }

  /** Milliseconds until the last answer. */
  took(work: Work): number {
    return this.#took.get(work) ?? 1
  }

  /** Without an answer, it stays open. */
  async #ask(work: Work, body: object): Promise<number> {
    this.open.add(work)
    const began = performance.now()
    const answer = await this.#on.request('POST', `${this.profile}/${work}?${version}`, { body })
    this.#took.set(work, performance.now() - began)
    this.open.delete(work)
    return answer.status
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

async function outlives(t: TestContext, store: string | undefined): Promise<void> {
  const seed = isLong ? randomInt(2 ** 31) : 1
  t.diagnostic(`seed ${seed}`)
  const random = seededRandom(seed)
  const home = freshHome()
  const start = () =>
    startInstallation({
      home,
      ...(store === undefined ? {} : { store }),
      environment: { ARMATURE_CONTAINERS: 'simulated', ARMATURE_THROTTLE: 'false' },
    })
  let running = await start()
  try {
    const body = { location: 'here', properties: { osType: 'Linux', containers: [container] } }
    assert.equal((await running.request('PUT', group(running), { body })).status, 201)
    const hits = new Map<Work, number>(works.map((work) => [work, 0]))
    const left = (): Work | undefined => works.find((work) => (hits.get(work) ?? 0) < hitsWanted)
    for (let round = 0; round < roundsMin || left() !== undefined; round++) {
      assert.ok(round < roundsMax, `kills never fell within ${left()}`)
      const aim = works[round % works.length] ?? 'importTransactions'
      const billing = new Billing(running)
      const gone = () => undefined
      const restart = round % 2 === 0 ? 'stop' : 'start'
      const work = [
        running.request('POST', group(running, `/${restart}`)).catch(gone),
        billing.importAll().catch(gone),
      ]
      await sleep(50 + random.below(200))
      // Alone with the aim, so that it is not queued when the server is killed.
      billing.pause()
      await Promise.all(work)
      if (aim === 'importTransactions') billing.goOn()
      work.push(
        (aim === 'importTransactions' ? billing.importAll() : billing.again(aim)).catch(gone),
      )
      await sleep(random.below(aim === 'importTransactions' ? 200 : 30))
      await billing.asked(aim)
      await sleep(random.below(Math.ceil(billing.took(aim)) + 1))
      await running.kill()
      await Promise.all(work)
      if (billing.open.has(aim)) hits.set(aim, (hits.get(aim) ?? 0) + 1)
      await running[Symbol.asyncDispose]()
      running = await start()
    }
    t.diagnostic(`kills within ${[...hits].map(([work, count]) => `${work}: ${count}`).join(', ')}`)
    const billing = new Billing(running)
    await billing.importAll()
    // The kills may have left no time for more than one run, so the group runs once more.
    await reached(running, 'stop')
    await reached(running, 'start')
    await reached(running, 'stop')
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
    if (store === undefined) {
      const db = new DatabaseSync(join(home, 'armature.db'), { readOnly: true })
      await assertLedger(async (text) => ({ ...db.prepare(text).get() }), entries)
      db.close()
    } else {
      const client = new pg.Client({ connectionString: store })
      await client.connect()
      try {
        await assertLedger(async (text) => (await client.query(text)).rows[0] ?? {}, entries)
      } finally {
        await client.end()
      }
    }
  } finally {
    await running[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true })
  }
}

test('import, rating and invoicing outlive kill -9 of the server, on SQLite', (t) =>
  outlives(t, undefined))

if (isLong) {
  test('import, rating and invoicing outlive kill -9 of the server, on PostgreSQL', async (t) => {
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    await using server = await startPostgres({ fsync: false })
    await outlives(t, await server.createDatabase())
  })
}

/**
 * On PostgreSQL another replica takes over the work of a killed server when its lease ends, half a minute later.
 */
const patienceMilliseconds = 120_000

const stateAfter = { start: 'Running', stop: 'Stopped' }

async function reached(on: Installation, action: keyof typeof stateAfter): Promise<void> {
  const until = performance.now() + patienceMilliseconds
  while (performance.now() < until) {
    const answer = await on.request('GET', group(on))
    const state = answer.at('properties.provisioningState')
    const shown = answer.at('properties.instanceView.state')
    if (state === 'Succeeded' && shown === stateAfter[action]) return
    // Refused while something else is running. The repeated request is the same.
    await on.request('POST', group(on, `/${action}`))
    await sleep(200)
  }
  assert.fail(`${action} never had its effect`)
}

/** Read directly from the store: rows against sums, and seconds that ran against seconds that were charged. */
async function assertLedger(
  one: (text: string) => Promise<Readonly<Record<string, unknown>>>,
  entriesShown: number,
): Promise<void> {
  const counted = await one(
    `select count(*) as n, count(distinct name) as names, cast(sum(amount) as text) as amount,
       sum(case when units is null then 1 else 0 end) as imported from billing_entries`,
  )
  const count = Number(counted['n'])
  assert.equal(Number(counted['imported']), rowsTotal, 'rows of the file')
  assert.equal(Number(counted['names']), count, 'a name twice')
  assert.equal(count, entriesShown, 'entries on invoices')
  for (const table of ['billing_statements', 'billing_statement_dimensions']) {
    const sums = await one(
      `select sum(entries) as n, cast(sum(amount) as text) as amount from ${table}`,
    )
    assert.deepEqual([Number(sums['n']), sums['amount']], [count, counted['amount']], table)
  }
  const open = await one('select count(*) as n from billing_usage where unrated = 1')
  assert.equal(Number(open['n']), 0, 'runs that are not charged')
  const ran = await one(
    'select count(*) as n, sum((ended_at - started_at) / 1000) as seconds from billing_usage',
  )
  assert.ok(Number(ran['n']) >= 2, 'the group hardly ran')
  const charged = await one(
    `select coalesce(sum(units), 0) as hours from billing_entries where dimension_id in
       (select id from billing_dimensions where document like '%"vCPU"%')`,
  )
  const seconds = (Number(charged['hours']) * 3600) / 0.5
  assert.ok(
    Math.abs(seconds - Number(ran['seconds'])) < 1e-6,
    `${seconds} of ${String(ran['seconds'])}`,
  )
}
