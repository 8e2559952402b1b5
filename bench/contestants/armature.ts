/**
 * Armature itself, started as a user starts it, on SQLite, with a token and the checks of every request. Its data
 * is written through the store's own port, as if clients had made as many writes.
 */

import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child, type Command } from '../harness/child.ts'
import type { Requests } from '../load/job.ts'
import { apiVersion, resourceBody, resourceName, resourcePath } from '../payload.ts'
import type { Contestant, Place } from '../scenario.ts'
import { ask } from './ask.ts'
import { fillHome } from './fill-home.ts'
import { installPackage } from './install-package.ts'
import { getCase, mixedCase, putCase } from './peers.ts'

const launcher = fileURLToPath(new URL('../../bin/armature.mjs', import.meta.url))
const patienceMilliseconds = 60_000
const durable =
  'token checked, caller authorized, every request; a write is on the disk (SQLite, flushed) with its ' +
  'line of the audit trail before it is answered'

export const firstPageCase = 'first page of 100'
export const anyPageCase = 'page of 100 anywhere'
const pageSize = 100
/** Pages to start at, spread evenly over the list. */
const startsWanted = 1_000
/** Resources asked for by id, spread evenly: the load generator keeps the bytes of each request. */
const idsWanted = 50_000

/** What a client of a started home needs. */
export interface Access {
  readonly tenantId: string
  readonly subscriptionId: string
  readonly headers: Readonly<Record<string, string>>
}

export function commandOf({ folder, port }: Place, program = launcher): Command {
  return {
    // As `npm start` and the image run it.
    command: [
      process.execPath,
      '--min-semi-space-size=4',
      '--max-semi-space-size=8',
      program,
      'serve',
    ],
    environment: {
      ARMATURE_HOME: homeOf(folder),
      ARMATURE_PORT: String(port),
      ARMATURE_LOG_LEVEL: 'warn',
    },
    folder,
  }
}

export function homeOf(folder: string): string {
  return join(folder, 'home')
}

