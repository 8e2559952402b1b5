/**
 * From the action to the mail: what is written in its transaction, what is sent, how often it is retried, what is
 * kept.
 */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { type Sql, type SqlRow, StoreUnavailable } from '#stores/store.ts'
import { until } from '../../../tests/until.ts'
import { createPdfMaker } from '../documents/pdf-maker.ts'
import { refuse } from '../errors.ts'
import { type BusinessFixture, inTurn, openCompany } from '../testing/books.ts'
import { pdfText } from '../testing/pdf-text.ts'
import { NotDelivered, type Outbox, openOutbox } from './deliver.ts'
import { type Mailer, mailChannel } from './mail-channel.ts'

const minute = 60_000
const start = Date.UTC(2026, 10, 21)

interface Sent {
  readonly to: readonly string[]
  readonly message: string
}

/** A mail server of the test. Accepted mails are in `sent`, and it fails as `answer` says. */
function openPost(company: BusinessFixture) {
  const sent: Sent[] = []
  const mails: Parameters<Mailer['compose']>[0][] = []
  const clock = { at: start }
  let answer: (() => Promise<void>) | undefined
  let composing: (() => Promise<unknown>) | undefined
  const mailer: Mailer = {
    async compose(mail) {
      mails.push(mail)
      await composing?.()
      return `Message-ID: ${mail.id}\r\n\r\nmail ${mails.length}`
    },
    async send({ to }, message) {
      await answer?.()
      sent.push({ to, message })
      return { refused: [] }
    },
  }
  const waiting: { readonly due: number; run: () => unknown }[] = []
  const open = (sql = company.sql): Outbox => {
    const outbox = openOutbox({
      sql,
      clock: { now: () => clock.at },
      timers: {
        after(milliseconds, run) {
          const one = { due: clock.at + milliseconds, run }
          waiting.push(one)
          return { cancel: () => void waiting.splice(waiting.indexOf(one) >>> 0, 1) }
        },
      },
      log: silentLog,
      channels: { Mail: mailChannel(mailer, createPdfMaker()) },
    })
    outbox.start()
    return outbox
  }
  return {
    sent,
    mails,
    open,
    answers(with_: (() => Promise<void>) | undefined) {
      answer = with_
    },
    composes(with_: () => Promise<unknown>) {
      composing = with_
    },
    /** Moves the clock, and runs what became due. */
    async pass(milliseconds: number) {
      await until(() => waiting.length > 0)
      clock.at += milliseconds
      const due = waiting.filter((one) => one.due <= clock.at)
      for (const one of due) waiting.splice(waiting.indexOf(one), 1)
      await Promise.all(due.map((one) => one.run()))
    },
  }
}

async function entries(company: BusinessFixture): Promise<readonly SqlRow[]> {
  return await company.sql.all('select * from business_outbox_entries order by id')
}

async function invoice(company: BusinessFixture, more: object = {}): Promise<string> {
  return await company.create('salesInvoices', {
    customerId: company.customerId,
    salesInvoiceLines: [{ itemId: company.itemId, quantity: 3 }],
    ...more,
  })
}

const stores = inTurn()

function onStores(
  name: string,
  work: (company: BusinessFixture, t: TestContext) => Promise<void>,
): void {
  for (const { dialect, test } of stores) {
    test(`${dialect}: ${name}`, async (t) => {
      await using company = await openCompany(t, dialect)
      if (company !== undefined) await work(company, t)
    })
  }
}

onStores('posting and sending writes one entry, and what is refused none', async (company) => {
  const id = await invoice(company)
  const none = await invoice(company, { email: 'nobody' })
  await assert.rejects(company.act('salesInvoices', none, 'postAndSend'), /no address of mail/)
  const bare = await company.create('salesInvoices', { customerId: company.customerId })
  await assert.rejects(company.act('salesInvoices', bare, 'postAndSend'), /nothing to post/i)
  assert.deepEqual(await entries(company), [])
  assert.equal((await company.row('salesInvoices', none))['status'], 'Draft')
  await company.act('salesInvoices', id, 'postAndSend')
  const { number } = (await company.row('salesInvoices', id)) as { readonly number: string }
  const [entry] = await entries(company)
  assert.deepEqual(
    ['kind', 'status', 'sender', 'recipient', 'subject', 'language', 'document_number'].map(
      (column) => entry?.[column],
    ),
    [
      'Mail',
      'Waiting',
      'books@example.com',
      'a@example.com',
      `Invoice ${number} · Cronus`,
      'en',
      number,
    ],
  )
  assert.equal(entry?.['document_id'], id)
})

