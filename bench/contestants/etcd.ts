/**
 * etcd, as Debian has it: one member, who calls is checked at every request, and a write is flushed before it is
 * answered. It is asked by its JSON gateway, since the load speaks HTTP/1.1.
 */

import { spawnSync } from 'node:child_process'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { Child, type Command } from '../harness/child.ts'
import type { Requests } from '../load/job.ts'
import { resourceBody, resourceName, stampPlaceholder } from '../payload.ts'
import type { Contestant, Place } from '../scenario.ts'
import { ask } from './ask.ts'
import { getCase, mixedCase, putCase } from './peers.ts'

const owner = { name: 'root', password: 'of this run' }
const atOnce = 32
const patienceMilliseconds = 20_000

export function hasEtcd(): boolean {
  return spawnSync('etcd', ['--version']).status === 0
}

function commandOf({ folder, port, origin }: Place): Command {
  // One member: nobody else is told its address.
  const peer = 'http://127.0.0.1:0'
  return {
    command: [
      'etcd',
      ...['--data-dir', join(folder, 'etcd'), '--log-level', 'error'],
      ...['--listen-client-urls', `http://127.0.0.1:${port}`, '--advertise-client-urls', origin],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', `default=${peer}`],
    ],
  }
}

async function call(place: Place, path: string, body: object, more?: Calling): Promise<string> {
  const { status, body: text } = await ask(`${place.origin}/v3/${path}`, {
    method: 'POST',
    headers: more?.headers ?? {},
    body: JSON.stringify(body),
    ...(more?.agent && { agent: more.agent }),
  })
  if (status !== 200) throw new Error(`etcd answered ${status} to ${path}: ${text}`)
  return text
}

interface Calling {
  readonly headers?: Readonly<Record<string, string>>
  readonly agent?: Agent
}

async function headersOf(place: Place): Promise<Readonly<Record<string, string>>> {
  const { name, password } = owner
  const { token } = JSON.parse(await call(place, 'auth/authenticate', { name, password }))
  return { authorization: String(token) }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The stamp stands in the text that is sent: twelve digits are valid there, and other bytes each time. */
function putOf(name: string): string {
  const value = base64(resourceBody('local'))
  const at = 24
  const stamped = value.slice(0, at) + stampPlaceholder + value.slice(at + stampPlaceholder.length)
  return JSON.stringify({ key: base64(name), value: stamped })
}

async function waitFor(place: Place, child: Child): Promise<void> {
  const latest = performance.now() + patienceMilliseconds
  while (!(await answersHealth(place))) {
    child.assertRunning()
    if (performance.now() > latest) throw new Error('etcd gave no answer')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function answersHealth({ origin }: Place): Promise<boolean> {
  try {
    return (await ask(`${origin}/health`)).status === 200
  } catch {
    // Nothing listens yet.
    return false
  }
}

/** Makes the owner, turns authentication on and puts `count` values. */
async function fill(place: Place, names: readonly string[]): Promise<void> {
  await using child = new Child(commandOf(place))
  await waitFor(place, child)
  await call(place, 'auth/user/add', owner)
  await call(place, 'auth/role/add', { name: 'root' })
  await call(place, 'auth/user/grant', { user: 'root', role: 'root' })
  await call(place, 'auth/enable', {})
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const headers = await headersOf(place)
  const value = base64(resourceBody('local'))
  for (let at = 0; at < names.length; at += atOnce) {
    const some = names.slice(at, at + atOnce)
    await Promise.all(
      some.map((name) => call(place, 'kv/put', { key: base64(name), value }, { headers, agent })),
    )
  }
  agent.destroy()
}

export function etcd(count: number): Contestant {
  const names = Array.from({ length: count }, (_, index) => resourceName(index))
  return {
    name: 'etcd',
    note:
      'one member of Debian, its defaults, log silent; by its JSON gateway (gRPC would cost it less); a token is checked, every ' +
      'request; a write is flushed before it is answered, with no record of who wrote; keeps bytes and looks into none',
    prepare: (place) => fill(place, names),
    command: commandOf,
    ask: answersHealth,
    async requests(place) {
      const headers = await headersOf(place)
      const to = (path: string, bodies: readonly string[]): Requests => ({
        method: 'POST',
        paths: names.map(() => path),
        bodies,
        headers,
        expects: 200,
      })
      const get = to(
        '/v3/kv/range',
        names.map((name) => JSON.stringify({ key: base64(name) })),
      )
      const put = to('/v3/kv/put', names.map(putOf))
      return { [getCase]: get, [putCase]: put, [mixedCase]: { ...put, half: get } }
    },
  }
}
