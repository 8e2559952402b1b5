/**
 * Real connections through the outbound policy: names whose addresses change, redirects, and the messages for
 * callers and operators.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { destinationOf, NotReached, openOutbound, socketOf } from './outbound.ts'
import { isOwnAddress } from './own-address.ts'
import { answerOf, textOf } from './request.ts'
import { closedPort, localServer, watchedWay } from './testing/ways.ts'

const signal = AbortSignal.timeout(60_000)

async function failure(work: Promise<unknown>): Promise<NotReached> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof NotReached, String(error))
  return error
}

test('the connection goes to the judged address, though the name leads elsewhere by then', async () => {
  await using server = await localServer((_, response) => response.end('here'))
  const names = { 'moving.test': [['127.0.0.1'], ['127.9.9.9']] }
  const { outbound, asked } = watchedWay({ allow: ['127.0.0.1'] }, names)
  const url = new URL(`http://moving.test:${server.port}/`)
  const answer = await answerOf(outbound, { url, signal })
  assert.equal(await textOf(answer, 100), 'here')
  assert.deepEqual(asked, ['moving.test'], 'it is resolved once, and by nobody else')
  assert.deepEqual(server.requests, [`moving.test:${server.port}/`])
  // The second address is checked like the first.
  await failure(answerOf(outbound, { url, signal }))
  assert.equal(server.requests.length, 1)
})

test('a name with one address inside is refused as a whole, and looks like one that is not there', async () => {
  await using server = await localServer((_, response) => response.end('secret'))
  const { port } = server
  const names = {
    'inside.test': [['127.0.0.1']],
    'both.test': [['93.184.216.34', '127.0.0.1']],
    'empty.test': [[]],
    'closed.test': [['93.184.216.34']],
  }
  const { outbound, told } = watchedWay({}, names)
  const messages = new Set<string>()
  for (const name of ['inside.test', 'both.test', 'empty.test', 'absent.test']) {
    const url = new URL(`http://${name}:${port}/`)
    const { message, isRuledOut } = await failure(answerOf(outbound, { url, signal }))
    assert.equal(isRuledOut, false)
    messages.add(message)
  }
  assert.equal(messages.size, 1)
  assert.deepEqual(server.requests, [])
  assert.match(told[0] ?? '', /127\.0\.0\.1 is a loopback address/)
  assert.match(told[3] ?? '', /ENOTFOUND/)
})

test('a public address of this machine is inside, unless it is allowed by name', async () => {
  const isOwn = async (address: string) => ['93.184.216.34', '2a00:1450::5'].includes(address)
  const resolve = async () => ['93.184.216.34']
  const way = (allow: readonly string[]) =>
    openOutbound({ settings: { mode: 'guarded', allow, deny: [] }, log: silentLog, resolve, isOwn })
  const at = (host: string) => ({ scheme: 'postgresql', host, port: 5432 })
  const inside = ['93.184.216.34', '::ffff:93.184.216.34', '[2A00:1450:0:0::5]', 'here.test']
  for (const host of inside) {
    await failure(way([]).route(at(host)))
    await failure(way(['*']).route(at(host)))
    await failure(
      way([])
        .allowing([new URL('https://other.test')])
        .route(at(host)),
    )
  }
  assert.equal((await way([]).route(at('93.184.216.35'))).host, '93.184.216.35')
  assert.equal((await way(['here.test']).route(at('here.test'))).host, 'here.test')
  assert.equal((await way(['93.184.216.34']).route(at('here.test'))).host, 'here.test')
})

test('of a name with thousands of addresses some are judged, and no others connected to', async () => {
  const all = Array.from({ length: 4000 }, (_, at) => `93.184.${at >> 8}.${at & 255}`)
  const judged: string[] = []
  const outbound = openOutbound({
    settings: { mode: 'guarded', allow: [], deny: [] },
    log: silentLog,
    resolve: async () => all,
    isOwn: async (address) => {
      judged.push(address)
      return false
    },
  })
  const { addresses } = await outbound.route({ scheme: 'https', host: 'many.test', port: 443 })
  assert.deepEqual(addresses, all.slice(0, 16))
  assert.deepEqual(judged, addresses)
})

test('the system tells which addresses lead to this machine, also those that no interface has', async () => {
  assert.equal(await isOwnAddress('127.0.0.1'), true)
  // Of a network that Linux leads here as a whole.
  assert.equal(await isOwnAddress('127.4.5.6'), process.platform === 'linux')
  assert.equal(await isOwnAddress('93.184.216.35'), false)
})

test('open, closed and foreign ports look the same to a caller; the operator sees which', async () => {
  const { outbound, told } = watchedWay({ mode: 'open' })
  const closed = new URL(`http://127.0.0.1:${await closedPort()}/`)
  const { message } = await failure(answerOf(outbound, { url: closed, signal }))
  await using server = await localServer((request) => request.socket.end('SSH-2.0-x\r\n'))
  const foreign = new URL(`http://127.0.0.1:${server.port}/`)
  assert.equal((await failure(answerOf(outbound, { url: foreign, signal }))).message, message)
  const secure = new URL(`https://127.0.0.1:${server.port}/`)
  assert.equal((await failure(answerOf(outbound, { url: secure, signal }))).message, message)
  assert.match(told[0] ?? '', /ECONNREFUSED/)
  assert.match(told[1] ?? '', /Parse Error/)
})

test('the operator is warned once of what stays as it is', async () => {
  const { outbound, told } = watchedWay({}, { 'a.test': [['127.0.0.1'], ['10.0.0.1']] })
  const ask = () => failure(outbound.route({ scheme: 'https', host: 'a.test', port: 443 }))
  for (let times = 0; times < 4; times++) await ask()
  assert.equal(told.length, 2, told.join('\n'))
})

test('whoever answers with another protocol is reported as giving no answer', async () => {
  await using server = await localServer((_, response) => {
    response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end()
  })
  const { outbound } = watchedWay({ mode: 'open' })
  await failure(answerOf(outbound, { url: new URL(`http://127.0.0.1:${server.port}/`), signal }))
})

test('whoever answers without an end of informational answers is reported as giving no answer', async () => {
  for (const status of ['100 Continue', '103 Early Hints']) {
    await using server = await localServer((_, { socket }) => {
      const flood = (): void => {
        if (socket?.destroyed === false) {
          socket.write(`HTTP/1.1 ${status}\r\n\r\n`.repeat(200), flood)
        }
      }
      flood()
    })
    const { outbound } = watchedWay({ mode: 'open' })
    const url = new URL(`http://127.0.0.1:${server.port}/`)
    // No time limit: without a bound the call would not end.
    await failure(answerOf(outbound, { url, signal: new AbortController().signal }))
  }
})

test('a few informational answers are no answer', async () => {
  await using server = await localServer((_, response) => {
    for (let at = 0; at < 5; at++) response.writeEarlyHints({ link: '</a>; rel=preload' })
    response.end('here')
  })
  const { outbound } = watchedWay({ mode: 'open' })
  const url = new URL(`http://127.0.0.1:${server.port}/`)
  assert.equal(await textOf(await answerOf(outbound, { url, signal }), 100), 'here')
})

test('a redirect is an answer, not a way', async () => {
  await using inner = await localServer((_, response) => response.end('secret'))
  await using server = await localServer((_, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end()
  })
  const { outbound } = watchedWay(
    { allow: [`*.test:${server.port}`] },
    { 'a.test': [['127.0.0.1']] },
  )
  const url = new URL(`http://a.test:${server.port}/`)
  const answer = await answerOf(outbound, { url, signal })
  assert.equal(answer.statusCode, 302)
  answer.resume()
  assert.deepEqual(inner.requests, [])
})

test('a driver’s socket goes the judged way, whatever it is asked to connect to', async () => {
  await using server = await localServer((_, response) => response.end())
  const { outbound } = watchedWay({ allow: ['a.test'] }, { 'a.test': [['127.0.0.1']] })
  const url = new URL(`http://a.test:${server.port}/`)
  const socket = socketOf(await outbound.route(destinationOf(url)))
  socket.connect(1, '203.0.113.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  assert.deepEqual([socket.remoteAddress, socket.remotePort], ['127.0.0.1', server.port])
  socket.destroy()
})
