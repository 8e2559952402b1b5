/** The stream of changes: who is told what, on two replicas as on one, and when it ends. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createApplication, createResourceGroup, grant, revoke, roles } from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

interface Listening extends AsyncDisposable {
  /** Resolves when a listener was told of the id. */
  heard(id: string): Promise<void>
  readonly ids: ReadonlySet<string>
  /** Resolves when the server, and not the listener, has ended it. */
  readonly ended: Promise<void>
}

async function listen({ url }: Installation, token: string): Promise<Listening> {
  const controller = new AbortController()
  const answer = await fetch(`${url}/_armature/changes`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.ok(answer.body)
  const ids = new Set<string>()
  let begun: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    begun = resolve
  })
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      if (text.includes('event: ready')) begun()
      for (const [, data = '{}'] of text.matchAll(/event: changed\ndata: (.*)\n\n/g)) {
        for (const id of JSON.parse(data).ids) ids.add(id)
      }
    }
  }
  // A cut connection is an end, too.
  const ended = read(answer.body).catch(() => undefined)
  await ready
  return {
    ids,
    ended,
    async heard(id) {
      await until(() => ids.has(id.toLowerCase()))
    },
    async [Symbol.asyncDispose]() {
      controller.abort()
      await ended
    },
  }
}

/** Writes at the first replica, and listens at the second. */
async function tellsByRights(first: Installation, second: Installation): Promise<void> {
  const group = (name: string) =>
    `/subscriptions/${first.subscriptionId}/resourceGroups/${name}-${first.process.pid}`
  for (const name of ['mine', 'other']) await createResourceGroup(first, group(name))
  const reader = await createApplication(first, 'reader')
  const given = await grant(first, group('mine'), roles.reader, reader.principalId)
  const everything = await listen(second, first.ownerToken)
  const part = await listen(second, reader.token)
  const write = async (name: string, tag: string): Promise<void> => {
    const body = { location: 'local', tags: { tag } }
    const path = `${group(name)}?api-version=2021-04-01`
    assert.equal((await first.request('PUT', path, { body })).status, 200)
  }
  await write('other', 'first')
  await write('mine', 'first')
  await everything.heard(group('other'))
  await part.heard(group('mine'))
  assert.ok(!part.ids.has(group('other').toLowerCase()), 'told of what it may not read')

  await revoke(first, given)
  const before = part.ids.size
  await write('mine', 'second')
  const marker = `${group('mine')}/providers/Vendor.ManagedIdentity/userAssignedIdentities/marker`
  const made = await first.request('PUT', `${marker}?api-version=2023-01-31`, {
    body: { location: 'local' },
  })
  assert.equal(made.status, 201, made.text)
  await everything.heard(marker)
  assert.equal(part.ids.size, before, 'told of what it may no longer read')

  const revoked = await first.request(
    'POST',
    `/directory/servicePrincipals/${reader.principalId}/revoke`,
  )
  assert.equal(revoked.status, 204, revoked.text)
  await part.ended
  await everything[Symbol.asyncDispose]()
}

test('one is notified of what one may read, while one may, until the token is revoked', async () => {
  await using one = await startInstallation()
  await tellsByRights(one, one)
  const held = await Promise.all(Array.from({ length: 10 }, () => listen(one, one.ownerToken)))
  const eleventh = await one.request('GET', '/_armature/changes')
  assert.equal(`${eleventh.status} ${eleventh.at('error.code')}`, '503 ServiceUnavailable')
  // A stop does not wait for listeners.
  assert.equal(await one.stop(), 0)
  await Promise.all(held.map(({ ended }) => ended))
})

test('what is written at one replica is sent by the other', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const store = await server.createDatabase()
  const environment = { ARMATURE_PUBLIC_URL: 'http://plane.example' }
  await using first = await startInstallation({ store, environment })
  const key = readFileSync(join(first.home, 'installation.key'), 'utf8')
  await using second = await startInstallation({ store, key, environment })
  await tellsByRights(first, second)
})
