/**
 * Programs that an exec started end with its session. If the image has no means for that, they count against the
 * limit.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { requireOrSkip } from '../../../../tests/require.ts'
import { startPodman, webGroup } from '../testing/podman.ts'
import { DockerEngine } from './docker-engine.ts'

const busybox = '/bin/busybox'

test('a command ends with its session, and so does what it began', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  const installation = `executions-${process.pid}`
  await using engine = new DockerEngine({ target: podman.target, installation })
  const spec = webGroup(['sleep', '3600'])
  await using cleaning = new AsyncDisposableStack()
  cleaning.defer(() => engine.remove('one'))
  await engine.create('one', spec)
  await engine.start('one', spec, ['web'])
  const container = `armature_${installation}_one_part_web`
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
    while (/7777|while/.test(await running())) await sleep(50)
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
    for (let count = 0; count < 20; count++) await letGo()
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
  await letGo()
})
