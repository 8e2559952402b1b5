/**
 * Programs that an exec started end with its session. If the image has no means for that, they count against the
 * limit.
 */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import http from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import { startPodman, type ThrowawayPodman, webGroup } from '../testing/podman.ts'
import { DockerClient, noAnswerInTime } from './client.ts'
import { DockerEngine } from './docker-engine.ts'
import { Executions } from './executions.ts'
import { runsStill, startExec } from './session.ts'

const busybox = '/bin/busybox'

/** Descriptors of this process. */
const descriptors = (): number => readdirSync('/proc/self/fd').length

interface StartedGroup extends AsyncDisposable {
  readonly engine: DockerEngine
  readonly podman: ThrowawayPodman
  readonly container: string
}

/** A group whose container sleeps, on an engine of its own. The reason where there is no Podman. */
async function startGroup(): Promise<StartedGroup | string> {
  await using opening = new AsyncDisposableStack()
  const podman = await startPodman()
  if (typeof podman === 'string') return podman
  opening.use(podman)
  const installation = `executions-${process.pid}`
  const container = `armature_${installation}_one_part_web`
  const engine = opening.use(new DockerEngine({ target: podman.target, installation }))
  const spec = webGroup(['sleep', '3600'])
  opening.defer(() => engine.remove('one'))
  await engine.create('one', spec)
  await engine.start('one', spec, ['web'])
  const opened = opening.move()
  return { engine, podman, container, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** For the tests of a container, in their order: the last one breaks it. */
let group: Promise<StartedGroup | string> | undefined
after(async () => {
  const started = await group
  if (typeof started === 'object') await started[Symbol.asyncDispose]()
})

async function groupOf(t: TestContext): Promise<StartedGroup | undefined> {
  group ??= startGroup()
  const started = await group
  const reason = typeof started === 'string' ? started : ''
  return requireOrSkip(t, reason === '', reason) && typeof started === 'object'
    ? started
    : undefined
}

interface FakeEngine extends AsyncDisposable {
  readonly client: DockerClient
  readonly sockets: readonly Duplex[]
}

/** It answers as `answer` says, and gives a bare connection to each command. */
async function fakeEngine(answer: http.RequestListener): Promise<FakeEngine> {
  const sockets: Duplex[] = []
  const engine = http.createServer((request, response) => {
    request.resume()
    if (request.url === '/_ping') response.end()
    else if (request.url === '/version') response.end('{"MinAPIVersion":"1.24"}')
    else answer(request, response)
  })
  engine.on('upgrade', (_request, socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
  })
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve))
  const { port } = engine.address() as AddressInfo
  return {
    client: new DockerClient({ kind: 'tcp', host: '127.0.0.1', port }),
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      engine.closeAllConnections()
      engine.close()
    },
  }
}

test('a short command with a terminal gives its output and leaves no connection', async (t) => {
  const started = await groupOf(t)
  if (started === undefined) return
  const { engine } = started
  const before = descriptors()
  for (let count = 0; count < 6; count++) {
    const terminal = { rows: 10, columns: 20 }
    await using session = await engine.exec('one', 'web', { command: ['echo', 'a'], terminal })
    let text = ''
    for await (const { bytes } of session.output) text += Buffer.from(bytes)
    assert.equal(text.trim(), 'a')
    assert.equal(await session.exitCode(), 0)
    // Also of a command that has ended.
    await session.resize(terminal)
  }
  await sleep(200)
  assert.ok(descriptors() < before + 4, `${before} descriptors before, ${descriptors()} after`)
})

test('an engine that cuts the connection of a new command fails the command, and nothing else', async () => {
  let looks = 0
  await using engine = await fakeEngine((request, response) => {
    if (request.url?.includes('/resize') === true) {
      for (const socket of engine.sockets) if (socket instanceof Socket) socket.resetAndDestroy()
      setTimeout(() => response.writeHead(500).end('{"message":"gone"}'), 100)
      return
    }
    const running = request.method === 'GET' && looks++ === 0
    response.end(JSON.stringify({ Id: 'one', Running: running, ExitCode: 137 }))
  })
  const executions = new Executions(engine.client)
  const terminal = { rows: 10, columns: 20 }
  await assert.rejects(executions.open('web', { command: ['sh'], terminal }), /gone/)
  await executions.settled()
  assert.ok(engine.sockets.every(({ destroyed }) => destroyed))
})

