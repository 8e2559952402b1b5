/** Large lists are created a few at a time for each caller, and no more while they are not read. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Business } from '#business/service.ts'
import { refuse } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { group, owner, startPlane } from '#plane/testing/start.ts'
import { turnsOf, useUpTurns } from '../../tests/turns.ts'
import { until } from '../../tests/until.ts'
import type { DirectoryRoute } from './directory.ts'
import { servePlane } from './testing/serve-plane.ts'
import { startEdge, type TestEdge } from './testing/start.ts'

/** More than the system's own buffers hold. */
const large = 'x'.repeat(24 * 1024 * 1024)
const list = '/api/v2.0/customers'
const limits = { answersAtOncePerPrincipalMax: 2, unreadBytesPerAddressMax: large.length * 20 }

/** Replaces the business application: answers when it may, and counts. */
function holding(text: string) {
  const held: (() => void)[] = []
  const begun: string[] = []
  const business: Business = {
    async handle({ principal }) {
      begun.push(principal.id)
      await new Promise<void>((resolve) => held.push(resolve))
      return { status: 200, headers: {}, body: text }
    },
    admitLarge: async () => {},
  }
  return { business, begun, held }
}

/** Sends a request on a connection of its own, several times in one piece, and reads nothing. */
function ask(edge: TestEdge, path = list, times = 1): Socket {
  const socket = connect(edge.port, '127.0.0.1')
  // A cut connection is no fault of the test.
  socket.on('error', () => {})
  socket.pause()
  const request = `GET ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer owner\r\n\r\n`
  socket.write(request.repeat(times))
  return socket
}

test('a batch waits for its room, however its path is spelled', async () => {
  const { business, begun, held } = holding('{}')
  await using edge = await startEdge({ limits, options: { business } })
  const headers = { 'content-type': 'application/json' }
  const paths = ['$batch', '%24batch', '$batch/', '%24%62atch', '$batch', '%24batch/']
  const all = paths.map((path) =>
    edge.fetch(`/api/v2.0/${path}`, { method: 'POST', headers, body: '{"requests":[]}' }),
  )
  await until(() => begun.length === 2)
  // Small requests go on meanwhile, and those that did not wait would have begun before them.
  for (let at = 0; at < 5; at++) assert.equal((await edge.fetch('/healthz')).status, 200)
  assert.equal(begun.length, 2)
  const letting = setInterval(() => held.shift()?.(), 1)
  for (const answer of await Promise.all(all)) assert.equal(answer.status, 200)
  clearInterval(letting)
})

test('one caller’s lists are made a few at a time, so that another’s begins', async () => {
  const { business, begun, held } = holding('{}')
  await using edge = await startEdge({ limits, options: { business } })
  const own = Array.from({ length: 6 }, () => edge.fetch(list))
  await until(() => begun.length === 2)
  const other = edge.fetch(list, { as: 'nobody' })
  await until(() => begun.length === 3)
  assert.equal(new Set(begun).size, 2)
  const letting = setInterval(() => held.shift()?.(), 1)
  for (const answer of await Promise.all([...own, other])) assert.equal(answer.status, 200)
  clearInterval(letting)
  assert.equal(begun.length, 7)
})

test('lists that take long leave places for callers of whom none is made', async () => {
  const { business, begun, held } = holding('{}')
  const authenticate = (header = '') => ({ ...owner, id: header })
  await using edge = await startEdge({
    limits: { ...limits, answersAtOnceMax: 8 },
    options: { business, authenticate },
  })
  const ask = (name: string) => edge.fetch(list, { as: name })
  const all = ['a', 'a', 'b', 'b', 'c', 'c'].map(ask)
  await until(() => begun.length === 6)
  all.push(ask('d'), ask('d'))
  await until(() => begun.length === 7)
  all.push(ask('e'))
  await until(() => begun.includes('Bearer e'))
  const letting = setInterval(() => held.shift()?.(), 1)
  for (const answer of await Promise.all(all)) assert.equal(answer.status, 200)
  clearInterval(letting)
})

