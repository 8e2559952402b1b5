/** Assertions of issuers that callers name, against a real key server. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { localServer, openWay } from '#outbound/testing/ways.ts'
import { until } from '../../tests/until.ts'
import { createAssertionCheck } from './assertions.ts'
import { defaultIdentityLimits } from './limits.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

test('keys of many issuers of one owner are fetched a few at a time, and another owner’s meanwhile', async () => {
  const held: (() => void)[] = []
  let isReleased = false
  await using server = await localServer((_request, response) => {
    const answer = (): unknown => response.writeHead(404).end()
    if (isReleased) answer()
    else held.push(answer)
  })
  const check = createAssertionCheck({
    clock: { now: () => Date.now() },
    log: silentLog,
    limits: { ...defaultIdentityLimits, issuerTimeoutSeconds: 60 },
    outbound: openWay,
  })
  const begin = (name: string, owner: string) => {
    const issuer = `http://127.0.0.1:${server.port}/${name}`
    const claims = { iss: issuer, sub: 's', aud: 'a', exp: Date.now() }
    const assertion = `${encode({ alg: 'RS256', kid: 'k' })}.${encode(claims)}.AAAA`
    return check(assertion, [{ issuer, subject: 's', audiences: ['a'] }], owner)
  }
  const fetchesOf = (owner: string): number =>
    server.requests.filter((one) => one.includes(`/${owner}-`)).length
  const many = Array.from({ length: 20 }, (_, at) => begin(`many-${at}`, 'many'))
  await until(() => fetchesOf('many') >= 2)
  const one = begin('one-0', 'one')
  await until(() => fetchesOf('one') === 1)
  assert.equal(fetchesOf('many'), 2)
  isReleased = true
  for (const answer of held) answer()
  for (const outcome of await Promise.allSettled([...many, one])) {
    assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'ServiceUnavailable')
  }
  assert.equal(fetchesOf('many'), 20)
})
