/** What became of a request to the sign-in, in the log. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { sendFailure } from './oauth-responses.ts'

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