onStores(
  'the mail is of what was sent, in the customer’s language, with the PDF',
  async (company) => {
    const [{ id: own = '' } = {}] = await company.sql.all(
      'select id from business_company_information',
    )
    await company.change('companyInformation', String(own), { email: 'us@cronus.example' }, '*')
    const customerId = await company.create('customers', {
      displayName: 'Müller & Söhne',
      country: 'de',
      email: 'a@mueller.example; b@mueller.example',
      pricesIncludeTax: false,
    })
    const quote = await company.create('salesQuotes', {
      customerId,
      salesQuoteLines: [{ itemId: company.itemId, quantity: 3 }],
    })
    await company.act('salesQuotes', quote, 'send')
    // Later changes of the quote do not matter.
    await company.change('salesQuotes', quote, { discountAmount: 100 }, '*')
    const post = openPost(company)
    await using _ = post.open()
    await until(async () => (await entries(company))[0]?.['status'] === 'Sent')
    const [mail] = post.mails
    assert.deepEqual(
      post.sent.map(({ to }) => to),
      [['a@mueller.example', 'b@mueller.example']],
    )
    assert.deepEqual(mail?.from, { name: 'Cronus', address: 'us@cronus.example' })
    assert.equal(mail?.language, 'de')
    assert.match(mail?.subject ?? '', /^Angebot .+ · Cronus$/)
    assert.match(mail?.text ?? '', /^Guten Tag Müller & Söhne,\n\nim Anhang finden Sie: Angebot/)
    assert.match(mail?.text ?? '', /Gesamtbetrag USD: 300,00\n/)
    const [file] = mail?.files ?? []
    assert.match(file?.name ?? '', /^Angebot_.+\.pdf$/)
    const { text } = pdfText(file?.content ?? new Uint8Array())
    assert.match(text, /300,00/)
    assert.doesNotMatch(text, /200,00/)
    const [entry] = await entries(company)
    assert.deepEqual([entry?.['payload'], entry?.['message']], ['', post.sent[0]?.message])
  },
)

onStores(
  'what cannot be sent is tried again, with the same bytes, and fails in the end',
  async (company) => {
    const post = openPost(company)
    post.answers(() => Promise.reject(new NotDelivered('it gives no answer', false)))
    await company.act('salesInvoices', await invoice(company), 'postAndSend')
    await using outbox = post.open()
    const state = async (): Promise<unknown[]> => {
      const [entry] = await entries(company)
      return ['status', 'attempts', 'last_error'].map((column) => entry?.[column])
    }
    const reached = async (status: string, attempts: number): Promise<void> => {
      await until(async () => {
        const [has, tried] = await state()
        const [entry] = await entries(company)
        return has === status && tried === attempts && entry?.['leased_until'] === 0
      })
    }
    await reached('Waiting', 1)
    assert.deepEqual(await state(), ['Waiting', 1, 'it gives no answer'])
    outbox.wake()
    await post.pass(30_000)
    await reached('Waiting', 1)
    const pauses = [1, 5, 15, 60, 240, 720, 1440]
    for (const [at, minutes] of pauses.entries()) {
      await post.pass(minutes * minute)
      await reached(at === pauses.length - 1 ? 'Failed' : 'Waiting', at + 2)
    }
    await post.pass(10_000 * minute)
    await reached('Failed', 8)
    assert.equal(post.mails.length, 1)
    const [entry] = await entries(company)
    const id = String(entry?.['id'])
    post.answers(undefined)
    await company.act('outboxEntries', id, 'retry')
    await assert.rejects(company.act('outboxEntries', id, 'retry'), /'Waiting'/)
    outbox.wake()
    await reached('Sent', 1)
    assert.deepEqual(
      post.sent.map(({ message }) => message),
      [entry?.['message']],
    )
    await assert.rejects(company.act('outboxEntries', id, 'retry'), /'Sent'/)
  },
)

onStores('what is refused for good is not tried again; faults are', async (company) => {
  const post = openPost(company)
  post.answers(() => Promise.reject(new NotDelivered('550 no such user', true)))
  await company.act('salesInvoices', await invoice(company), 'postAndSend')
  await using _ = post.open()
  await until(async () => (await entries(company))[0]?.['status'] === 'Failed')
  assert.equal((await entries(company))[0]?.['last_error'], '550 no such user')
  post.answers(() => Promise.reject(new Error('a secret of ours')))
  const later = await invoice(company)
  await company.act('salesInvoices', later, 'postAndSend')
  const found = async () => (await entries(company)).find((entry) => entry['document_id'] === later)
  await post.pass(minute)
  await until(async () => (await found())?.['last_error'] !== '')
  const other = await found()
  assert.equal(other?.['status'], 'Waiting')
  assert.doesNotMatch(String(other?.['last_error']), /secret/)
  const large = await invoice(company)
  await company.act('salesInvoices', large, 'postAndSend')
  post.answers(() => Promise.reject(refuse.BadRequest({ reason: 'The document takes too much.' })))
  const ofLarge = async () =>
    (await entries(company)).find((entry) => entry['document_id'] === large)
  await post.pass(minute)
  await until(async () => (await ofLarge())?.['status'] === 'Failed')
  assert.equal((await ofLarge())?.['last_error'], 'The document takes too much.')
})

