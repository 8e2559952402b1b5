/** Groups on a network that the operator created: they are only on that one, and reach what it allows. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { requireOrSkip } from '../../../../tests/require.ts'
import { startPodman, webGroup } from '../testing/podman.ts'
import { DockerEngine } from './docker-engine.ts'

const spec = webGroup(['httpd', '-f', '-p', '80', '-h', '/etc'])

test('a group on an internal network reaches nothing outside of it', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  const { target } = podman
  const name = `inside-${process.pid}`
  await podman.podman('network', 'create', '--internal', '--label', 'of-a-test=yes', name)
  await using usual = new DockerEngine({ target, installation: 'usual' })
  await using inside = new DockerEngine({ target, installation: 'inside', network: name })
  const lost = { target, installation: 'inside', network: `no-${name}` }
  await using elsewhere = new DockerEngine(lost)
  try {
    const addresses: string[] = []
    for (const engine of [usual, inside]) {
      await engine.create('net', spec)
      await engine.start('net', spec, ['web'])
      addresses.push((await engine.observe('net')).address ?? '')
    }
    const fetches = async (address: string | undefined): Promise<number | undefined> => {
      const command = ['wget', '-q', '-O', '-', `http://${address}/hostname`]
      await using session = await inside.exec('net', 'web', { command })
      for await (const _ of session.output);
      return await session.exitCode()
    }
    const until = async (address: string | undefined): Promise<void> => {
      // A container runs before its program listens.
      for (let attempt = 0; attempt < 50 && (await fetches(address)) !== 0; attempt++)
        await sleep(50)
    }
    const [outside, own] = addresses
    await until(own)
    assert.equal(await fetches(own), 0, 'it reaches itself')
    assert.notEqual(await fetches(outside), 0, 'it does not reach a group on the usual network')
    await assert.rejects(elsewhere.create('other', spec), { name: 'EngineError' })
  } finally {
    await inside.remove('other')
    for (const engine of [usual, inside]) await engine.remove('net')
    await podman.podman('network', 'rm', '-f', name)
  }
})
