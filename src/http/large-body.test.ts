/** Few large bodies are received at once. Whoever announces one and sends nothing has no place. */

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Business } from '#business/service.ts'
import { refuse } from '#kernel/error.ts'
import { readBytes } from '#kernel/stored-bytes.ts'
import { owner } from '#plane/testing/start.ts'
import { until } from '../../tests/until.ts'
import { startEdge, type TestEdge } from './testing/start.ts'

const limits = { bodyBytesMax: 100_000, businessBodyBytesMax: 1_000_000, requestSeconds: 5 }
const path = '/api/v2.0/companies'

const business: Business = {
  handle: async ({ body }) => ({ status: 200, headers: {}, body: String(body?.length) }),
  async admitLarge({ id }) {
    if (id !== owner.id) throw refuse.Conflict({ id })
  },
}

/** Announces a body and sends its beginning. Resolves with the answer's first line. */
function announce(edge: TestEdge, as: string): Socket & { readonly answer: Promise<string> } {
  const socket = connect(edge.port, '127.0.0.1')
  // A cut connection is no fault of the test.
  socket.on('error', () => {})
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${as}\r\nContent-Type: application/json\r\nContent-Length: 600000\r\n\r\n{"a":`,
  )
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(String(chunk).split('\r\n', 1)[0] ?? ''))
  })
  return Object.assign(socket, { answer })
}

test('a large body that is announced and does not come takes no place of another', async () => {
  await using edge = await startEdge({ limits, options: { business } })
  const silent = [announce(edge, 'owner'), announce(edge, 'owner')]
  await until(() => edge.server.connections() === 2)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ a: 'x'.repeat(500_000) })
  const answer = await edge.fetch(path, { method: 'POST', headers, body })
  assert.equal(`${answer.status} ${await answer.text()}`, `200 ${body.length}`)
  for (const socket of silent) socket.destroy()
})

test('whoever may write nowhere is refused before a large body is received', async () => {
  await using edge = await startEdge({ limits, options: { business } })
  const socket = announce(edge, 'nobody')
  assert.match(await socket.answer, /^HTTP\/1\.1 409 /)
  socket.destroy()
})

test('whoever is refused while a large body is sent gets the answer', async () => {
  const large = { ...limits, businessBodyBytesMax: 20_000_000 }
  await using edge = await startEdge({ limits: large, options: { business } })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ a: 'x'.repeat(19_000_000) })
  for (let at = 0; at < 3; at++) {
    const answer = await edge.fetch(path, { method: 'POST', headers, body, as: 'nobody' })
    assert.equal(answer.status, 409)
    assert.match(await answer.text(), /^\{"error":/)
  }
})

test('a body that nobody reads and that does not end is cut after a time', async () => {
  const hasty = { ...limits, writeSeconds: 0.2, requestSeconds: 60 }
  await using edge = await startEdge({ limits: hasty, options: { business } })
  const socket = announce(edge, 'nobody')
  assert.match(await socket.answer, /^HTTP\/1\.1 409 /)
  const sending = setInterval(() => socket.write('x'), 20)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(sending)
})

/** Files of bodies that this process holds open. */
function openBodies(): number {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // It was closed in between, as the one that lists the folder was.
      return ''
    }
  })
  return links.filter((link) => /armature-[0-9a-f-]{36} \(deleted\)$/.test(link)).length
}

const hashing: Business = {
  async handle({ body = new Uint8Array() }) {
    assert.equal(openBodies(), body instanceof Uint8Array ? 0 : 1)
    const hash = createHash('sha256').update(readBytes(body)).digest('hex')
    return { status: 200, headers: {}, body: hash }
  },
  admitLarge: async () => {},
}

test('a large body is in a file while it is used, whole, however it comes', async () => {
  await using edge = await startEdge({ limits, options: { business: hashing } })
  for (const length of [99_999, 100_000, 100_001, 500_000, 1_000_000]) {
    for (const size of [1_000, 70_001, 1_000_000]) {
      const bytes = randomBytes(length)
      const sent = request(`${edge.url}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer owner', 'content-type': 'application/json' },
      })
      const answer = new Promise<string>((resolve, reject) => {
        sent.on('error', reject)
        sent.on('response', (response) => {
          response.setEncoding('utf8').on('data', resolve)
        })
      })
      for (let at = 0; at < length; at += size) sent.write(bytes.subarray(at, at + size))
      sent.end()
      assert.equal(await answer, createHash('sha256').update(bytes).digest('hex'))
    }
  }
  await until(() => openBodies() === 0)
})

test('the file of a body that is cut off or too long is closed', async () => {
  await using edge = await startEdge({ limits, options: { business: hashing } })
  const cut = announce(edge, 'owner')
  cut.write(`"${'x'.repeat(200_000)}`)
  await until(() => openBodies() === 1)
  cut.destroy()
  await until(() => openBodies() === 0)
  const headers = { 'content-type': 'application/json' }
  const tooLong = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(200_000))
    },
  })
  const init = { method: 'POST', headers, body: tooLong, duplex: 'half' } as const
  assert.equal((await edge.fetch(path, init)).status, 413)
  await until(() => openBodies() === 0)
})

test('where the disk takes no file, a large body is refused and others are not', async () => {
  const options = { business: hashing, temporaryFolder: '/nowhere' }
  await using edge = await startEdge({ limits, options })
  const headers = { 'content-type': 'application/json' }
  const statusOf = async (length: number): Promise<number> => {
    const body = 'x'.repeat(length)
    return (await edge.fetch(path, { method: 'POST', headers, body })).status
  }
  assert.equal(await statusOf(500_000), 503)
  assert.equal(await statusOf(50_000), 200)
})

test('what comes of a large body after its request was answered is kept nowhere', async () => {
  const hasty = { ...limits, requestSeconds: 1, writeSeconds: 3600 }
  await using edge = await startEdge({ limits: hasty, options: { business: hashing } })
  const slow = announce(edge, 'owner')
  slow.write(`"${'x'.repeat(200_000)}`)
  await until(() => openBodies() === 1)
  assert.match(await slow.answer, /^HTTP\/1\.1 504 /)
  const sending = setInterval(() => slow.write('x'), 20)
  await until(() => openBodies() === 0)
  clearInterval(sending)
  slow.destroy()
})
