/**
 * Subscriptions and their notifications, on the stores in turn, with a real receiver: handshake, notification, renewal,
 * end.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { refuse } from '#kernel/error.ts'
import { silentLog, type Timers } from '#kernel/ports.ts'
import { localServer, openWay, watchedWay } from '#outbound/testing/ways.ts'
import { realTimers } from '#plane/testing/start.ts'
import { until } from '../../../tests/until.ts'
import { openCallOut } from '../../main/outbox.ts'
import { openOutbox } from '../outbox/deliver.ts'
import { createBusiness } from '../service.ts'
import { type BusinessFixture, inTurn, openCompany } from '../testing/books.ts'
import { webhookChannel } from './webhook-channel.ts'

interface Notification {
  readonly subscriptionId: string
  readonly clientState: string
  readonly resource: string
  readonly changeType: string
  readonly expirationDateTime: string
  readonly lastModifiedDateTime: string
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  // Without an encoding, a request gives buffers.
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Answers the handshake, and keeps the notifications. While it is `silent`, it does not answer them. */
async function openReceiver() {
  const received: Notification[] = []
  const mood = { status: 200, answersToken: true, isSilent: false, during: async () => {} }
  const unanswered: ServerResponse[] = []
  const listener: RequestListener = async (request, response) => {
    const token = new URL(request.url ?? '', 'http://host').searchParams.get('validationToken')
    const body = await bodyOf(request)
    if (token !== null) {
      await mood.during()
      return void response.end(mood.answersToken ? token : 'no')
    }
    response.statusCode = mood.status
    if (mood.isSilent) return void unanswered.push(response)
    if (mood.status === 200) received.push(...(JSON.parse(body).value as Notification[]))
    response.end()
  }
  const server = await localServer(listener)
  return {
    received,
    mood,
    unanswered,
    url: `http://127.0.0.1:${server.port}/hook?code=secret`,
    async [Symbol.asyncDispose]() {
      for (const response of unanswered) response.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

const owner = '11111111-1111-1111-1111-111111111111'

async function openOffice(company: BusinessFixture, callTimers: Timers = realTimers) {
  const { sql } = company
  const clock = { at: Date.UTC(2026, 10, 21) }
  const now = () => clock.at
  const callOut = openCallOut(openWay, callTimers)
  const ids = { uuid: () => randomUUID(), secret: () => randomUUID() }
  const groupsOf = async () => []
  const disabled = new Set<string>()
  const administrators = new Set(['admin'])
  const administers = async ({ id }: { id: string }) => administrators.has(id)
  let looks = 0
  const outbox = openOutbox({
    sql,
    clock: { now },
    timers: {
      after(milliseconds) {
        // A poll has ended when the next one is scheduled, which the test triggers.
        if (milliseconds === 15_000) looks++
        return { cancel() {} }
      },
    },
    log: silentLog,
    channels: {
      Notification: webhookChannel({
        sql,
        clock: { now },
        groupsOf,
        newId: randomUUID,
        callOut,
        administers,
        isActive: async ({ id }) => !disabled.has(id),
      }),
    },
  })
  const business = createBusiness({
    sql,
    clock: { now },
    ids,
    namespace: 'Vendor',
    publicUrl: () => 'http://host',
    conflictStatus: 412,
    outbox: { wake() {}, mailSender: (address) => address, callOut },
    groupsOf,
    administers,
  })
  const ask = async (method: string, path: string, body?: object, more: object = {}) => {
    const { principal = owner, tag } = more as { principal?: string; tag?: string }
    const caller = {
      id: principal,
      type: 'User',
      tenantId: 't',
      displayName: 'x',
      clientId: 'x',
      groups: [],
    } as const
    const { status, body: text = '' } = await business.handle({
      method,
      version: 'v2.0',
      path,
      search: '',
      headers: tag === undefined ? {} : { 'if-match': tag },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      principal: caller,
      async authorizeAgain() {
        if (disabled.has(principal)) throw refuse.AuthenticationFailed()
        return caller
      },
      correlationId: 'c0ffee',
    })
    return { status, text, at: text === '' ? {} : JSON.parse(text) }
  }
  outbox.start()
  await until(() => looks > 0)
  /** Moves the clock, and lets the outbox poll twice: it sees the change, and begins to send it. */
  const poll = async (milliseconds: number) => {
    for (const part of [0, milliseconds]) {
      clock.at += part
      const before = looks
      outbox.wake()
      await until(() => looks > before)
    }
  }
  const isSending = async () => {
    const rows = await sql.all(
      `select id from business_outbox_entries
        where status = 'Waiting' and (leased_until > 0 or due_at <= ?)`,
      clock.at,
    )
    return rows.length > 0
  }
  return {
    ask,
    disabled,
    administrators,
    poll,
    /** As `poll`, until everything that is due was sent. */
    async pass(milliseconds: number) {
      await poll(milliseconds)
      await until(async () => !(await isSending()))
    },
    [Symbol.asyncDispose]: () => outbox[Symbol.asyncDispose](),
  }
}

test('what the policy of what goes out denies is not called', async () => {
  await using receiver = await openReceiver()
  const way = watchedWay({})
  const callOut = openCallOut(way.outbound, realTimers)
  for (const owner of ['someone', 'someone', 'another']) {
    const answer = await callOut(receiver.url, '{"value":[]}', owner)
    assert.deepEqual(answer, { reason: 'its address must not be asked from here' })
  }
  // The operator is warned once of what stays as it is.
  assert.equal(way.told.length, 1)
  assert.match(way.told.join(), /loopback/)
  assert.deepEqual(receiver.received, [])
})

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: what waits for a receiver is of the company it is sent for, and shows no secret`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    await using receiver = await openReceiver()
    await using office = await openOffice(company)
    const resourceOf = (id: string) => `api/v2.0/companies(${id})/customers`
    const body = { notificationUrl: receiver.url, resource: resourceOf(company.companyId) }
    const made = await office.ask('POST', 'subscriptions', body)
    receiver.mood.status = 500
    await company.create('customers', { displayName: 'C' })
    await office.pass(30_000)
    const other = await company.create('companies', { name: 'Other' })
    const moved = await office.ask(
      'PATCH',
      `subscriptions('${made.at.subscriptionId}')`,
      { resource: resourceOf(other) },
      { tag: '*' },
    )
    assert.equal(moved.status, 200, moved.text)
    receiver.mood.status = 200
    await office.pass(3_600_000)
    assert.deepEqual(receiver.received, [])
    const [entry] = await company.sql.all('select recipient from business_outbox_entries')
    assert.equal(entry?.['recipient'], new URL(receiver.url).origin)
  })

  test(`${dialect}: receivers that do not answer hold up nobody else, and few entries wait for them`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    // Calls are never given up, so the receivers end before the office does.
    await using office = await openOffice(company, { after: () => ({ cancel() {} }) })
    await using silent = await openReceiver()
    await using good = await openReceiver()
    const resource = `/api/v2.0/companies(${company.companyId})/customers`
    const subscribe = async (principal: string, notificationUrl: string) => {
      const body = { notificationUrl, resource, clientState: 'x' }
      const made = await office.ask('POST', 'subscriptions', body, { principal })
      assert.equal(made.status, 201, made.text)
      return String(made.at.subscriptionId)
    }
    const slow = await Promise.all(
      Array.from({ length: 6 }, (_, at) => subscribe('admin', `${silent.url}&at=${at}`)),
    )
    await subscribe(owner, good.url)
    silent.mood.isSilent = true
    const made: string[] = []
    const since = 'lastModifiedDateTime gt 1970-01-01T00:00:04.999Z'
    const whole = `${resource.slice(1)}?$filter=${encodeURIComponent(since)}`
    for (let round = 0; round < 8; round++) {
      const id = await company.create('customers', { displayName: `C${round}` })
      made.push(`${resource.slice(1)}(${id})`)
      await office.poll(30_000)
      for (let looks = 0; good.received.length <= round && looks < 400; looks++) {
        await setTimeout(5)
      }
      assert.equal(good.received.length, round + 1, `round ${round}`)
      if (round !== 6) continue
      // One notification of the whole collection takes what changes afterwards.
      const [changeType, lastModifiedDateTime] = ['collection', '1970-01-01T00:00:05.000Z']
      await company.sql.transact((tx) =>
        tx.run(
          `update business_outbox_entries set message = ? where sender = ? and status = 'Waiting'`,
          JSON.stringify([{ resource: whole, changeType, lastModifiedDateTime }]),
          String(slow[0]),
        ),
      )
    }
    const waiting = await company.sql.all(
      `select sender, count(*) as n from business_outbox_entries where status = 'Waiting' group by sender`,
    )
    const counts = new Map(waiting.map(({ sender, n }) => [String(sender), Number(n)]))
    assert.deepEqual(
      slow.map((id) => counts.get(id)),
      slow.map(() => 4),
    )
    assert.equal(silent.unanswered.length, 2)
    // Nothing was lost, and each row is in one entry.
    silent.mood.isSilent = false
    for (const response of silent.unanswered.splice(0)) response.destroy()
    await office.pass(60_000)
    for (const [at, id] of slow.entries()) {
      const received = silent.received.filter((one) => one.subscriptionId === id)
      const told = new Set(received.map((one) => one.resource))
      assert.equal(received.length, at === 0 ? 4 : told.size)
      assert.deepEqual([...told].toSorted(), at === 0 ? [whole] : made.toSorted())
    }
  })

  test(`${dialect}: a subscription from the handshake to its end`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    await using receiver = await openReceiver()
    await using office = await openOffice(company)
    const { ask, disabled, administrators, pass } = office
    const below = `companies(${company.companyId})`
    const wanted = {
      notificationUrl: receiver.url,
      resource: `https://host/api/v2.0/${below}/salesInvoices`,
      clientState: 'between us',
    }
    const refusedBecause = async (change: object, reason: RegExp, more: object = {}) => {
      const { status, text } = await ask('POST', 'subscriptions', { ...wanted, ...change }, more)
      assert.ok(status >= 400 && status < 500, text)
      assert.match(text, reason)
    }
    await refusedBecause({ resource: `api/v2.0/${below}/salesInvoiceLines` }, /salesInvoices/)
    await refusedBecause({ notificationUrl: 'http://example.com/' }, /https was expected/)
    await refusedBecause({ notificationUrl: undefined }, /notificationUrl/)
    await refusedBecause({ clientState: 'x'.repeat(2049) }, /2048/)
    await refusedBecause({}, /no right/, { principal: randomUUID() })
    receiver.mood.answersToken = false
    await refusedBecause({}, /validationToken/)
    receiver.mood.answersToken = true
    const made = await ask('POST', 'subscriptions', wanted)
    assert.equal(made.status, 201, made.text)
    assert.equal(made.at.resource, `api/v2.0/${below}/salesInvoices`)
    assert.equal(made.at.expirationDateTime, '2026-11-24T00:00:00.000Z')
    const at = `subscriptions('${made.at.subscriptionId}')`
    assert.equal((await ask('GET', 'subscriptions')).at.value.length, 1)
    const stranger = { principal: randomUUID() }
    assert.equal((await ask('GET', 'subscriptions', undefined, stranger)).at.value.length, 0)
    assert.equal((await ask('DELETE', at, undefined, stranger)).status, 404)
    const seen = await ask('GET', at, undefined, { principal: 'admin' })
    assert.deepEqual([seen.status, seen.at.clientState], [200, ''])

    await t.test(
      'whoever loses the right while hands are shaken gets no subscription',
      async () => {
        const role = (to: string) =>
          company.sql.transact((tx) => tx.run('update business_access_rights set role = ?', to))
        const count = async () => (await ask('GET', 'subscriptions')).at.value.length
        const before = await count()
        const { revision } =
          (await company.sql.all('select revision from business_subscriptions'))[0] ?? {}
        for (const [lose, give, status] of [
          [() => role('none'), () => role('full'), 403],
          [async () => disabled.add(owner), async () => disabled.delete(owner), 401],
        ] as const) {
          receiver.mood.during = async () => void (await lose())
          const refused = await ask('POST', 'subscriptions', wanted)
          await give()
          const renewed = await ask('PATCH', at, {}, { tag: '*' })
          await give()
          assert.deepEqual([refused.status, renewed.status], [status, status], refused.text)
        }
        receiver.mood.during = async () => {}
        assert.equal(await count(), before)
        const [row] = await company.sql.all('select revision from business_subscriptions')
        assert.equal(row?.['revision'], revision)
      },
    )

    await t.test('a document is notified of once, whatever of it changed', async () => {
      const id = await company.create('salesInvoices', {
        customerId: company.customerId,
        salesInvoiceLines: [{ itemId: company.itemId, quantity: 3 }],
      })
      const gone = await company.create('salesInvoices', { customerId: company.customerId })
      await company.remove('salesInvoices', gone)
      await company.create('salesQuotes', { customerId: company.customerId })
      await pass(29_000)
      assert.equal(receiver.received.length, 0)
      await pass(1_000)
      assert.deepEqual(
        receiver.received.map((one) => ({ ...one, expirationDateTime: '' })),
        [
          {
            subscriptionId: made.at.subscriptionId,
            clientState: 'between us',
            resource: `api/v2.0/${below}/salesInvoices(${id})`,
            changeType: 'created',
            lastModifiedDateTime: '2026-11-21T00:00:00.000Z',
            expirationDateTime: '',
          },
        ],
      )
      receiver.received.length = 0
      const [line] = await company.lines(id)
      await company.change('salesInvoiceLines', String(line?.['id']), { quantity: 4 }, '*')
      await company.act('salesInvoices', id, 'post')
      await pass(30_000)
      assert.deepEqual(
        receiver.received.map(({ resource, changeType }) => [resource, changeType]),
        [[`api/v2.0/${below}/salesInvoices(${id})`, 'updated']],
      )
      // The store contains neither the secret nor that of the address.
      const kept = JSON.stringify(await company.sql.all('select * from business_outbox_entries'))
      assert.doesNotMatch(kept, /between us|code=secret/)
    })

    await t.test('a customer changes by what is posted, and many are a collection', async () => {
      const customers = { ...wanted, resource: `/api/v2.0/${below}/customers` }
      const units = { ...wanted, resource: `/api/v2.0/${below}/unitsOfMeasure` }
      for (const one of [customers, units]) {
        assert.equal((await ask('POST', 'subscriptions', one)).status, 201)
      }
      receiver.received.length = 0
      const id = await company.create('salesInvoices', {
        customerId: company.customerId,
        salesInvoiceLines: [{ itemId: company.itemId, quantity: 1 }],
      })
      await company.act('salesInvoices', id, 'post')
      await company.sql.transact(async (tx) => {
        for (let number = 0; number < 1001; number++) {
          await tx.run(
            `insert into business_units_of_measure (id, company_id, revision, code, last_modified_date_time) values (?, ?, 1, ?, 5000)`,
            randomUUID(),
            company.companyId,
            `U${number}`,
          )
        }
      })
      await pass(30_000)
      const paths = receiver.received.map(
        ({ resource, changeType }) => `${changeType} ${resource.replace(/^.*\//, '')}`,
      )
      assert.deepEqual(paths.toSorted(), [
        'collection unitsOfMeasure?$filter=lastModifiedDateTime%20gt%201970-01-01T00%3A00%3A04.999Z',
        `created salesInvoices(${id})`,
        `updated customers(${company.customerId})`,
      ])
      for (const { subscriptionId } of (await ask('GET', 'subscriptions')).at.value) {
        if (subscriptionId === made.at.subscriptionId) continue
        assert.equal((await ask('DELETE', `subscriptions(${subscriptionId})`)).status, 204)
      }
    })

    await t.test(
      'a receiver that is away is notified later; one that is none any more is not',
      async () => {
        receiver.received.length = 0
        receiver.mood.status = 503
        await company.create('salesInvoices', { customerId: company.customerId })
        await pass(30_000)
        receiver.mood.status = 200
        await pass(1_000)
        assert.deepEqual(receiver.received, [])
        await pass(60_000)
        assert.equal(receiver.received.length, 1)
        receiver.received.length = 0
        const stale = await ask('PATCH', at, {}, { tag: 'W/"old"' })
        assert.equal(stale.status, 412, stale.text)
        receiver.mood.answersToken = false
        assert.equal((await ask('PATCH', at, {}, { tag: '*' })).status, 400)
        receiver.mood.answersToken = true
        // Who is not its maker moves it to another receiver without its secret only.
        const elsewhere = { notificationUrl: `${receiver.url}&elsewhere` }
        const byAdministrator = { tag: '*', principal: 'admin' }
        const moved = await ask('PATCH', at, elsewhere, byAdministrator)
        assert.equal(moved.status, 400, moved.text)
        assert.match(moved.text, /clientState/)
        const kept = await ask('PATCH', at, {}, byAdministrator)
        assert.equal(kept.status, 200, kept.text)
        const second = await ask('POST', 'subscriptions', wanted)
        const there = `subscriptions('${second.at.subscriptionId}')`
        const given = { ...elsewhere, clientState: 'of the administrator' }
        assert.equal((await ask('PATCH', there, given, byAdministrator)).status, 200)
        assert.equal((await ask('GET', there)).status, 404)
        const theirs = await ask('GET', there, undefined, { principal: 'admin' })
        assert.equal(theirs.at.clientState, 'of the administrator')
        assert.equal((await ask('DELETE', there, undefined, { principal: 'admin' })).status, 204)
        const renewed = await ask('PATCH', at, {}, { tag: '*' })
        assert.equal(renewed.status, 200, renewed.text)
        assert.ok(renewed.at.expirationDateTime > made.at.expirationDateTime)
        receiver.mood.status = 404
        await company.create('salesInvoices', { customerId: company.customerId })
        await pass(30_000)
        assert.equal((await ask('GET', at)).status, 404)
        receiver.mood.status = 200
      },
    )

    await t.test(
      'it ends after three days, with who has it, and with the right to read',
      async () => {
        assert.equal((await ask('POST', 'subscriptions', wanted)).status, 201)
        await pass(3 * 86_400_000)
        assert.deepEqual((await ask('GET', 'subscriptions')).at.value, [])
        for (const who of [owner, 'admin']) {
          const by = { principal: who }
          const mine = await ask('POST', 'subscriptions', wanted, by)
          assert.equal(mine.status, 201, mine.text)
          disabled.add(who)
          await company.create('salesInvoices', { customerId: company.customerId })
          receiver.received.length = 0
          await pass(30_000)
          assert.deepEqual(receiver.received, [], `${who} was disabled`)
          disabled.delete(who)
          assert.deepEqual((await ask('GET', 'subscriptions', undefined, by)).at.value, [])
        }
        const by = { principal: 'admin' }
        assert.equal((await ask('POST', 'subscriptions', wanted, by)).status, 201)
        // An administrator who renews the subscription of somebody does not lend them the role.
        const mine = await ask('POST', 'subscriptions', wanted)
        const mineAt = `subscriptions('${mine.at.subscriptionId}')`
        assert.equal((await ask('PATCH', mineAt, {}, { ...by, tag: '*' })).status, 200)
        const [stored] = await company.sql.all(
          'select maker from business_subscriptions where id = ?',
          mine.at.subscriptionId,
        )
        assert.equal(JSON.parse(String(stored?.['maker'])).id, owner)
        assert.equal((await ask('DELETE', mineAt, undefined, { tag: '*' })).status, 204)
        administrators.delete('admin')
        await company.create('salesInvoices', { customerId: company.customerId })
        receiver.received.length = 0
        await pass(30_000)
        assert.deepEqual(receiver.received, [], 'no administrator any more')
        assert.deepEqual((await ask('GET', 'subscriptions', undefined, by)).at.value, [])
        administrators.add('admin')
        // One principal has an eighth of them.
        const many = Array.from({ length: 30 }, () => ask('POST', 'subscriptions', wanted))
        const made = (await Promise.all(many)).filter(({ status }) => status === 201)
        assert.equal(made.length, 25)
        await refusedBecause({}, /You have 25 subscriptions, the limit per principal/)
        assert.equal((await ask('POST', 'subscriptions', wanted, by)).status, 201)
        await company.sql.transact((tx) =>
          tx.run(`delete from business_subscriptions where user_id = 'admin'`),
        )
        await company.create('salesInvoices', { customerId: company.customerId })
        await company.sql.transact((tx) => tx.run('delete from business_access_rights'))
        receiver.received.length = 0
        await pass(30_000)
        assert.deepEqual(receiver.received, [])
        assert.deepEqual((await ask('GET', 'subscriptions')).at.value, [])
        const noted = await company.sql.all('select number from business_changes')
        await company.create('salesInvoices', { customerId: company.customerId })
        assert.deepEqual(await company.sql.all('select number from business_changes'), noted)
      },
    )
  })
}
