/** A group's events reveal nothing of what is behind the addresses of its git volumes. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { gitRepositories } from '#engines/repositories/git-repositories.ts'
import { closedPort, localServer, watchedWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { until } from '../../../../../tests/until.ts'
import type { Repositories } from '../../dependencies.ts'
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

test('a name and password in an address are sealed: the repository is asked with them, and nobody is shown them', async (t) => {
  if (!requireOrSkip(t, hasGit(), 'git is not here; install the package git')) return
  const given = new Set<string>()
  await using server = await localServer(({ headers }, response) => {
    given.add(headers.authorization ?? '')
    response.writeHead(headers.authorization === undefined ? 401 : 403, {
      'www-authenticate': 'Basic realm="here"',
    })
    response.end()
  })
  const repositories = gitRepositories({ outbound: watchedWay({ mode: 'open' }).outbound })
  await using started = await startContainers({ repositories })
  const plain = `http://127.0.0.1:${server.port}/x`
  const withPassword = plain.replace('://', '://someone:hush-git@')
  const mounted = web('', 'web', { volumeMounts: [{ name: 'code', mountPath: '/code' }] })
  const group = body([mounted], {
    volumes: [{ name: 'code', gitRepo: { repository: withPassword, directory: '.' } }],
  })
  const made = await started.call('PUT', `${groups}/sealed`, group)
  const shown = await started.until('sealed', (one) =>
    JSON.stringify(one.properties.instanceView).includes("'code' is not available"),
  )
  assert.deepEqual(shown.properties.volumes?.[0]?.['gitRepo'], {
    repository: plain,
    directory: '.',
  })
  const expected = `Basic ${Buffer.from('someone:hush-git').toString('base64')}`
  assert.ok(given.has(expected), [...given].join())
  const profile = `${groups.replace('containerGroups', 'containerGroupProfiles')}/p`
  const kept = await started.call('PUT', profile, group)
  const rows = await started.store.sql.all('select document from resources')
  for (const seen of [made.body, shown, kept.body, rows]) {
    assert.doesNotMatch(JSON.stringify(seen), /hush-git/)
  }
  assert.match(JSON.stringify(kept.body), new RegExp(plain))
})

test('a repository is fetched no longer than its group is wanted', async () => {
  const signals: AbortSignal[] = []
  const repositories: Repositories = {
    async fetch({ signal }) {
      assert.ok(signal !== undefined)
      signals.push(signal)
      if (!signal.aborted) await once(signal, 'abort')
      throw new Error('nobody wants it')
    },
  }
  await using started = await startContainers({ repositories })
  const volumes = [{ name: 'files', gitRepo: { repository: 'https://git.example/one.git' } }]
  await started.call('PUT', `${groups}/g`, body([web()], { volumes }))
  await until(() => signals.length > 0)
  await started.call('DELETE', `${groups}/g`)
  await until(() => signals[0]?.aborted === true)
})