test('questions to the directory that read many principals are answered a few at a time for each caller', async () => {
  const held: (() => void)[] = []
  const begun: string[] = []
  const route = (path: string, readsMany: boolean): DirectoryRoute => ({
    method: 'GET',
    path,
    action: 'Directory/users/read',
    status: 200,
    ...(readsMany ? { readsMany } : {}),
    async run(_params, _body, _query, { principal }) {
      begun.push(principal.id)
      if (readsMany) await new Promise<void>((resolve) => held.push(resolve))
      return { value: [] }
    },
  })
  const directoryRoutes = [route('/directory/many', true), route('/directory/one', false)]
  await using edge = await startEdge({ limits, directoryRoutes })
  const own = Array.from({ length: 6 }, () => edge.fetch('/directory/many'))
  await until(() => begun.length === 2)
  assert.equal((await edge.fetch('/directory/one')).status, 200, 'one principal waits for no list')
  assert.equal(begun.length, 3)
  const letting = setInterval(() => held.shift()?.(), 1)
  for (const answer of await Promise.all(own)) assert.equal(answer.status, 200)
  clearInterval(letting)
})

test('whoever does not read large answers gets no more of them, until they are read or cut', async () => {
  const { business, begun, held } = holding(large)
  await using edge = await startEdge({ limits, options: { business } })
  const letting = setInterval(() => held.shift()?.(), 1)
  const sockets = Array.from({ length: 5 }, () => ask(edge))
  await until(() => begun.length === 2 && held.length === 0)
  // The answers are waiting. Another request without a large answer is served meanwhile.
  for (let at = 0; at < 20; at++) {
    assert.equal((await edge.fetch('/healthz', { as: '' })).status, 200)
  }
  assert.equal(begun.length, 2)
  const waiting = edge.fetch(list)
  for (const socket of sockets) socket.resume()
  assert.equal((await (await waiting).text()).length, large.length)
  assert.equal(begun.length, 6)
  for (const socket of sockets) {
    socket.destroy()
    if (!socket.closed) await once(socket, 'close')
  }
  // A client that goes away frees its place, too.
  const gone = Array.from({ length: 2 }, () => ask(edge))
  await until(() => begun.length === 8 && held.length === 0)
  for (const socket of gone) socket.destroy()
  assert.equal((await edge.fetch(list)).status, 200)
  clearInterval(letting)
})

test('a small answer keeps no place, read or not', async () => {
  const { business, begun, held } = holding('{}')
  await using edge = await startEdge({ limits, options: { business } })
  const letting = setInterval(() => held.shift()?.(), 1)
  const sockets = Array.from({ length: 5 }, () => ask(edge))
  await until(() => begun.length === 5)
  for (const socket of sockets) socket.destroy()
  clearInterval(letting)
})

test('a caller who was disabled while a list waited for its turn does not get it', async () => {
  const { business, begun, held } = holding('{}')
  let isDisabled = false
  const authenticate = () => {
    if (isDisabled) throw refuse.InvalidAuthenticationToken({ reason: 'its principal is disabled' })
    return owner
  }
  await using edge = await startEdge({ limits, options: { business, authenticate } })
  const answers = Array.from({ length: 3 }, () => edge.fetch(list))
  await until(() => begun.length === 2)
  isDisabled = true
  for (const letGo of held) letGo()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), [200, 200, 401])
  assert.equal(begun.length, 2)
})

