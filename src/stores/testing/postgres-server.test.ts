/** The throwaway server: it answers, creates databases, and ends with the process that started it. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { requireOrSkip } from '../../../tests/require.ts'
import { findPostgres, howToGetPostgres, startPostgres } from './postgres-server.ts'

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => done(true))
    socket.once('error', () => done(false))
    socket.once('close', () => socket.destroy())
    socket.once('connect', () => socket.destroy())
  })
}

test('a server starts, makes databases of their own, and stops', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  const server = await startPostgres()
  const [one, two] = [await server.createDatabase(), await server.createDatabase()]
  assert.notEqual(one, two)
  assert.match(server.version, /^\d+/)
  assert.equal(await answers(server.port), true)
  await server.stop()
  assert.equal(await answers(server.port), false)
})

test('a server ends with a process that was killed', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  const script = `
    import { startPostgres } from ${JSON.stringify(new URL('postgres-server.ts', import.meta.url))}
    const server = await startPostgres()
    console.log(server.port)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  const port = Number(String(line))
  assert.equal(await answers(port), true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  // Limited by count, not by time: ends as soon as the server has.
  for (let tries = 0; tries < 400 && (await answers(port)); tries++) await sleep(25)
  assert.equal(await answers(port), false)
})
