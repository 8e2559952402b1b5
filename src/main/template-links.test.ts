/** What links of templates can reach: what the operator listed, and nothing by way of it. */

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { isPrivate } from './outbound.ts'
import { openTemplateLinks } from './template-links.ts'

let server: Server
let origin: string
const asked: string[] = []

before(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const path = new URL(request.url ?? '/', 'http://x').pathname
    if (path === '/templates/moved.json') {
      response.writeHead(302, { location: '/secret.json' }).end()
    } else if (path === '/templates/large.json') {
      response.writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(1 << 20)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    } else if (path === '/templates/slow.json') response.writeHead(200).write('{')
    else if (path === '/templates/gone.json') response.writeHead(404).end()
    else response.writeHead(200).end(`{"path": "${path}"}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of that form.
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(() => {
  server.closeAllConnections()
  server.close()
})

const open = (allowPrivate: boolean, timeoutSeconds = 10) =>
  openTemplateLinks({ allowed: [`${origin}/templates/`], allowPrivate, timeoutSeconds })

test('reads what lies below an allowed address', async () => {
  const read = await open(true).read(`${origin}/templates/a/main.json?key=1`)
  assert.deepEqual(read, { ok: true, text: '{"path": "/templates/a/main.json"}' })
})

test('refuses everything else without asking for it', async () => {
  const asksBefore = asked.length
  const port = new URL(origin).port
  for (const uri of [
    `${origin}/secret.json`,
    `${origin}/templates`,
    `${origin}/templates/../secret.json`,
    `${origin}/templates/%2e%2e/secret.json`,
    `${origin}/templates/..\\secret.json`,
    `${origin}@evil.example/templates/x.json`,
    `http://user:pass@127.0.0.1:${port}/templates/x.json`,
    `https://127.0.0.1:${port}/templates/x.json`,
    `http://127.0.0.1:1/templates/x.json`,
    `http://127.1.0.1:${port}/templates/x.json`,
    `http://localhost:${port}/templates/x.json`,
    'file:///etc/passwd',
    'data:application/json,{}',
    'templates/x.json',
    '',
  ]) {
    assert.equal((await open(true).read(uri)).ok, false, uri)
  }
  assert.equal(asked.length, asksBefore)
})

test('private addresses are refused unless they are allowed, by number and by name', async () => {
  const byNumber = await open(false).read(`${origin}/templates/x.json`)
  assert.deepEqual(byNumber, { ok: false, reason: 'it leads to a private address' })
  const named = origin.replace('127.0.0.1', 'localhost')
  const links = openTemplateLinks({ allowed: [`${named}/`], allowPrivate: false })
  const byName = await links.read(`${named}/templates/x.json`)
  assert.deepEqual(byName, { ok: false, reason: 'it leads to a private address' })
})

test('redirects, other statuses, endless and silent answers are refused', async () => {
  const reasons: string[] = []
  for (const name of ['moved', 'gone', 'large', 'slow']) {
    const read = await open(true, 2).read(`${origin}/templates/${name}.json`)
    assert.ok(!read.ok)
    reasons.push(read.reason)
  }
  assert.match(reasons[0] ?? '', /redirects/)
  assert.match(reasons[1] ?? '', /404/)
  assert.match(reasons[2] ?? '', /larger|too long/)
  assert.match(reasons[3] ?? '', /too long/)
  assert.ok(!asked.includes('/secret.json'))
})

test('knows special addresses in every notation', () => {
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    'fe80::1%eth0',
    'fd00::1',
    'ff02::1',
    '2002:a00:1::',
  ]) {
    assert.equal(isPrivate(address), true, address)
  }
  for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1']) {
    assert.equal(isPrivate(address), false, address)
  }
})