test('what waits for a client ends when the client is gone, and at the deadline', async () => {
  let ticks = 0
  const signals: AbortSignal[] = []
  const business: Business = {
    handle: ({ awaited }) =>
      new Promise((_, reject) => {
        const signal = awaited?.() as AbortSignal
        signals.push(signal)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
    admitLarge: async () => {},
  }
  await using edge = await startEdge({ ticks: () => ticks, options: { business } })
  const socket = ask(edge)
  const late = edge.fetch(list)
  await until(() => signals.length === 2)
  socket.destroy()
  await until(() => signals.some(({ aborted }) => aborted))
  assert.equal(signals.filter(({ aborted }) => aborted).length, 1)
  ticks = 3_600_000
  assert.equal((await late).status, 504)
  await until(() => signals.every(({ aborted }) => aborted))
  assert.deepEqual(
    edge.logged.filter(({ level }) => level === 'error'),
    [],
  )
})

test('a resource in another form than its own waits as a list does', async () => {
  await using t = await startPlane({ reconcile: false })
  const widget = `${group}/providers/Vendor.Sample/widgets/w`
  await t.call('PUT', widget, { location: 'here', properties: { parts: ['a'] } })
  const held: (() => void)[] = []
  const begun: string[] = []
  const { plane } = t
  const slow: typeof plane = {
    ...plane,
    async run(route, input) {
      begun.push(route.kind)
      await new Promise<void>((resolve) => held.push(resolve))
      return plane.run(route, input)
    },
  }
  await using edge = await servePlane(slow, { limits: { ...defaultLimits, ...limits } })
  const ask = (more: string) => fetch(`${edge.url}${widget}?api-version=2024-01-01${more}`)
  const whole = Array.from({ length: 5 }, () => ask('&export=true'))
  await until(() => begun.length === 2)
  const own = Array.from({ length: 5 }, () => ask(''))
  await until(() => begun.length === 7)
  const letting = setInterval(() => held.shift()?.(), 1)
  for (const answer of await Promise.all([...whole, ...own])) assert.equal(answer.status, 200)
  clearInterval(letting)
})

test('of large resources one principal has a few at once in memory, and is authorized when their turn has come', async (t) => {
  await using started = await startPlane({ reconcile: false })
  const widget = `${group}/providers/Vendor.Sample/widgets/w`
  await started.call('PUT', widget, { location: 'here', properties: { parts: ['a'] } })
  const held: (() => void)[] = []
  let begun = 0
  const { plane } = started
  const slow: typeof plane = {
    ...plane,
    largeAt: ({ text }) => (text === widget ? 4 * 1024 * 1024 : 0),
    async run(route, input) {
      if (route.id.text === widget) {
        begun++
        await new Promise<void>((resolve) => held.push(resolve))
      }
      return plane.run(route, input)
    },
  }
  let isDisabled = false
  const authenticate = () => {
    if (isDisabled) throw refuse.InvalidAuthenticationToken({ reason: 'its principal is disabled' })
    return owner
  }
  await using edge = await servePlane(slow, { authenticate })
  const ask = (path: string) => fetch(`${edge.url}${path}?api-version=2024-01-01`)
  const answers = Array.from({ length: 5 }, () => ask(widget))
  await until(() => begun === 2)
  for (let at = 0; at < 5; at++) assert.equal((await ask(`${widget}2`)).status, 404)
  assert.equal(begun, 2)
  held.shift()?.()
  await until(() => begun === 3)
  isDisabled = true
  const letting = setInterval(() => held.shift()?.(), 1)
  t.after(() => clearInterval(letting))
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), [200, 200, 200, 401, 401])
})

test('when the turn is used up, a body is checked, written and answered in turns of their own', async (t) => {
  await using started = await startPlane({ reconcile: false })
  const { plane } = started
  const counted: number[] = []
  const counting: typeof plane = {
    ...plane,
    async run(route, input) {
      const { turns, result } = await turnsOf(() => plane.run(route, input))
      counted.push(turns)
      return result
    },
  }
  await using edge = await servePlane(counting)
  const put = (name: string) => {
    const body = `{"location":"here","properties":{"parts":["a"]}}`
    const path = `${group}/providers/Vendor.Sample/widgets/${name}?api-version=2024-01-01`
    const headers = { 'content-type': 'application/json' }
    return fetch(`${edge.url}${path}`, { method: 'PUT', headers, body })
  }
  for (const name of ['warm', 'quick']) assert.equal((await put(name)).status, 201)
  useUpTurns(t)
  assert.equal((await put('slow')).status, 201)
  const [, quick = 0, slow = 0] = counted
  assert.ok(slow >= quick + 4, `${slow} turns, and ${quick} while there is time`)
})

