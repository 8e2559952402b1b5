/** Unhandled errors in a real server process: a preloaded module raises them on a signal. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../until.ts'
import { startInstallation } from './installation.ts'

const preloaded = `data:text/javascript,${encodeURIComponent(`
  process.on('SIGUSR2', () => { Promise.reject(new Error('forgotten by the test')) })
  process.on('SIGWINCH', () => { throw new Error('uncaught by the test') })
`)}`

test('a forgotten promise is logged and counted, and the server goes on; an uncaught exception ends it in order', async () => {
  await using server = await startInstallation({
    environment: { NODE_OPTIONS: `--import=${preloaded}` },
  })
  const running = join(server.home, 'running.json')
  const { pid } = JSON.parse(readFileSync(running, 'utf8'))
  const ended = new Promise<number | null>((resolve) => server.process.once('close', resolve))
  for (let count = 1; count <= 3; count++) {
    process.kill(pid, 'SIGUSR2')
    await until(async () => {
      const { text } = await server.request('GET', '/metrics', { token: null })
      return text.includes(`armature_unhandled_errors_total{kind="rejection"} ${count}`)
    })
  }
  await until(() => server.log().split('forgotten by the test').length > 3)
  const line = server
    .log()
    .split('\n')
    .find((one) => one.includes('forgotten by the test'))
  const { level, err, kind } = JSON.parse(line ?? '{}')
  assert.deepEqual([level, kind], [50, 'rejection'])
  assert.match(err.stack, /Error: forgotten by the test\n\s+at /)
  const answer = await server.request('GET', '/subscriptions?api-version=2020-01-01')
  assert.equal(answer.status, 200)

  process.kill(pid, 'SIGWINCH')
  assert.equal(await ended, 1)
  assert.match(server.log(), /Error: uncaught by the test\\n\s+at /)
  assert.match(server.log(), /Shutting down after an error/)
  assert.ok(!existsSync(running), 'it let go of what it had')
})
