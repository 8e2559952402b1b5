/** `exec` and `attach` from the POST to the last byte: over the simulated engine, and in a real container. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DockerEngine } from '#engines/containers/docker/docker-engine.ts'
import { startPodman, testImage } from '#engines/containers/testing/podman.ts'
import { createStreams } from '#http/streams.ts'
import { constantPermissions } from '#http/testing/permissions.ts'
import { servePlane } from '#http/testing/serve-plane.ts'
import { silentLog } from '#kernel/ports.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import type { ActionContext, ReadingAction } from '#plane/declare/action.ts'
import { requireOrSkip } from '../../../../../../tests/require.ts'
import { until } from '../../../../../../tests/until.ts'
import type { Streams } from '../../../dependencies.ts'
import { CommandPace } from '../../../domain/groups/command-pace.ts'
import { done, groups, refused } from '../../../testing/ask.ts'
import {
  body,
  ids,
  type Started,
  type StartOptions,
  startContainers,
  web,
} from '../../../testing/start.ts'
import { execIn } from './exec-attach.ts'

interface Fixture extends AsyncDisposable {
  readonly started: Started
  readonly streams: Streams
  talk(action: string, body?: object): Promise<Talk>
}

type Exec = (container: string, signal?: AbortSignal) => Promise<unknown>

interface Talk {
  readonly socket: WebSocket
  /** Everything received until the other side closed. */
  readonly end: Promise<{ readonly text: string; readonly reason: string; readonly code: number }>
  says(words: string): Promise<void>
}

async function open(options: StartOptions = {}): Promise<Fixture> {
  let url = ''
  const clock = { now: () => Date.now() }
  const streams = createStreams({
    permissions: constantPermissions(),
    ids,
    clock,
    log: silentLog,
    publicUrl: () => url,
  })
  const started = await startContainers({ ...options, streams })
  const server = await servePlane(started.plane, { clock, ids, upgrades: [streams] })
  url = server.url
  return {
    started,
    streams,
    async talk(action, given) {
      const answer = await started.call('POST', `${groups}/one/containers/web/${action}`, given)
      assert.equal(answer.status, 200)
      // The answer of both actions.
      const offer = answer.body as { webSocketUri: string; password: string }
      return converse(offer.webSocketUri, offer.password)
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await started[Symbol.asyncDispose]()
    },
  }
}

function converse(uri: string, password: string): Talk {
  const socket = new WebSocket(uri)
  socket.binaryType = 'arraybuffer'
  let text = ''
  socket.addEventListener('open', () => socket.send(password))
  socket.addEventListener('message', ({ data }) => {
    text += Buffer.from(data as ArrayBuffer).toString('utf8')
  })
  const end = new Promise<Awaited<Talk['end']>>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => resolve({ text, code, reason }))
  })
  return {
    socket,
    end,
    async says(words) {
      await until(() => {
        if (text.includes(words)) return true
        if (socket.readyState === WebSocket.CLOSED) throw new Error(`closed after: ${text}`)
        return false
      })
    },
  }
}

describe('on the simulated engine', () => {
  test('exec and attach say that nothing really runs', async () => {
    await using fixture = await open()
    await fixture.started.call('PUT', `${groups}/one`, body([web('log:hello')]))
    await fixture.started.until('one', done)
    const exec = await fixture.talk('exec', { command: 'echo "a b"', terminalSize: { rows: 10 } })
    const { text, code, reason } = await exec.end
    assert.match(text, /would run \["echo","a b"\]/)
    assert.deepEqual([code, reason], [1000, 'exit code 0'])
    const attach = await fixture.talk('attach')
    attach.socket.addEventListener('open', () => attach.socket.send('ignored'))
    assert.equal((await attach.end).code, 1000)
  })

  test('refusals', async () => {
    await using fixture = await open()
    const { started } = fixture
    await started.call('PUT', `${groups}/one`, body([web('exit:0')], { restartPolicy: 'Never' }))
    await started.until(
      'one',
      (group) => done(group) && group.properties.instanceView.state === 'Succeeded',
    )
    const at = (path: string, given: object = { command: 'sh' }, options = {}) =>
      started.call('POST', `${groups}/${path}`, given, options)
    await refused(at('one/containers/web/exec'), 409, 'ContainerNotRunning')
    await refused(at('one/containers/other/exec'), 404, 'ContainerNotFound')
    await refused(at('none/containers/web/attach'), 404, 'ResourceNotFound')
    await refused(at('one/containers/web/exec', { command: "'" }), 400, 'InvalidCommand')
    await refused(at('one/containers/web/exec', {}), 400, 'InvalidRequestContent')
    const tiny = { command: 'sh', terminalSize: { rows: 0 } }
    await refused(at('one/containers/web/exec', tiny), 400, 'InvalidRequestContent')
    const stranger = at('one/containers/web/exec', undefined, { stranger: true })
    await refused(stranger, 403, 'AuthorizationFailed')
    await using without = await startContainers()
    await without.call('PUT', `${groups}/one`, body())
    await without.until('one', done)
    const path = `${groups}/one/containers/web/attach`
    await refused(without.call('POST', path), 503, 'ServiceUnavailable')
  })
})

