/** Assertions of issuers that callers name, against a real key server. */

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { localServer, openWay } from '#outbound/testing/ways.ts'
import { until } from '../../tests/until.ts'
import { createAssertionCheck } from './assertions.ts'
import { defaultIdentityLimits, type IdentityLimits } from './limits.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key = { ...publicKey.export({ format: 'jwk' }), kid: 'k' }

/** A server that answers nothing until it is released, and assertions of issuers there. Those called `known-` have a key. */
async function openChecks(limits: Partial<IdentityLimits> = {}) {
  const held: (() => void)[] = []
  let isReleased = false
  const server = await localServer((request, response) => {
    const [, name = '', document] = request.url?.split('/') ?? []
    const issuer = `http://127.0.0.1:${server.port}/${name}`
    const found = document === 'keys' ? { keys: [key] } : { issuer, jwks_uri: `${issuer}/keys` }
    const answer = (): unknown =>
      name.startsWith('known-')
        ? response.end(JSON.stringify(found))
        : response.writeHead(404).end()
    if (isReleased) answer()
    else held.push(answer)
  })
  const check = createAssertionCheck({
    clock: { now: () => Date.now() },
    log: silentLog,
    limits: {
      ...defaultIdentityLimits,
      issuerTimeoutSeconds: 60,
      issuerWaitSeconds: 60,
      ...limits,
    },
    outbound: openWay,
    keys: { published: async () => [] },
  })
  return {
    begin(name: string, owner: string) {
      const issuer = `http://127.0.0.1:${server.port}/${name}`
      const claims = { iss: issuer, sub: 's', aud: 'a', exp: Date.now() }
      const assertion = `${encode({ alg: 'RS256', kid: 'k' })}.${encode(claims)}.AAAA`
      return check(assertion, [{ issuer, subject: 's', audiences: ['a'] }], owner)
    },
    fetchesOf: (owner: string): number =>
      server.requests.filter((one) => one.includes(`/${owner}-`)).length,
    release() {
      isReleased = true
      for (const answer of held) answer()
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function allUnavailable(checks: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(checks)) {
    assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'ServiceUnavailable')
  }
}

test('keys of many issuers of one owner are fetched a few at a time, and another owner’s meanwhile', async () => {
  await using checks = await openChecks()
  const { begin, fetchesOf } = checks
  const many = Array.from({ length: 20 }, (_, at) => begin(`many-${at}`, 'many'))
  await until(() => fetchesOf('many') >= 2)
  const one = begin('one-0', 'one')
  await until(() => fetchesOf('one') === 1)
  assert.equal(fetchesOf('many'), 2)
  checks.release()
  await allUnavailable([...many, one])
  assert.equal(fetchesOf('many'), 20)
})

test('keys that an owner with many issuers waits for are fetched for whoever else wants them', async () => {
  await using checks = await openChecks()
  const { begin, fetchesOf } = checks
  const many = Array.from({ length: 20 }, (_, at) => begin(`many-${at}`, 'many'))
  await until(() => fetchesOf('many') === 2)
  const waiting = begin('shared-0', 'many')
  const others = [begin('shared-0', 'one'), begin('shared-0', 'another')]
  await until(() => fetchesOf('shared') === 1)
  assert.equal(fetchesOf('many'), 2)
  checks.release()
  await allUnavailable([...many, waiting, ...others])
  assert.equal(fetchesOf('shared'), 1)
})

test('all resource groups of a subscription leave places to another one', async () => {
  await using checks = await openChecks()
  const { begin, fetchesOf } = checks
  const many = Array.from({ length: 20 }, (_, at) =>
    begin(`many-${at}`, `/subscriptions/many/resourcegroups/${at}`),
  )
  await until(() => fetchesOf('many') >= 6)
  const one = begin('one-0', '/subscriptions/one/resourcegroups/one')
  await until(() => fetchesOf('one') === 1)
  assert.equal(fetchesOf('many'), 6)
  checks.release()
  await allUnavailable([...many, one])
  assert.equal(fetchesOf('many'), 20)
})

test('whoever waits for a place for too long waits no more, and leaves nothing', async () => {
  await using checks = await openChecks({ issuerWaitSeconds: 0.01 })
  const { begin, fetchesOf } = checks
  const first = [begin('many-0', 'many'), begin('many-1', 'many')]
  await until(() => fetchesOf('many') === 2)
  await allUnavailable([begin('many-2', 'many')])
  checks.release()
  await allUnavailable(first)
  assert.equal(fetchesOf('many'), 2)
})

test('any number of issuers of a subscription have no keys of another one forgotten', async () => {
  await using checks = await openChecks()
  const { begin, fetchesOf } = checks
  checks.release()
  const one = (name: string) => begin(`known-${name}`, `/subscriptions/${name}/resourcegroups/a`)
  const flood = async (prefix: string) => {
    for (let at = 0; at < 150; at++) {
      const owner = `/subscriptions/many/resourcegroups/${at}`
      await Promise.allSettled([begin(`${prefix}-${at}`, owner)])
    }
  }
  assert.equal(await one('one'), 'its signature is wrong')
  assert.equal(fetchesOf('known'), 2)
  await begin('known-one', '/subscriptions/many/resourcegroups/a')
  await flood('many')
  assert.equal(await one('one'), 'its signature is wrong')
  assert.equal(fetchesOf('known'), 2)
  // Both name this one, and the one with many came last.
  await begin('known-one', '/subscriptions/many/resourcegroups/a')
  await flood('more')
  assert.equal(await one('one'), 'its signature is wrong')
  assert.equal(fetchesOf('known'), 2)
  // Nor by issuers whose keys are there.
  await flood('known-many')
  const before = fetchesOf('known')
  assert.equal(await one('one'), 'its signature is wrong')
  assert.equal(fetchesOf('known'), before)
})

test('any number of issuers of a resource group have no keys of another one forgotten', async () => {
  await using checks = await openChecks()
  const { begin, fetchesOf } = checks
  checks.release()
  const one = () => begin('known-one', '/subscriptions/s/resourcegroups/one')
  await one()
  for (let at = 0; at < 150; at++) {
    await Promise.allSettled([begin(`many-${at}`, '/subscriptions/s/resourcegroups/many')])
  }
  await one()
  assert.equal(fetchesOf('known'), 2)
})

test('of the issuers of a subscription those that were used last are remembered', async () => {
  await using checks = await openChecks()
  const { begin, fetchesOf } = checks
  checks.release()
  const own = (at: number) => begin(`known-${at}`, '/subscriptions/one/resourcegroups/a')
  for (let at = 0; at < 101; at++) {
    await own(at)
    await own(3)
  }
  assert.equal(fetchesOf('known'), 202)
  await Promise.all([own(3), own(2), own(100)])
  assert.equal(fetchesOf('known'), 202)
  await own(0)
  assert.equal(fetchesOf('known'), 204)
})

test('whoever has few issuers keeps those that many others name, too', async () => {
  await using checks = await openChecks()
  const { begin, fetchesOf } = checks
  checks.release()
  const one = () => begin('known-one', '/subscriptions/one/resourcegroups/a')
  const all = async (name: string) => {
    for (let at = 0; at < 8; at++) {
      await Promise.allSettled([begin(name, `/subscriptions/many-${at}/resourcegroups/a`)])
    }
  }
  await one()
  await all('known-one')
  for (let at = 0; at < 100; at++) await all(`many-${at}`)
  await Promise.allSettled([begin('two-0', '/subscriptions/two/resourcegroups/a')])
  await one()
  assert.equal(fetchesOf('known'), 2)
})
