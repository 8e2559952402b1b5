/** Batches of both forms: order, stopping, groups that roll back, references, and malformed ones. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import type { SqlReads, SqlTx } from '#stores/store.ts'
import { fc, runsOf } from '../../../tests/property.ts'
import { type BusinessAnswer, type BusinessRequest, jsonHeaders } from '../message.ts'
import { answerBatch, type BatchedPart, type BatchRunner } from './batch.ts'

const never = (): never => {
  throw new Error('no part of the batch asks the store for anything')
}

/** Answers by the last segment: `bad` is refused, and POST creates `made(7)`. Remembers what was kept. */
class Fake implements BatchRunner {
  readonly stayed: string[] = []
  #pending: string[] = []

  async serve(request: BusinessRequest, { within }: BatchedPart): Promise<BusinessAnswer> {
    const bad = request.path.endsWith('bad')
    const said = `${request.method} ${request.path} ${request.headers['if-match'] ?? ''}`.trim()
    if (!bad) (within === undefined ? this.stayed : this.#pending).push(said)
    const made = { Location: 'http://host/api/v2.0/made(7)', ETag: 'W/"t"' }
    const headers = { ...jsonHeaders, ...(request.method === 'POST' ? made : {}) }
    return { status: bad ? 400 : 200, headers, body: JSON.stringify({ said }) }
  }

  async atomically<T>(_: unknown, work: (tx: SqlTx) => Promise<T>): Promise<T> {
    this.#pending = []
    // No part of the batch uses the transaction.
    const result = await work({} as SqlTx)
    this.stayed.push(...this.#pending)
    return result
  }

  snapshots = 0

  async snapshot<T>(work: (reads: SqlReads) => Promise<T>): Promise<T> {
    this.snapshots++
    return await work({ pauses: true, all: never, scan: never })
  }
}

async function send(body: string, headers: Record<string, string>) {
  const fake = new Fake()
  const request: BusinessRequest = {
    method: 'POST',
    version: 'v2.0',
    path: '$batch',
    search: '',
    headers,
    body: new TextEncoder().encode(body),
    // A batch does not use the principal.
    principal: {} as BusinessRequest['principal'],
    correlationId: 'c-1',
  }
  return { fake, answer: await answerBatch(request, fake, 'http://host/api') }
}

const json = { 'content-type': 'application/json' }

function requests(...list: readonly object[]): string {
  return JSON.stringify({
    requests: list.map((one, at) => ({ id: `${at}`, method: 'GET', ...one })),
  })
}

test('JSON: the first refusal ends a batch unless the client wants to go on', async () => {
  const body = requests({ url: 'a' }, { url: 'bad' }, { url: '/api/v2.0/b' })
  const stopped = await send(body, json)
  assert.deepEqual(stopped.fake.stayed, ['GET a'])
  assert.equal(JSON.parse(stopped.answer.body ?? '').responses.length, 2)
  const whole = await send(body, { ...json, prefer: 'odata.continue-on-error' })
  assert.deepEqual(whole.fake.stayed, ['GET a', 'GET b'])
})

test('JSON: groups and snapshots roll back; references and tags lead to what was made', async () => {
  const group = { atomicityGroup: 'g', method: 'POST' }
  const undone = await send(requests({ url: 'a', ...group }, { url: 'bad', ...group }), json)
  assert.deepEqual(undone.fake.stayed, [])
  const statuses = ({ answer }: typeof undone) =>
    JSON.parse(answer.body ?? '').responses.map(({ status }: { status: number }) => status)
  assert.deepEqual(statuses(undone), [424, 400])
  const snapshot = await send(requests({ url: 'a', method: 'POST' }, { url: 'bad' }), {
    ...json,
    isolation: 'snapshot',
  })
  assert.deepEqual(snapshot.fake.stayed, [])
  assert.deepEqual(statuses(snapshot), [200, 400])
  const patch = { url: '$0/lines', method: 'PATCH', headers: { 'If-Match': '$0' }, body: {} }
  const done = await send(requests({ url: 'a', ...group }, { ...patch, atomicityGroup: 'g' }), json)
  assert.deepEqual(done.fake.stayed, ['POST a', 'PATCH made(7)/lines W/"t"'])
})

test('what only reads, all from one state, is no transaction', async () => {
  const isolation = { ...json, isolation: 'snapshot' }
  const read = await send(requests({ url: 'a' }, { url: 'b' }), isolation)
  assert.equal(read.fake.snapshots, 1)
  assert.equal(JSON.parse(read.answer.body ?? '').responses.length, 2)
  const refused = await send(requests({ url: 'bad' }, { url: 'b' }), isolation)
  assert.equal(JSON.parse(refused.answer.body ?? '').responses.length, 1)
  const mixed = await send(requests({ url: 'a' }, { url: 'b', method: 'POST' }), isolation)
  assert.equal(mixed.fake.snapshots, 0)
  assert.deepEqual(mixed.fake.stayed, ['GET a', 'POST b'])
})

const multipart = [
  '--b',
  'Content-Type: multipart/mixed; boundary=c',
  '',
  '--c',
  'Content-Type: application/http',
  'Content-ID: 1',
  '',
  'POST a HTTP/1.1',
  'Content-Type: application/json',
  '',
  '{"x":1}',
  '--c',
  'Content-Type: application/http',
  '',
  'PATCH $1 HTTP/1.1',
  '',
  '{}',
  '--c--',
  '--b',
  'Content-Type: application/http',
  '',
  'GET z HTTP/1.1',
  '',
  '',
  '--b--',
  '',
].join('\r\n')

test('multipart: a change set with a reference, then a read', async () => {
  const headers = { 'content-type': 'multipart/mixed; boundary=b' }
  const { fake, answer } = await send(multipart, headers)
  assert.deepEqual(fake.stayed, ['POST a', 'PATCH made(7)', 'GET z'])
  assert.match(
    answer.headers['Content-Type'] ?? '',
    /^multipart\/mixed; boundary=batchresponse_c-1$/,
  )
  assert.equal(answer.body?.match(/HTTP\/1\.1 200/g)?.length, 3)
  const undone = await send(multipart.replace('PATCH $1', 'PATCH bad'), headers)
  assert.deepEqual(undone.fake.stayed, [])
  assert.equal(undone.answer.body?.match(/HTTP\/1\.1 400/g)?.length, 1)
})

test('a batch holds no batch, however its address is spelled: each would have a budget of its own', async () => {
  const inner = { method: 'POST', headers: json, body: { requests: [] } }
  const spellings = ['$batch', '$batch/', '%24batch', '%24%62atch/', '/api/v2.0/%24batch?x=1']
  for (const url of spellings) {
    for (const atomicityGroup of [undefined, 'g']) {
      const { fake, answer } = await send(requests({ ...inner, url, atomicityGroup }), json)
      assert.deepEqual(fake.stayed, [], url)
      const [{ status, body }] = JSON.parse(answer.body ?? '').responses
      assert.equal(status, 400, url)
      assert.match(body.error.message, /cannot hold a batch/)
    }
  }
})

test('what is no batch is refused, whatever it is', async () => {
  const many = Array.from({ length: 101 }, () => ({ url: 'a' }))
  await assert.rejects(send(requests(...many), json), ApiError)
  await assert.rejects(send('{}', { 'content-type': 'text/plain' }), ApiError)
  const kinds = fc.constantFrom(
    'application/json',
    'multipart/mixed; boundary=b',
    'multipart/mixed',
  )
  const cut = fc.tuple(fc.nat(multipart.length), fc.nat(40), fc.string({ maxLength: 5 }))
  await fc.assert(
    fc.asyncProperty(kinds, cut, fc.json(), async (type, [at, length, text], value) => {
      const body =
        type === 'application/json'
          ? `{"requests":[${value}]}`
          : multipart.slice(0, at) + text + multipart.slice(at + length)
      try {
        await send(body, { 'content-type': type })
      } catch (error) {
        // Only a refusal is allowed.
        assert.ok(error instanceof ApiError && error.status < 500, String(error))
      }
    }),
    { numRuns: runsOf(500) },
  )
})