test('a command that ends while its terminal gets its size fails nothing', async () => {
  await using engine = await fakeEngine(({ url = '' }, response) => {
    // As Podman answers.
    if (url.includes('/resize')) response.writeHead(500).end('{"message":"broken pipe"}')
    else response.end('{"Id":"one","Running":false,"ExitCode":0}')
  })
  const executions = new Executions(engine.client)
  const terminal = { rows: 10, columns: 20 }
  await using session = await executions.open('web', { command: ['true'], terminal })
  assert.equal(await session.exitCode(), 0)
})

test('a command that has yet to begin is ended with its session, too', async () => {
  const made: string[] = []
  let looks = 0
  await using engine = await fakeEngine(({ url = '', method }, response) => {
    if (method === 'POST') response.end(JSON.stringify({ Id: `e${made.push(url)}` }))
    // As Docker answers between the connection and the start of a command.
    else if (url.includes('/exec/e1/') && looks++ < 1)
      response.end('{"Running":false,"ExitCode":null}')
    else response.end('{"Running":false,"ExitCode":137}')
  })
  const executions = new Executions(engine.client)
  const session = await executions.open('web', { command: ['sh'] })
  await session[Symbol.asyncDispose]()
  await executions.settled()
  // The second one ends the first.
  assert.equal(made.length, 2)
})

test('a command that ends another one waits for its turn', async () => {
  const made: string[] = []
  await using engine = await fakeEngine(({ url = '', method }, response) => {
    if (method === 'POST') response.end(JSON.stringify({ Id: `e${made.push(url)}` }))
    else response.end(`{"Running":${url.includes('/exec/e1/') && made.length < 2},"ExitCode":137}`)
  })
  const executions = new Executions(engine.client)
  const isAwaited = Promise.withResolvers<void>()
  const comes = Promise.withResolvers<void>()
  const turn = () => {
    isAwaited.resolve()
    return comes.promise
  }
  const session = await executions.open('web', { command: ['sh'], turn })
  await session[Symbol.asyncDispose]()
  await Promise.race([isAwaited.promise, executions.settled()])
  assert.equal(made.length, 1)
  comes.resolve()
  await executions.settled()
  assert.equal(made.length, 2)
})

test('a container for which the engine gave no answer gets no further command for a while', async () => {
  let looks = 0
  await using engine = await fakeEngine(({ url = '' }, response) => {
    if (!url.includes('/containers/held/')) {
      response.end('{"Id":"one","Running":false,"ExitCode":0}')
      return
    }
    looks++
    response.writeHead(500).end(JSON.stringify({ message: noAnswerInTime }))
  })
  const executions = new Executions(engine.client)
  const command = ['true']
  await assert.rejects(executions.open('held', { command }), /in time/)
  await assert.rejects(executions.open('held', { command }), /left alone/)
  assert.equal(looks, 1)
  await using _other = await executions.open('other', { command })
})

test('an end waits neither for a command nor for an engine that gives no answer', async () => {
  await using fake = await fakeEngine((request, response) => {
    // Whether the command goes on is never said.
    if (request.url?.endsWith('/json') !== true) response.end('{"Id":"one"}')
  })
  const executions = new Executions(fake.client)
  await executions.open('one', { command: ['sleep', '80000'] })
  const left = await executions.open('two', { command: ['true'] })
  await left[Symbol.asyncDispose]()
  await executions.mostlySettled()
  await fake.client[Symbol.asyncDispose]()
  await executions.settled()
  for (const socket of fake.sockets) socket.resume()
  assert.ok(await until(() => fake.sockets.every((socket) => socket.readableEnded)))
  assert.equal(fake.sockets.length, 2)
})

test('what goes on counts, though the engine is slow to tell of another end', async () => {
  const running = new Set<string>()
  const firstLooks: (() => void)[] = []
  let made = 0
  await using engine = await fakeEngine(({ url = '', method }, response) => {
    if (method === 'POST') {
      if (url.includes('/containers/')) response.end(JSON.stringify({ Id: `e${++made}` }))
      return
    }
    const id = url.split('/').at(-2) ?? ''
    const tell = () => response.end(JSON.stringify({ Running: running.has(id), ExitCode: 0 }))
    if (id === 'e1' && firstLooks.push(tell) === 2) return
    tell()
  })
  const executions = new Executions(engine.client)
  const letGo = async (goesOn: boolean): Promise<void> => {
    await using _ = await executions.open('web', { command: ['sleep', '7777'] })
    if (goesOn) running.add(`e${made}`)
  }
  await letGo(false)
  await until(() => firstLooks.length === 2, 10)
  // The end of the second one is noted, and that of the first with it.
  await letGo(false)
  await until(() => firstLooks.length === 3, 10)
  await letGo(true)
  firstLooks[1]?.()
  for (let count = 1; count < 20; count++) {
    await executions.settled()
    await letGo(true)
  }
  await executions.settled()
  await assert.rejects(letGo(true), /go on without a client/)
})

