import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { Session } from '../engine.ts'
import { splitLines } from '../lines.ts'
import { channels } from './exec.ts'
import { failureOf } from './failure.ts'
import { namesOf } from './names.ts'
import { openFakeCluster, part, spec } from './testing/fake-cluster.ts'

async function runningWorld(t: TestContext) {
  const fixture = await openFakeCluster(t)
  await fixture.engine.create('g', spec([part('web')]))
  await fixture.until('g', ({ parts }) => parts[0]?.state.kind === 'running')
  return fixture
}

async function outputOf(session: Session): Promise<string> {
  let text = ''
  for await (const { stream, bytes } of session.output) text += `${stream}:${Buffer.from(bytes)}`
  return text
}

test('streams apart and the exit code; a command that cannot be run is refused', async (t) => {
  const { engine } = await runningWorld(t)
  await using loud = await engine.exec('g', 'web', { command: ['exit', '5'] })
  await assert.rejects(loud.write(Buffer.from('x')), { kind: 'refused' })
  assert.equal(await outputOf(loud), 'error:going\n')
  assert.equal(await loud.exitCode(), 5)
  await using quiet = await engine.exec('g', 'web', { command: ['echo', 'a b', '&c=d'] })
  assert.equal(await outputOf(quiet), 'out:a b &c=d\n')
  assert.equal(await quiet.exitCode(), 0)
  await using lost = await engine.exec('g', 'web', { command: ['no-such-program'] })
  assert.equal(await outputOf(lost), '')
  await assert.rejects(lost.exitCode(), { kind: 'refused', message: /not found/ })
})

test('input goes in, its end is passed on, and long messages come whole', async (t) => {
  const { engine } = await runningWorld(t)
  await using session = await engine.exec('g', 'web', { command: ['cat'], input: true })
  const long = 'x'.repeat(100_000)
  await session.write(Buffer.from('short'))
  await session.write(Buffer.from(long))
  session.end()
  assert.equal(await outputOf(session), `out:shortout:${long}`)
  assert.equal(await session.exitCode(), 0)
})

test('a report of the end without end is cut, and what a cluster says is made safe to show', async (t) => {
  const { engine } = await runningWorld(t)
  await using session = await engine.exec('g', 'web', { command: ['chatter'] })
  assert.equal(await outputOf(session), '')
  await assert.rejects(session.exitCode(), { kind: 'refused' })
  const body = JSON.stringify({ message: `\u001b[31m${'x'.repeat(50_000)}` })
  const { message } = failureOf(403, body, 'make a pod')
  assert.match(message, /^make a pod: {2}\[31mx+$/)
  assert.ok(message.length <= 2000)
})

test('lines that come in chunks are whole', async () => {
  const chunks = ['a', 'b\nc', '\n', '\nd\ne', 'f'].map((text) => Buffer.from(text))
  const lines: string[] = []
  for await (const line of splitLines(Readable.from(chunks))) lines.push(line)
  assert.deepEqual(lines, ['ab', 'c', '', 'd', 'ef'])
})

test('a terminal has its size', async (t) => {
  const { engine, double } = await runningWorld(t)
  const terminal = { rows: 33, columns: 101 }
  await using session = await engine.exec('g', 'web', { command: ['size'], terminal })
  assert.equal(await outputOf(session), 'out:33 101\n')
  const { query } = double.calls.find(({ path }) => path.endsWith('/exec')) ?? {}
  assert.deepEqual(query, {
    container: 'web',
    stdin: 'false',
    stdout: 'true',
    stderr: 'false',
    tty: 'true',
    command: 'size',
  })
})

test('a server that asks whether anybody is there is answered', async (t) => {
  const { engine } = await runningWorld(t)
  await using session = await engine.exec('g', 'web', { command: ['knock'] })
  assert.equal(await outputOf(session), 'out:there?\n')
})

test('a probe by command: healthy, unhealthy, too late', async (t) => {
  const { engine } = await runningWorld(t)
  const run = async (command: readonly string[], seconds = 5) =>
    await engine.probe('g', 'web', { kind: 'exec', command }, seconds)
  assert.equal((await run(['true'])).healthy, true)
  assert.equal((await run(['exit', '1'])).healthy, false)
  assert.match((await run(['sleep'], 0.05)).message, /did not end within/)
})

test('a session that is closed early, and a connection that is cut', async (t) => {
  const { engine, double } = await runningWorld(t)
  const early = await engine.exec('g', 'web', { command: ['sleep'] })
  await early[Symbol.asyncDispose]()
  await using cut = await engine.exec('g', 'web', { command: ['sleep'] })
  double.cutSessions()
  await outputOf(cut).catch(() => '')
  await assert.rejects(cut.exitCode(), { kind: 'unavailable' })
})

test('the played server speaks with a web socket client that is not ours', async (t) => {
  const { double } = await runningWorld(t)
  const { name } = namesOf('one', 'g')
  const { server, token } = double.target
  const url = `${server.replace('http:', 'ws:')}/api/v1/namespaces/groups/pods/${name}/exec`
  const headers = { authorization: `Bearer ${token}` }
  const protocols = ['v5.channel.k8s.io']
  const socket = new WebSocket(`${url}?command=cat`, { protocols, headers })
  socket.binaryType = 'arraybuffer'
  let text = ''
  socket.addEventListener('message', ({ data }) => {
    // `binaryType` above selects this type.
    const bytes = Buffer.from(data as ArrayBuffer)
    if (bytes.length > 1) text += `${bytes[0]}:${bytes.subarray(1)}`
  })
  await once(socket, 'open')
  socket.send(Buffer.from([channels.input, ...Buffer.from('hello')]))
  socket.send(Buffer.from([channels.close, channels.input]))
  await once(socket, 'close')
  assert.equal(text, '1:hello3:{"status":"Success"}')
})

test('a message in fragments comes whole, and one that is too long ends the session', async (t) => {
  const { engine } = await runningWorld(t)
  await using torn = await engine.exec('g', 'web', { command: ['fragments'] })
  assert.equal(await outputOf(torn), 'out:one message')
  await using huge = await engine.exec('g', 'web', { command: ['huge'] })
  await assert.rejects(outputOf(huge), { kind: 'unavailable' })
})

test('a session that the cluster refuses fails with the cluster’s reason', async (t) => {
  const { engine, double } = await runningWorld(t)
  const pod = double.objects.find('pods', namesOf('one', 'g').name)
  assert.ok(pod)
  double.objects.remove('pods', pod)
  await assert.rejects(engine.exec('g', 'web', { command: ['true'] }), { kind: 'absent' })
})