test('requests that come at once begin and are answered as long as the turn has time, in order', async (t) => {
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  t.after(() => clearImmediate(next))
  const begun: (readonly [path: string, turn: number])[] = []
  const answered: number[] = []
  const together = Promise.withResolvers<void>()
  const count = 20
  const business: Business = {
    async handle({ path }) {
      begun.push([path, turn])
      if (begun.length === count) together.resolve()
      await together.promise
      return { status: 200, headers: {}, body: '{}' }
    },
    admitLarge: async () => {},
  }
  const log = { ...silentLog, info: () => answered.push(turn) }
  await using edge = await startEdge({ options: { business, log, logRequests: 'info' } })
  useUpTurns(t)
  const socket = connect(edge.port, '127.0.0.1')
  const paths = Array.from({ length: count }, (_, at) => `customers${at}`)
  const head = 'Host: here\r\nAuthorization: Bearer owner\r\nContent-Length: 0\r\n\r\n'
  socket.write(paths.map((path) => `POST /api/v2.0/${path} HTTP/1.1\r\n${head}`).join(''))
  await until(() => answered.length === count)
  socket.destroy()
  assert.deepEqual(
    begun.map(([path]) => path),
    paths,
  )
  assert.equal(new Set(begun.map(([, at]) => at)).size, count)
  assert.equal(new Set(answered).size, count)
})

test('who comes behind many of somebody else, as through one proxy, begins before most of them', async (t) => {
  const begun: string[] = []
  const business: Business = {
    async handle({ path }) {
      begun.push(path)
      return { status: 200, headers: {}, body: '{}' }
    },
    admitLarge: async () => {},
  }
  await using edge = await startEdge({ options: { business } })
  useUpTurns(t)
  const socket = connect(edge.port, '127.0.0.1')
  const post = (path: string, as: string) =>
    `POST /api/v2.0/${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${as}\r\nContent-Length: 0\r\n\r\n`
  const many = Array.from({ length: 20 }, (_, at) => post(`many${at}`, 'owner'))
  socket.write([...many, post('one', 'nobody')].join(''))
  await until(() => begun.length === 21)
  socket.destroy()
  assert.ok(begun.indexOf('one') < 10, begun.join())
})

