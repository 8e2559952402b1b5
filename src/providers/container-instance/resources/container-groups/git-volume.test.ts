/** A git repository as a volume in a real container, fetched over http from a server of plain files. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DockerEngine } from '#engines/containers/docker/docker-engine.ts'
import { startPodman, testImage } from '#engines/containers/testing/podman.ts'
import { gitRepositories } from '#engines/repositories/git-repositories.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { done, groups } from '../../testing/ask.ts'
import { body, startContainers } from '../../testing/start.ts'

/** Throws without git. */
function makeRepository(folder: string): void {
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.net', ...words])
  git('init', '--quiet', '--initial-branch=main')
  writeFileSync(join(folder, 'page'), 'from the repository')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  git('update-server-info')
}

test('its files are in the volume; one that is not there fails the group by name', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-git-volume-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  let hasGit = true
  try {
    makeRepository(folder)
  } catch {
    hasGit = false
  }
  if (!requireOrSkip(t, hasGit, 'git is not here; install the package git')) return
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://here')
    const path = join(folder, pathname.replace('/site.git/', '/.git/'))
    const known = existsSync(path) && statSync(path).isFile()
    response.writeHead(known ? 200 : 404).end(known ? readFileSync(path) : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo
  await using started = await startContainers({
    engine: () => new DockerEngine({ target: podman.target, installation: 'git-test' }),
    repositories: gitRepositories({ outbound: openWay }),
  })
  const group = (repository: string) =>
    body(
      [
        {
          name: 'web',
          properties: {
            image: testImage,
            command: ['sh', '-c', 'cat /code/site/page'],
            resources: { requests: { cpu: 0.5, memoryInGB: 0.1 } },
            volumeMounts: [{ name: 'code', mountPath: '/code' }],
          },
        },
      ],
      { restartPolicy: 'Never', volumes: [{ name: 'code', gitRepo: { repository } }] },
    )
  const at = `http://127.0.0.1:${port}`
  await started.call('PUT', `${groups}/one`, group(`${at}/site.git`))
  const made = await started.until(
    'one',
    (one) => done(one) && one.properties.instanceView.state !== 'Running',
  )
  assert.equal(made.properties.instanceView.state, 'Succeeded', JSON.stringify(made))
  const logs = await started.call('GET', `${groups}/one/containers/web/logs`)
  assert.deepEqual(logs.body, { content: 'from the repository' })

  await started.call('PUT', `${groups}/two`, group(`${at}/none.git`))
  await started.until('two', (one) => /not available/.test(JSON.stringify(one.properties)))
  // It is retried for a while, then given up.
  started.clock.advance(300)
  const failed = await started.until('two', done)
  assert.equal(failed.properties.provisioningState, 'Failed')
  assert.match(
    JSON.stringify(failed.properties.instanceView),
    /'code' is not available.*no git repository/,
  )
  for (const name of ['one', 'two']) await started.call('DELETE', `${groups}/${name}`)
  for (let looks = 0; looks < 600 && (await started.engine.list()).length > 0; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.deepEqual(await started.engine.list(), [])
  await started.settle()
})
