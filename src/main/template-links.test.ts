/** What links of templates can reach: the addresses that the operator listed, and nothing through them. */

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { openWay, watchedWay } from '#outbound/testing/ways.ts'
import { until } from '../../tests/until.ts'
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

const open = (timeoutSeconds = 10) =>
  openTemplateLinks({ outbound: openWay, allowed: [`${origin}/templates/`], timeoutSeconds })

test('reads what lies below an allowed address', async () => {
  const read = await open().read(`${origin}/templates/a/main.json?key=1`)
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
    `${origin}/templates/..%2fsecret.json`,
    `${origin}/templates/a/%2e%2E%5C..%2Fsecret.json`,
    `${origin}/templates/..;/secret.json`,
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
    assert.equal((await open().read(uri)).ok, false, uri)
  }
  assert.equal(asked.length, asksBefore)
})

test('one owner’s texts behind links are held a few at a time, and another’s go on', async () => {
  const links = open()
  const begun: string[] = []
  const held: (() => void)[] = []
  const hold = (owner: string, signal?: AbortSignal): Promise<void> => {
    const work = async () => {
      begun.push(owner)
      await new Promise<void>((resolve) => held.push(resolve))
    }
    return links.inRoom(owner, work, () => signal)
  }
  const all = ['a', 'a', 'a', 'a', 'b'].map((owner) => hold(owner))
  await until(() => begun.length === 3)
  await assert.rejects(hold('a', AbortSignal.abort(new Error('gone'))), /gone/)
  assert.deepEqual(begun, ['a', 'a', 'b'])
  const letting = setInterval(() => held.shift()?.(), 1)
  await Promise.all(all)
  clearInterval(letting)
  assert.equal(begun.length, 5)
})

test('what the outbound policy refuses is not fetched, by number and by name', async () => {
  const asksBefore = asked.length
  const named = origin.replace('127.0.0.1', 'inside.test')
  const { outbound } = watchedWay({}, { 'inside.test': [['127.0.0.1']] })
  const links = openTemplateLinks({ outbound, allowed: [`${origin}/`, `${named}/`] })
  const byNumber = await links.read(`${origin}/templates/x.json`)
  assert.deepEqual(byNumber, { ok: false, reason: 'its address must not be asked from here' })
  const byName = await links.read(`${named}/templates/x.json`)
  const reason = 'it gives no answer, or must not be asked from here'
  assert.deepEqual(byName, { ok: false, reason })
  assert.equal(asked.length, asksBefore)
})

test('redirects, other statuses, endless and silent answers are refused', async () => {
  const reasons: string[] = []
  for (const name of ['moved', 'gone', 'large', 'slow']) {
    const read = await open(2).read(`${origin}/templates/${name}.json`)
    assert.ok(!read.ok)
    reasons.push(read.reason)
  }
  assert.match(reasons[0] ?? '', /redirects/)
  assert.match(reasons[1] ?? '', /404/)
  assert.match(reasons[2] ?? '', /larger|too long/)
  assert.match(reasons[3] ?? '', /too long/)
  assert.ok(!asked.includes('/secret.json'))
})
