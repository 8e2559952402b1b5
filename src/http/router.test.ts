/** A path that no route matches goes to the fallback. A request always has a handler. */

import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import { test } from 'node:test'
import { createListener, listen } from './listener.ts'
import { createRouter } from './router.ts'

function ask(url: string, method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ host: hostname, port, method, path }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve(text))
    })
    sent.on('error', reject).end()
  })
}

test('a path leads to its route, whatever the method; all else leads to the fallback', async () => {
  const router = createRouter((_, response) => response.end('fallback'))
  router.add('/things/:id', (_, response, params) => response.end(`thing ${params['id']}`))
  router.add('/things/:id/$ref', (_, response, params) => response.end(`ref ${params['id']}`))
  router.add('/area/*', (_, response) => response.end('area'))
  const server = createListener({ requestSeconds: 10, headerBytesMax: 16_384 }, () => false)
  server.on('request', router.route)
  const { port, close } = await listen(server, { host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${port}`
  try {
    for (const [method, path, expected] of [
      ['GET', '/things/a%20b?x=%zz', 'thing a b'],
      ['PATCH', '/things/1', 'thing 1'],
      ['DELETE', '/things/1/$ref', 'ref 1'],
      ['DELETE', '/things/%24a%2524/%24ref?$a=%24b', 'ref $a%24'],
      ['GET', '/area/', 'area'],
      ['DELETE', '/area/a/b', 'area'],
      ['GET', '/area', 'fallback'],
      ['GET', '/things/1/', 'fallback'],
      ['GET', '/Things/1', 'fallback'],
      ['GET', '/things/%zz', 'fallback'],
      ['GET', `/things/${'a'.repeat(1_001)}`, 'fallback'],
      ['PROPFIND', '/things/1', 'fallback'],
      ['GET', '/', 'fallback'],
    ] as const) {
      assert.equal(await ask(url, method, path), expected, `${method} ${path}`)
    }
  } finally {
    server.closeAllConnections()
    server.close()
    await close()
  }
})

test('a port that is taken is an error', async () => {
  const first = createServer((_, response) => response.end('here'))
  const { port, close } = await listen(first, { host: '0.0.0.0', port: 0 })
  try {
    assert.equal(await ask(`http://127.0.0.1:${port}`, 'GET', '/'), 'here')
    await assert.rejects(listen(createServer(), { host: '0.0.0.0', port }), { code: 'EADDRINUSE' })
  } finally {
    first.closeAllConnections()
    await close()
  }
})
