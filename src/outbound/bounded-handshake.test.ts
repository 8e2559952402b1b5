/** Handshakes whose bytes come at once: the loop turns between their steps, and no address waits for all of another's. */

import assert from 'node:assert/strict'
import { pbkdf2Sync } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { requireOrSkip } from '../../tests/require.ts'
import { until } from '../../tests/until.ts'
import { BoundedHandshake, restAfterSteps } from './bounded-handshake.ts'

interface Step {
  readonly host: string
  readonly owner: string | undefined
  /** Of the loop. */
  readonly turn: number
}

/** A step for each connection to these hosts, whose bytes all come at once. */
async function stepsOf(
  t: TestContext,
  hosts: readonly (string | { readonly host: string; readonly owner: string })[],
  work: () => void = () => undefined,
): Promise<readonly Step[]> {
  const accepted: Socket[] = []
  const server = createServer((socket) => accepted.push(socket)).listen(0, '0.0.0.0')
  t.after(() => server.close())
  await once(server, 'listening')
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  let turn = 0
  const count = (): void => {
    turn++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  t.after(() => clearImmediate(counting))
  const steps: Step[] = []
  for (const one of hosts) {
    const { host, owner } = typeof one === 'string' ? { host: one, owner: undefined } : one
    const socket = connect(port, host)
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    new BoundedHandshake(socket, { owner }).on('data', () => {
      steps.push({ host, owner, turn })
      work()
    })
  }
  await until(() => accepted.length === hosts.length)
  // On this machine, all have come when the loop looks next.
  for (const socket of accepted) socket.write('a step')
  await until(() => steps.length === hosts.length)
  return steps
}

const one = '127.0.0.1'

/** The system may count a thread's time in ticks of ten milliseconds: what takes less may be counted as nothing. */
const longWork = (): void => void pbkdf2Sync('a', 'b', 100_000, 32, 'sha512')
const shortWork = (): void => void pbkdf2Sync('a', 'b', 1_000, 32, 'sha512')

test('one step of a handshake is made in a turn of the loop, and addresses take turns', async (t) => {
  const steps = await stepsOf(t, [one, one, one, one, '127.0.0.2'])
  assert.equal(new Set(steps.map(({ turn }) => turn)).size, steps.length)
  const other = steps.findIndex(({ host }) => host !== one)
  assert.ok(other < 2, `the other address came at place ${other}`)
})

test('an address whose steps took long goes after one whose did not', async (t) => {
  const measures = typeof process.threadCpuUsage === 'function'
  if (!requireOrSkip(t, measures, 'Node before 23.9 does not measure threads')) return
  await stepsOf(t, ['127.0.0.3'], longWork)
  const steps = await stepsOf(t, ['127.0.0.3', '127.0.0.3', '127.0.0.4', '127.0.0.4'])
  assert.deepEqual(
    steps.map(({ host }) => host),
    ['127.0.0.4', '127.0.0.4', '127.0.0.3', '127.0.0.3'],
  )
})

test('an address that is new goes after others where its network took long', async (t) => {
  const measures = typeof process.threadCpuUsage === 'function'
  if (!requireOrSkip(t, measures, 'Node before 23.9 does not measure threads')) return
  await stepsOf(t, ['127.0.7.1', '127.0.7.2'], longWork)
  await stepsOf(t, ['127.0.8.1'], shortWork)
  const steps = await stepsOf(t, ['127.0.7.3', '127.0.7.4', '127.0.7.5', '127.0.8.1'], longWork)
  const other = steps.findIndex(({ host }) => host === '127.0.8.1')
  assert.ok(other < 2, `the other network came at place ${other}`)
})

test('an owner whose steps took long goes after others, from every network and in the same one', async (t) => {
  const measures = typeof process.threadCpuUsage === 'function'
  if (!requireOrSkip(t, measures, 'Node before 23.9 does not measure threads')) return
  const of = (owner: string, ...hosts: string[]) => hosts.map((host) => ({ host, owner }))
  await stepsOf(t, of('many', '127.0.9.1', '127.0.10.1'), longWork)
  const many = of('many', '127.0.11.1', '127.0.12.1', '127.0.13.1')
  const steps = await stepsOf(t, [...many, ...of('few', '127.0.9.2')], longWork)
  const other = steps.findIndex(({ owner }) => owner === 'few')
  assert.ok(other < 2, `the other owner came at place ${other}`)
})

test('where steps are followed by rests, the loop turns on meanwhile', async (t) => {
  const measures = typeof process.threadCpuUsage === 'function'
  if (!requireOrSkip(t, measures, 'Node before 23.9 does not measure threads')) return
  restAfterSteps(10)
  t.after(() => restAfterSteps(0))
  const [first, second] = await stepsOf(t, [one, one], longWork)
  assert.ok((second?.turn ?? 0) > (first?.turn ?? 0) + 1)
})
