/** Whatever a server answers, in one piece or in several, the call fails or ends, and nothing else does. */

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { agentOf } from './agents.ts'
import { NotReached, openOutbound } from './outbound.ts'
import { openSettings } from './policy.ts'
import { answerOf, requireFinalAnswer, textOf } from './request.ts'
import { turnsOfAnswers } from './testing/turns.ts'
import { localServer, openWay } from './testing/ways.ts'

const odd: Readonly<Record<string, string>> = {
  'informational answers': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(25),
  'other informational answers': 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(25),
  'another protocol':
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nabc',
  garbage: '\0\0\0 no answer at all\r\n\r\n',
  'a bad chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n',
  'an answer': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
}

test('no pair of odd answers ends more than its call', async () => {
  let chunks: readonly string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.once('data', () => {
      const [first = '', ...rest] = chunks
      socket.write(first, () => setImmediate(() => socket.end(rest.join(''))))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  const url = new URL(`http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}/`)
  const signal = AbortSignal.timeout(60_000)
  const read = async (): Promise<string> => textOf(await answerOf(openWay, { url, signal }), 1000)
  for (const [name, one] of Object.entries(odd)) {
    for (const [otherName, other] of Object.entries(odd)) {
      for (chunks of [[one + other], [one, other]]) {
        const text = await read().then(
          (whole) => whole,
          (error: unknown) => error,
        )
        const said = `${name}, then ${otherName}: ${String(text)}`
        assert.ok(text instanceof Error || text === 'ok', said)
        assert.ok(!signal.aborted, said)
      }
    }
  }
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

test('a connection ends with its answer, though the other side leaves its half open and goes on sending', async () => {
  const isCut = Promise.withResolvers<boolean>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let times = 0
    const goOn = (error?: Error | null): void => {
      if (error) isCut.resolve(true)
      else if (times++ < 100) socket.write(Buffer.alloc(1_000_000), goOn)
      else socket.destroy()
    }
    socket.on('error', () => undefined).on('close', () => isCut.resolve(false))
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'))
    socket.once('end', () => goOn())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  const url = new URL(`http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}/`)
  const signal = AbortSignal.timeout(60_000)
  assert.equal(await textOf(await answerOf(openWay, { url, signal }), 1000), 'ok')
  assert.ok(await isCut.promise, 'all was read')
  await new Promise((resolve) => server.close(resolve))
})

test('a connection that is used again gathers no listeners', async (t) => {
  await using server = await localServer((_, response) => response.end('ok'))
  const agent = agentOf(openWay, false)
  t.after(() => agent.destroy())
  const sockets = new Map<Socket, number>()
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const call = request(`http://127.0.0.1:${server.port}/`, { agent }, (answer) => {
        answer.once('close', resolve).resume()
      })
      call.once('error', reject)
      requireFinalAnswer(call)
      call.once('socket', (socket) => sockets.set(socket, socket.listenerCount('error')))
      call.end()
    })
  await ask()
  await ask()
  const [[socket, listeners] = []] = sockets
  for (let times = 0; times < 10; times++) await ask()
  assert.equal(sockets.size, 1)
  assert.equal(socket && sockets.get(socket), listeners)
})

test('a name that is not answered for is waited for as long as the request, and no longer', async () => {
  const ended = new AbortController()
  const outbound = openOutbound({
    settings: openSettings,
    log: silentLog,
    resolve: () => {
      ended.abort()
      return new Promise(() => undefined)
    },
  })
  const request = { url: new URL('http://silent.test/'), signal: ended.signal }
  await assert.rejects(answerOf(outbound, request), NotReached)
})

test('of answers that come in one moment each has a turn of the loop of its own', async () => {
  const signal = AbortSignal.timeout(60_000)
  const one = async (port: number) => {
    const url = new URL(`http://127.0.0.1:${port}/`)
    const answer = await answerOf(openWay, { url, signal })
    return answer.resume()
  }
  assert.equal(await turnsOfAnswers(20, one), 20)
})