describe('a command has its turn', () => {
  /** On an engine that says that it runs programs, with three turns in a group that do not come back. */
  async function paced(work: (exec: Exec, taken: () => number) => Promise<void>): Promise<void> {
    await using fixture = await open()
    const { started, streams } = fixture
    await started.call('PUT', `${groups}/one`, body())
    await started.until('one', done)
    const { engine } = started
    const really = { describe: async () => ({ ...(await engine.describe()), runsPrograms: true }) }
    let taken = 0
    const pace = new CommandPace(really, () => {
      taken += 1
      return { cancel() {} }
    })
    const action = execIn({ engine, streams, pace }) as ReadingAction<unknown>
    const permission = { principalId: 'p', ask: async () => ({ holds: true, until: Infinity }) }
    const exec: Exec = async (container, signal) => {
      const id = parseResourceId(`${groups}/one/containers/${container}`)
      const context = { id, reader: started.plane.reader, permission, signal }
      // What the action reads of it.
      return await action.run(
        context as unknown as ActionContext<unknown>,
        { command: 'sh' } as never,
      )
    }
    await work(exec, () => taken)
  }

  test('which one that finds no container does not take', () =>
    paced(async (exec, taken) => {
      await refused(exec('other'), 404, 'ContainerNotFound')
      assert.equal(taken(), 0)
      await exec('web')
      assert.equal(taken(), 1)
    }))

  test('for which nobody waits who is gone', () =>
    paced(async (exec) => {
      for (let at = 0; at < 3; at++) await exec('web')
      await assert.rejects(exec('web', AbortSignal.abort(new Error('gone'))), /gone/)
    }))
})

test('in a real container: input, output, exit codes, a terminal, a container that goes away', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  await using fixture = await open({
    engine: () => new DockerEngine({ target: podman.target, installation: 'exec-test' }),
  })
  const { started } = fixture
  const loop = "trap 'exit 0' TERM; while true; do echo tick; sleep 0.2; done"
  const container = {
    name: 'web',
    properties: {
      image: testImage,
      command: ['sh', '-c', loop],
      resources: { requests: { cpu: 0.5, memoryInGB: 0.1 } },
    },
  }
  await started.call('PUT', `${groups}/one`, body([container], { osType: 'Linux' }))
  const made = await started.until('one', done)
  assert.equal(made.properties.provisioningState, 'Succeeded', JSON.stringify(made))

  const script = `sh -c 'while read -r line; do echo "got $line"; done; exit 3'`
  const exec = await fixture.talk('exec', { command: script })
  exec.socket.addEventListener('open', () => exec.socket.send('one\n'))
  await exec.says('got one')
  exec.socket.send('two\n')
  await exec.says('got two')
  exec.socket.send('')
  assert.deepEqual(await exec.end, {
    text: 'got one\ngot two\n',
    code: 1000,
    reason: 'exit code 3',
  })

  const terminal = await fixture.talk('exec', {
    command: 'sh',
    terminalSize: { rows: 33, cols: 99 },
  })
  terminal.socket.addEventListener('open', () =>
    terminal.socket.send('test -t 0 && echo is-$((1+1))\n'),
  )
  await terminal.says('is-2')
  terminal.socket.send('exit 5\n')
  const { reason: exit } = await terminal.end
  assert.equal(exit, 'exit code 5')

  const nothing = await fixture.talk('exec', { command: '/no/such/program' })
  assert.notEqual((await nothing.end).reason, 'exit code 0')

  const attached = await fixture.talk('attach')
  await attached.says('tick')
  await started.call('DELETE', `${groups}/one`)
  await attached.end
  await until(async () => (await started.engine.list()).length === 0, 50)
  await started.settle()
})