onStores(
  'several processes send each mail once; one that is gone leaves it to the others',
  async (company) => {
    const post = openPost(company)
    for (let count = 0; count < 10; count++) {
      await company.act('salesInvoices', await invoice(company), 'postAndSend')
    }
    {
      await using first = post.open()
      await using second = post.open()
      for (const one of [first, second, first]) one.wake()
      await until(async () => (await entries(company)).every(({ status }) => status === 'Sent'))
    }
    assert.equal(post.sent.length, 10)
    assert.equal(new Set(post.sent.map(({ message }) => message)).size, 10)
    // The state that a process leaves when it is killed while sending.
    await company.act('salesInvoices', await invoice(company), 'postAndSend')
    await company.sql.transact((tx) =>
      tx.run(
        `update business_outbox_entries set attempts = 1, leased_until = ? where status = 'Waiting'`,
        start + 2 * minute,
      ),
    )
    await using _ = post.open()
    await post.pass(minute)
    assert.equal(post.sent.length, 10)
    await post.pass(minute)
    await until(async () => (await entries(company)).every(({ status }) => status === 'Sent'))
    assert.equal(post.sent.length, 11)
  },
)

onStores(
  'a mail that takes long is kept, though the store was away for a while',
  async (company) => {
    const post = openPost(company)
    const sending = Promise.withResolvers<void>()
    const sends = { count: 0 }
    post.answers(() => {
      sends.count++
      return sending.promise
    })
    await company.act('salesInvoices', await invoice(company), 'postAndSend')
    let isAway = false
    const sql: Sql = {
      ...company.sql,
      transact: (work) => (isAway ? Promise.reject(new Error('away')) : company.sql.transact(work)),
    }
    await using _first = post.open(sql)
    using _end = { [Symbol.dispose]: sending.resolve }
    await until(() => sends.count === 1)
    const leased = async () => Number((await entries(company))[0]?.['leased_until'])
    assert.equal(await leased(), start + 2 * minute)
    isAway = true
    await post.pass(40_000)
    isAway = false
    await post.pass(40_000)
    await until(async () => (await leased()) === start + 80_000 + 2 * minute)
    await using second = post.open()
    await post.pass(minute)
    second.wake()
    sending.resolve()
    await until(async () => (await entries(company))[0]?.['status'] === 'Sent')
    assert.equal(sends.count, 1)
  },
)

onStores('a mail that was sent while the store went away is not sent again', async (company) => {
  const post = openPost(company)
  const away = { is: false, sends: 0, refused: 0 }
  post.answers(async () => {
    away.is = true
    away.sends++
  })
  await company.act('salesInvoices', await invoice(company), 'postAndSend')
  const sql: Sql = {
    ...company.sql,
    transact(work, mode) {
      if (!away.is) return company.sql.transact(work, mode)
      away.refused++
      return Promise.reject(new StoreUnavailable('away', 'later'))
    },
  }
  const outbox = post.open(sql)
  await until(() => away.refused === 1)
  await post.pass(3 * minute)
  await until(() => away.refused > 1)
  away.is = false
  await post.pass(5_000)
  await until(async () => (await entries(company))[0]?.['status'] === 'Sent')
  await post.pass(10 * minute)
  assert.equal(away.sends, 1)
  // At the end it is tried once more, whatever the clock says.
  await company.act('salesInvoices', await invoice(company), 'postAndSend')
  const before = away.refused
  outbox.wake()
  await until(() => away.refused > before)
  await outbox[Symbol.asyncDispose]()
  const states = (await entries(company)).map(({ status }) => String(status))
  assert.deepEqual([away.sends, states.toSorted()], [2, ['Sent', 'Waiting']])
})

onStores('the end of the process waits for no mail that takes for ever', async (company) => {
  const post = openPost(company)
  const sending = Promise.withResolvers<void>()
  let sends = 0
  post.answers(() => {
    sends++
    return sending.promise
  })
  await company.act('salesInvoices', await invoice(company), 'postAndSend')
  const outbox = post.open()
  await until(() => sends === 1)
  let hasEnded = false
  const ended = outbox[Symbol.asyncDispose]().then(() => {
    hasEnded = true
  })
  await post.pass(20_000)
  assert.equal(hasEnded, false)
  await post.pass(10_000)
  await ended
  sending.resolve()
  await until(async () => (await entries(company))[0]?.['status'] === 'Sent')
})