test('a caller who is known begins before those with made-up tokens, however many there are', async (t) => {
  const begun: (string | undefined)[] = []
  const count = 300
  const all = Promise.withResolvers<void>()
  await using edge = await startEdge({
    limits: { requestsPerConnectionMax: count + 1 },
    options: {
      callerOf: (header) => (header === 'Bearer owner' ? owner.id : undefined),
      authenticate: (header) => {
        if (begun.push(header) > count) all.resolve()
        if (header === 'Bearer owner') return owner
        throw refuse.InvalidAuthenticationToken({ reason: 'it is made up' })
      },
    },
  })
  useUpTurns(t)
  const socket = connect(edge.port, '127.0.0.1')
  const get = (token: string) =>
    `GET /subscriptions?api-version=2022-12-01 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const many = Array.from({ length: count }, (_, at) => get(`made-up-${at}`))
  socket.write([...many, get('owner')].join(''))
  await all.promise
  socket.destroy()
  assert.ok(begun.indexOf('Bearer owner') < 10, begun.slice(0, 20).join())
})

test('of one address so many requests with unchecked tokens wait and no more, and a known caller is served', async (t) => {
  await using edge = await startEdge({
    options: { callerOf: (header) => (header === 'Bearer owner' ? owner.id : undefined) },
  })
  useUpTurns(t)
  const get = (token: string) =>
    `GET /subscriptions?api-version=2022-12-01 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const ended: unknown[] = []
  const sockets = Array.from({ length: 60 }, (_, at) => {
    const socket = connect(edge.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.on('close', () => ended.push(at))
    socket.write(Array.from({ length: 30 }, (_, n) => get(`made-up-${at}-${n}`)).join(''))
    return socket
  })
  const known = await edge.fetch('/subscriptions?api-version=2022-12-01')
  assert.ok(known.status < 500, `${known.status}`)
  // Not by the clock, which runs ahead here.
  for (let at = 0; at < 1e6 && ended.length === 0; at++) await new Promise(setImmediate)
  assert.ok(ended.length > 0)
  assert.ok(ended.length < sockets.length, `${ended.length} connections were ended`)
  for (const socket of sockets) socket.destroy()
})

test('where too many of one address wait, the connections with most of them are ended, and no neighbour’s', async (t) => {
  await using edge = await startEdge({ options: { callerOf: () => undefined } })
  useUpTurns(t)
  const get = (token: string) =>
    `GET /subscriptions?api-version=2022-12-01 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const open = (requests: number) => {
    const socket = connect(edge.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(Array.from({ length: requests }, (_, n) => get(`made-up-${n}`)).join(''))
    return socket
  }
  const many = Array.from({ length: 60 }, () => open(30))
  const ended: unknown[] = []
  for (const socket of many) socket.on('close', () => ended.push(socket))
  const few = Array.from({ length: 20 }, () => open(1))
  const cut: unknown[] = []
  const answered = few.map((socket) => {
    socket.on('close', () => cut.push(socket))
    return once(socket, 'data')
  })
  await Promise.race([Promise.all(answered), ...few.map((socket) => once(socket, 'close'))])
  assert.deepEqual([cut.length, ended.length > 0], [0, true])
  for (const socket of [...many, ...few]) socket.destroy()
})

test('a new token on the connection of a known caller waits by principal', async (t) => {
  const begun: (string | undefined)[] = []
  const count = 300
  const all = Promise.withResolvers<void>()
  await using edge = await startEdge({
    limits: { requestsPerConnectionMax: count + 1 },
    options: {
      callerOf: (header) => (header === 'Bearer owner' ? owner.id : undefined),
      authenticate: (header) => {
        if (begun.push(header) > count + 1) all.resolve()
        return owner
      },
    },
  })
  const get = (token: string) =>
    `GET /subscriptions?api-version=2022-12-01 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const known = connect(edge.port, '127.0.0.1')
  known.write(get('owner'))
  await once(known, 'data')
  useUpTurns(t)
  const many = connect(edge.port, '127.0.0.1')
  many.write(Array.from({ length: count }, (_, at) => get(`made-up-${at}`)).join(''))
  await until(() => begun.length > 1)
  known.write(get('renewed'))
  await all.promise
  for (const socket of [known, many]) socket.destroy()
  assert.ok(begun.indexOf('Bearer renewed') < count, `${begun.indexOf('Bearer renewed')}`)
})

test('documents that need no token are made a few at a time for each address', async () => {
  let found = 0
  const openapi = () => {
    found++
    return large
  }
  await using edge = await startEdge({ limits, options: { openapi } })
  const sockets = Array.from({ length: 4 }, () => ask(edge, '/openapi/one', 5))
  await until(() => found === 2)
  for (let at = 0; at < 20; at++) assert.equal((await edge.fetch('/healthz')).status, 200)
  assert.equal(found, 2)
  for (const socket of sockets) socket.destroy()
  const { length } = await (await edge.fetch('/openapi/one', { as: '' })).text()
  assert.equal(length, large.length)
})

test('an answer is text before others have their turn', async (t) => {
  let isText = false
  const seen: boolean[] = []
  const route: DirectoryRoute = {
    method: 'GET',
    path: '/directory/objects',
    action: 'x',
    status: 200,
    async run() {
      await new Promise(setImmediate)
      setImmediate(() => seen.push(isText))
      // Whoever is first in a turn has it.
      void freeTurn()
      return {
        toJSON() {
          isText = true
          return {}
        },
      }
    },
  }
  await using edge = await startEdge({ directoryRoutes: [route] })
  useUpTurns(t)
  assert.equal(await (await edge.fetch('/directory/objects')).text(), '{}')
  await until(() => seen.length > 0)
  assert.deepEqual(seen, [true])
})
