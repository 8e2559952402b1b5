/** A group's events reveal nothing of what is behind the addresses of its git volumes. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { gitRepositories } from '#engines/repositories/git-repositories.ts'
import { closedPort, localServer, watchedWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { groups } from '../../testing/ask.ts'
import { body, startContainers, web } from '../../testing/start.ts'

const secret = 'the body of an inner service'

function hasGit(): boolean {
  try {
    execFileSync('git', ['--version'])
    return true
  } catch {
    return false
  }
}

test('events hold no answer of an inner service, and tell no open port from a closed one', async (t) => {
  if (!requireOrSkip(t, hasGit(), 'git is not here; install the package git')) return
  await using server = await localServer((_, response) => {
    response.writeHead(403, { 'content-type': 'text/plain' }).end(secret)
  })
  const told: string[] = []
  for (const mode of ['open', 'guarded'] as const) {
    const { outbound } = watchedWay({ mode })
    await using started = await startContainers({ repositories: gitRepositories({ outbound }) })
    for (const [name, port] of [
      ['open', server.port],
      ['closed', await closedPort()],
    ] as const) {
      const gitRepo = { repository: `http://127.0.0.1:${port}/x`, directory: '.' }
      const mounted = web('', 'web', { volumeMounts: [{ name: 'code', mountPath: '/code' }] })
      const group = body([mounted], { volumes: [{ name: 'code', gitRepo }] })
      await started.call('PUT', `${groups}/${name}`, group)
      const shown = await started.until(name, (one) =>
        JSON.stringify(one.properties.instanceView).includes("'code' is not available"),
      )
      const view = JSON.stringify(shown.properties.instanceView)
      assert.ok(!view.includes(secret), view)
      const messages = shown.properties.instanceView.events.map(({ message }) => message)
      told.push(messages.join().replaceAll(String(port), 'PORT'))
    }
    if (mode === 'guarded') assert.deepEqual(server.requests, [], 'nothing more is asked')
    else server.requests.length = 0
  }
  assert.equal(told[0], told[1])
  assert.equal(told[2], told[3])
})