onStores('who lost a mail while composing it does not send it', async (company) => {
  const post = openPost(company)
  await company.act('salesInvoices', await invoice(company), 'postAndSend')
  const take = 'update business_outbox_entries set attempts = attempts + 1, leased_until = ?'
  post.composes(() => company.sql.transact((tx) => tx.run(take, start + 2 * minute)))
  {
    await using _ = post.open()
    await until(() => post.mails.length === 1)
  }
  const [entry] = await entries(company)
  assert.deepEqual([post.sent, entry?.['status'], entry?.['message']], [[], 'Waiting', ''])
})

onStores('who cancels and sends, sends what undoes it', async (company) => {
  const id = await invoice(company)
  await company.act('salesInvoices', id, 'post')
  await company.act('salesInvoices', id, 'cancelAndSend')
  const [entry] = await entries(company)
  const memo = await company.row('salesCreditMemos', String(entry?.['document_id']))
  assert.deepEqual(
    [entry?.['document_type'], memo['invoice_id'], memo['status']],
    ['Sales Credit Memo', id, 'Corrective'],
  )
})

onStores('what waits is looked through once for many mails', async (company) => {
  await company.act('salesInvoices', await invoice(company), 'postAndSend')
  const [first] = await entries(company)
  const columns = Object.keys(first ?? {}).filter((one) => !['id', 'company_id'].includes(one))
  await company.sql.transact((tx) =>
    tx.run(
      `insert into business_outbox_entries (id, company_id, ${columns.join(', ')})
         with recursive n (i) as (select 1 union all select i + 1 from n where i < 40)
         select '88888888-0000-4000-8000-' || (100000000000 + i), '7' || (i % 10), ${columns.join(', ')}
           from n, business_outbox_entries`,
    ),
  )
  let scans = 0
  const sql: Sql = {
    ...company.sql,
    scan(text, ...values) {
      scans++
      return company.sql.scan(text, ...values)
    },
  }
  const post = openPost(company)
  await using _ = post.open(sql)
  await until(() => post.sent.length === 41)
  // Three of each company are known then, of which each has four.
  assert.ok(scans < 15, `${scans} scans`)
})

onStores('companies take turns, and what waits of one is bounded', async (company) => {
  const id = await invoice(company)
  await company.act('salesInvoices', id, 'postAndSend')
  const [first] = await entries(company)
  const columns = Object.keys(first ?? {})
  const add = async (own: Readonly<Record<string, string | number>>): Promise<void> => {
    const text = `insert into business_outbox_entries (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    const cells = Object.values({ ...first, ...own }) as (string | number)[]
    await company.sql.transact((tx) => tx.run(text, ...cells))
  }
  for (let at = 0; at < 6; at++) await add({ id: `00000000-0000-4000-8000-00000000000${at}` })
  // Another company, whose id sorts last.
  const other = 'ffffffff-ffff-4000-8000-000000000000'
  await add({ id: other, company_id: other })
  const post = openPost(company)
  {
    await using _ = post.open()
    await until(() => post.mails.some((mail) => mail.id === other))
  }
  // Before those that wait since earlier, which are seven.
  assert.ok(post.mails.findIndex((mail) => mail.id === other) < 6)
  // Waiting mails have a limit, also for those who send at the same moment.
  const { customerId, companyId } = company
  const quotes = await Promise.all(
    Array.from({ length: 20 }, () => company.create('salesQuotes', { customerId })),
  )
  const waiting = async (): Promise<number> => {
    const [row] = await company.sql.all(
      "select count(*) as n from business_outbox_entries where company_id = ? and status = 'Waiting'",
      companyId,
    )
    return Number(row?.['n'])
  }
  const copied = columns.filter((column) => column !== 'id' && column !== 'status').join(', ')
  const rows = 998 - (await waiting())
  await company.sql.transact((tx) =>
    tx.run(
      `insert into business_outbox_entries (id, status, ${copied})
         with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows})
         select '88888888-0000-4000-8000-' || (100000000000 + i), 'Waiting', ${copied}
           from n, business_outbox_entries where id = ?`,
      String(first?.['id']),
    ),
  )
  await Promise.allSettled(quotes.map((one) => company.act('salesQuotes', one, 'send')))
  // A transaction that loses too many races is refused for that. One more comes alone.
  for (const one of quotes.slice(0, 2)) {
    await Promise.allSettled([company.act('salesQuotes', one, 'send')])
  }
  assert.equal(await waiting(), 1_000)
  // And a limit in bytes.
  await company.sql.transact((tx) =>
    tx.run("delete from business_outbox_entries where id like '88888888-%'"),
  )
  const large = 'x'.repeat(65 * 1024 * 1024)
  await add({ id: '77777777-0000-4000-8000-000000000000', payload: large })
  const next = await invoice(company)
  await assert.rejects(company.act('salesInvoices', next, 'postAndSend'), /as may wait to be sent/)
})
