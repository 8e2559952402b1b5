/** What became of a request to the sign-in, in the log. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { sendFailure } from './oauth-responses.ts'
import { openIdentityFixture } from './testing/fixture.ts'
import { addApplication, askToken } from './testing/flows.ts'

test('a form that is broken off is no fault of the server, what fails with the form there is', async () => {
  const faults: object[] = []
  const log = { ...silentLog, error: (fields: object) => faults.push(fields) }
  const server = createServer((request, response) => {
    request
      .toArray()
      .then(() => Promise.reject(new Error('a fault')))
      .catch((error: unknown) => sendFailure(response, error, log))
      .finally(() => server.emit('done'))
  })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It listens on a port.
  const { port } = server.address() as AddressInfo
  for (const length of [3, 2]) {
    const socket = connect(port, '127.0.0.1').resume()
    socket.write(`POST / HTTP/1.1\r\nHost: here\r\nContent-Length: ${length}\r\n\r\na=`)
    const done = once(server, 'done')
    await once(server, 'request')
    if (length > 2) socket.destroy()
    await done
    assert.equal(faults.length, length > 2 ? 0 : 1)
    socket.destroy()
  }
})

test('a form that a browser never opened is opened, whatever is sent for it', async () => {
  await using fixture = await openIdentityFixture()
  const code = new URLSearchParams({ user_code: 'x', confirm: 'yes' })
  const cookie = 'armature_session=made-up-or-of-a-session-that-ended'
  for (const [path, init] of [
    ['', { method: 'POST', body: code }],
    ['', { method: 'POST', body: code, headers: { cookie } }],
    ['', { method: 'POST', body: '{}', headers: { cookie } }],
    ['?user_code=a&user_code=b', { method: 'POST', body: code, headers: { cookie } }],
    ['/made-up', { headers: { cookie } }],
    ['/made-up', {}],
  ] as const) {
    const address = `${fixture.url}/common/oauth2/deviceauth${path}`
    const sent = await fetch(address, { ...init, redirect: 'manual' })
    assert.equal(sent.status, 303, path)
    assert.match(sent.headers.get('location') ?? '', /\/common\/oauth2\/deviceauth$/)
  }
  assert.deepEqual(fixture.logged, [])
})

test('whoever leaves a page before it is there is no fault of the server', async () => {
  let leaving: Socket | undefined
  const gone = Promise.withResolvers<void>()
  await using fixture = await openIdentityFixture({
    originOf({ socket }) {
      if (leaving !== undefined) socket.once('close', () => gone.resolve())
      leaving?.resetAndDestroy()
      leaving = undefined
      return { address: '', userAgent: '' }
    },
  })
  const page = `${fixture.url}/common/oauth2/deviceauth`
  const { port, pathname } = new URL(page)
  assert.equal((await fetch(page)).status, 200)
  leaving = connect(Number(port), '127.0.0.1')
  leaving.write(`GET ${pathname} HTTP/1.1\r\nHost: here\r\n\r\n`)
  await gone.promise
  assert.equal((await fetch(page)).status, 200)
  assert.deepEqual(fixture.logged, [])
})

test('a fault of the server is logged, also where the caller has left', async () => {
  let socket: Socket | undefined
  await using fixture = await openIdentityFixture({
    originOf(req) {
      socket = req.socket
      return { address: '', userAgent: '' }
    },
    onSignIn() {
      socket?.destroy()
      throw new Error('a fault after the caller left')
    },
  })
  const { clientId, clientSecret } = await addApplication(fixture)
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    resource: fixture.url,
  }
  await assert.rejects(askToken(fixture, form))
  assert.match(JSON.stringify(fixture.logged), /a fault after the caller left/)
})
