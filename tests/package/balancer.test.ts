/**
 * `deploy/haproxy.cfg` in HAProxy: requests go to both replicas in turn, but a stream goes to the replica that answered its
 * `exec`. The replicas are servers that only give their name.
 */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'

const config = join(import.meta.dirname, '../../deploy/haproxy.cfg')

test('requests take turns, and a stream goes where its exec went', async (t) => {
  const isThere = spawnSync('haproxy', ['-v']).status === 0
  if (!requireOrSkip(t, isThere, 'haproxy: `apt-get install haproxy`')) return
  await using opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'armature-balancer-'))
  opened.defer(() => rmSync(folder, { recursive: true }))
  const listen = async (name: string): Promise<number> => {
    const server = createServer((_, res) => res.end(name)).listen(0, '127.0.0.1')
    opened.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise((resolve) => server.once('listening', resolve))
    return (server.address() as AddressInfo).port
  }
  const [one, two] = [await listen('one'), await listen('two')]
  const port = 10_000 + (process.pid % 10_000)
  const text = readFileSync(config, 'utf8')
    .replaceAll('replica-1:8080', `127.0.0.1:${one}`)
    .replaceAll('replica-2:8080', `127.0.0.1:${two}`)
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, text)
  const balancer = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  const ended = new Promise((resolve) => balancer.once('close', resolve))
  opened.defer(async () => {
    balancer.kill()
    await ended
  })
  const answeredBy = async (path: string, method = 'GET'): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method })).text()
  await until(
    () =>
      answeredBy('/readyz').then(
        (name) => name === 'one' || name === 'two',
        () => false,
      ),
    100,
  )
  const namesOf = async (paths: readonly string[], method?: string): Promise<readonly string[]> => {
    const names = new Set<string>()
    for (const path of paths) names.add(await answeredBy(path, method))
    return [...names].sort()
  }
  const four = (path: string): readonly string[] => Array(4).fill(path)
  assert.deepEqual(await namesOf(four('/subscriptions?api-version=2022-12-01')), ['one', 'two'])
  const container =
    '/subscriptions/s/resourceGroups/g/providers/Vendor.ContainerInstance/containerGroups/w/containers/c'
  const stream = await namesOf(four('/streams/abc'))
  assert.equal(stream.length, 1, stream.join())
  for (const action of ['exec', 'attach', 'Exec']) {
    const path = `${container}/${action}?api-version=2023-05-01`
    assert.deepEqual(await namesOf(four(path), 'POST'), stream, action)
  }
})