/** Throws while the server is not ready. */
async function access({ folder, origin }: Place): Promise<Access> {
  const running = readTexts(join(homeOf(folder), 'running.json'))
  const owner = readTexts(join(homeOf(folder), 'owner.json'))
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: owner['clientId'] ?? '',
    client_secret: owner['clientSecret'] ?? '',
    scope: '.default',
  })
  const { status, body } = await ask(`${origin}/common/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  })
  if (status !== 200) throw new Error(`no token: ${status} ${body}`)
  const token = String(JSON.parse(body).access_token)
  return {
    tenantId: running['tenantId'] ?? '',
    subscriptionId: running['subscriptionId'] ?? '',
    headers: { authorization: `Bearer ${token}` },
  }
}

/** The server's own files: objects of texts, as far as they are read here. */
function readTexts(path: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** Creates the home by a first start and one group by a request, then fills it up to `count` groups. */
export async function makeHome(place: Place, count: number, store?: string): Promise<Access> {
  const command = commandOf(place)
  const environment = { ...command.environment, ...(store && { ARMATURE_STORE: store }) }
  await using child = new Child({ ...command, environment })
  const opened = await waitForAccess(place, child)
  const name = resourceName(0)
  const path = resourcePath(opened.subscriptionId, name)
  const { status, body } = await ask(`${place.origin}${path}`, {
    method: 'PUT',
    headers: { ...opened.headers, 'content-type': 'application/json' },
    body: resourceBody('local'),
  })
  if (status !== 201) throw new Error(`the first group was not created: ${status} ${body}`)
  await child.stop()
  await fillHome({
    database: store ?? join(homeOf(place.folder), 'armature.db'),
    key: new URL(path, place.origin).pathname.toLowerCase(),
    nameOf: resourceName,
    count,
  })
  return opened
}

/** Waits until the server issues a token. Throws if it ends or takes too long. */
export async function waitForAccess(place: Place, child: Child): Promise<Access> {
  const latest = performance.now() + patienceMilliseconds
  for (;;) {
    child.assertRunning()
    try {
      return await access(place)
    } catch (error) {
      // It is not there yet. When the time is up, the reason is worth knowing.
      if (performance.now() > latest) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

async function answersGroup(place: Place, { subscriptionId, headers }: Access): Promise<boolean> {
  const path = resourcePath(subscriptionId, resourceName(0))
  return (await ask(`${place.origin}${path}`, { headers })).status === 200
}

/** The token is kept across restarts, as a client's is. */
function needed(opened: Access | undefined): Access {
  if (opened === undefined) throw new Error('the home was not prepared')
  return opened
}

/** GET by id and the first page, among `count` resources, of which so many are asked for, spread evenly. */
export function requestsOf(
  opened: Access | undefined,
  count: number,
  asked = count,
): Readonly<Record<typeof getCase | typeof putCase | typeof firstPageCase, Requests>> {
  const { subscriptionId, headers } = needed(opened)
  const length = Math.min(asked, count)
  const paths = Array.from({ length }, (_, index) =>
    resourcePath(subscriptionId, resourceName(Math.floor((index * count) / length))),
  )
  const body = resourceBody('local')
  const page = `/subscriptions/${subscriptionId}/resourcegroups?api-version=${apiVersion}&$top=${pageSize}`
  return {
    [getCase]: { method: 'GET', paths, headers, expects: 200 },
    [putCase]: { method: 'PUT', paths, headers, body, expects: 200 },
    [firstPageCase]: { method: 'GET', paths: [page], headers, expects: 200 },
  }
}

/** A server whose home exists, and a client that has its token. */
export function armatureAt(access: Access): Pick<Contestant, 'name' | 'note' | 'ask'> {
  return { name: 'Armature', note: durable, ask: (place) => answersGroup(place, access) }
}

/** One resource by its id, among `count`. */
export function armature(count: number): Contestant {
  let opened: Access | undefined
  return {
    name: 'Armature',
    note: durable,
    async prepare(place) {
      opened = await makeHome(place, count)
    },
    command: commandOf,
    ask: (place) => answersGroup(place, needed(opened)),
    async requests() {
      const { [getCase]: get, [putCase]: put } = requestsOf(opened, count)
      return { [getCase]: get, [putCase]: put, [mixedCase]: { ...put, half: get } }
    },
  }
}

/** A first start: the home is created, a token is requested, and a resource is read with it. */
export function coldArmature(): Contestant {
  return {
    ...installed(),
    name: 'Armature, first start',
    note: 'makes the store, the keys, the owner; the answer is to a token request and a GET with the token',
    reset: ({ folder }) => rm(homeOf(folder), { recursive: true, force: true }),
    async ask(place) {
      const { subscriptionId, headers } = await access(place)
      const path = `/subscriptions/${subscriptionId}?api-version=2020-01-01`
      return (await ask(`${place.origin}${path}`, { headers })).status === 200
    },
  }
}

/** A later start, called by a client that still has its token. */
export function warmArmature(): Contestant {
  const whole = armature(1)
  const { prepare, command } = installed()
  return {
    ...whole,
    name: 'Armature, later start',
    note: `${durable}; a GET with a token`,
    async prepare(place) {
      await prepare(place)
      await whole.prepare?.(place)
    },
    command,
  }
}

/** The published package, installed: what a user's start reads. */
function installed(): Required<Pick<Contestant, 'prepare' | 'command'>> {
  let program: string | undefined
  return {
    async prepare({ folder }) {
      program = installPackage(join(folder, 'installed'))
    },
    command: (place) => commandOf(place, program),
  }
}

/** One of `count` groups by its id, and pages of their list. */
export function armatureAmong(name: string, count: number, rowMegabytes = 32): Contestant {
  let opened: Access | undefined
  return {
    ...armature(count),
    name,
    note: `${durable}; ${rowMegabytes} MB of rows in memory`,
    command(place) {
      const { environment, ...command } = commandOf(place)
      return {
        ...command,
        environment: { ...environment, ARMATURE_STORE_ROWS: String(rowMegabytes) },
      }
    },
    async prepare(place) {
      opened = await makeHome(place, count)
    },
    ask: (place) => answersGroup(place, needed(opened)),
    async requests(place): Promise<Readonly<Record<string, Requests>>> {
      const { subscriptionId, headers } = needed(opened)
      const list = `/subscriptions/${subscriptionId}/resourcegroups?api-version=${apiVersion}`
      const first = `${list}&$top=${pageSize}`
      const starts = await walk(place, headers, list, Math.max(1, Math.floor(count / startsWanted)))
      // The last pages are shorter than the others.
      const whole = starts.slice(0, Math.floor(starts.length * ((count - pageSize) / count)))
      const paths = whole.map((token) => `${first}&$skipToken=${encodeURIComponent(token)}`)
      const { [getCase]: get, [putCase]: put } = requestsOf(opened, count, idsWanted)
      return {
        [getCase]: get,
        [putCase]: put,
        [firstPageCase]: { method: 'GET', paths: [first], headers, expects: 200 },
        [anyPageCase]: { method: 'GET', paths, headers, expects: 200 },
      }
    },
  }
}

/** The continuation tokens of a walk through the whole list, `size` resources at a time. */
async function walk(
  place: Place,
  headers: Access['headers'],
  list: string,
  size: number,
): Promise<readonly string[]> {
  const tokens: string[] = []
  let url: string | undefined = `${place.origin}${list}&$top=${size}`
  while (url !== undefined) {
    const { status, body } = await ask(url, { headers })
    if (status !== 200) throw new Error(`the list cannot be walked: ${status} ${body}`)
    const next: unknown = JSON.parse(body).nextLink
    url = typeof next === 'string' ? next : undefined
    const token = url === undefined ? null : new URL(url).searchParams.get('$skipToken')
    if (token !== null) tokens.push(token)
  }
  return tokens
}