test('what goes on in many containers is looked at a few times for each end, not without an end', async () => {
  const made = new Set<string>()
  const looksMax = 1000
  let looks = 0
  await using engine = await fakeEngine(({ url = '', method }, response) => {
    if (method === 'GET') response.end(`{"Running":${looks++ < looksMax},"ExitCode":0}`)
    // A second command in a container, which would end the first, does not begin.
    else if (made.has(url)) response.writeHead(409).end()
    else response.end(JSON.stringify({ Id: `e${made.add(url).size}` }))
  })
  const executions = new Executions(engine.client)
  for (let count = 0; count < 110; count++) {
    const session = await executions.open(`web-${count}`, { command: ['sleep', '7777'] })
    await session[Symbol.asyncDispose]()
  }
  await executions.settled()
  assert.ok(looks < looksMax, `${looks} looks`)
})

test('the end of a command without a client is seen before the engine forgets the command', async (t) => {
  const started = await groupOf(t)
  if (started === undefined) return
  await using client = new DockerClient(started.podman.target)
  await using command = await startExec(client, started.container, ['true'])
  // Podman's monitor of a command stays for five minutes more.
  assert.equal(await runsStill(client, command.id, 1000), false)
})

test('a command ends with its session, and so does what it began', async (t) => {
  const started = await groupOf(t)
  if (started === undefined) return
  const { engine, podman, container } = started
  const running = async (): Promise<string> => {
    await using session = await engine.exec('one', 'web', {
      command: [busybox, 'ps', '-o', 'args'],
    })
    let text = ''
    for await (const { bytes } of session.output) text += Buffer.from(bytes)
    return text
  }
  for (const request of [
    { command: ['sh', '-c', 'echo up; sleep 7777 & while :; do echo; sleep 0.1; done'] },
    { command: ['sh', '-c', 'echo up; sleep 7777'], terminal: { rows: 5, columns: 5 } },
    { command: ['sh', '-c', 'echo up; cat; sleep 7777'], input: true },
  ]) {
    const session = await engine.exec('one', 'web', request)
    for await (const { bytes } of session.output) if (bytes.length > 0) break
    await session[Symbol.asyncDispose]()
    await until(async () => !/7777|while/.test(await running()), 50)
    assert.match(await running(), /sleep 3600/)
  }
  // A shell without a session: nobody waits for it, but it counts as well.
  const put =
    "rm /bin/sh; echo '#!/bin/busybox sh' > /bin/sh; echo 'exec /bin/busybox sleep 9999' >> /bin/sh"
  await podman.podman(
    'exec',
    container,
    busybox,
    'sh',
    '-c',
    `${put}; /bin/busybox chmod +x /bin/sh`,
  )
  const endless = { command: [busybox, 'sleep', '7777'] }
  const letGo = async (): Promise<void> => {
    await using _ = await engine.exec('one', 'web', endless)
  }
  const refused = async (): Promise<void> => {
    for (let count = 0; count <= 20; count++) await letGo()
  }
  await assert.rejects(refused, /go on without a client/)
  const probe = { kind: 'exec', command: endless.command } as const
  const outcome = await engine.probe('one', 'web', probe, 1)
  assert.match(outcome.message, /go on without a client/)
  // Without a shell nothing ends them.
  await podman.podman('exec', container, busybox, 'rm', '/bin/sh')
  await podman.podman('exec', container, busybox, 'killall', 'busybox')
  await assert.rejects(refused, /go on without a client/)
  await podman.podman('exec', container, busybox, 'killall', 'busybox')
  // The engine notes their ends one after the other.
  const isFree = (): Promise<boolean> =>
    letGo().then(
      () => true,
      () => false,
    )
  await until(isFree, 50)
})
