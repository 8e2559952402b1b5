import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EngineError } from '../engine.ts'
import { findDocker, parseDockerHost, usualSockets } from './find-docker.ts'

test('addresses: the two forms we speak, and a refusal for the others', () => {
  assert.deepEqual(parseDockerHost('unix:///run/x.sock'), { kind: 'socket', path: '/run/x.sock' })
  assert.deepEqual(parseDockerHost('tcp://h:1'), { kind: 'tcp', host: 'h', port: 1 })
  assert.deepEqual(parseDockerHost('tcp://[::1]'), { kind: 'tcp', host: '::1', port: 2375 })
  for (const bad of ['ssh://me@host', 'unix://relative', 'https://h', '', 'tcp://']) {
    assert.throws(() => parseDockerHost(bad), EngineError)
  }
})

test('the first that answers is found, the others are named with their reasons', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'armature-find-'))
  const socket = join(folder, 'here.sock')
  const server = http.createServer((_request, response) => response.end('OK'))
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  try {
    const found = await findDocker({ sockets: [join(folder, 'nobody.sock'), socket] })
    assert.deepEqual(found.target, { kind: 'socket', path: socket })
    assert.match(found.passedOver[0]?.reason ?? '', /ENOENT/)
    // A user's own choice is never replaced by whatever else is found.
    const chosen = { dockerHost: 'unix:///no/such/socket', sockets: [socket] }
    assert.equal((await findDocker(chosen)).target, undefined)
  } finally {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true })
  }
})

test('the usual sockets begin with Docker’s own', () => {
  assert.equal(usualSockets('/run/user/1')[0], '/var/run/docker.sock')
  assert.equal(usualSockets('/run/user/1').at(-1), '/run/user/1/podman/podman.sock')
})
