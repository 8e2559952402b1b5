/** Throttling by a running server (facts 9.6): whom it refuses, what it answers, and whom it does not affect. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { assertRefused, assignmentPath, bodyOf, createApplication, grant, roles } from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

const groups = 'api-version=2021-04-01'
const bodyBytesMax = 5 * 1024 * 1024

describe('throttling (facts 9.6)', { timeout: 240_000 }, () => {
  let installation: Installation
  let path: string
  before(async () => {
    // A refill so slow that none happens during the test.
    installation = await startInstallation({
      environment: {
        ARMATURE_THROTTLE_READS_BUCKET: '5',
        ARMATURE_THROTTLE_READS_REFILL: '1',
        ARMATURE_THROTTLE_WRITES_BUCKET: '3',
        ARMATURE_THROTTLE_WRITES_REFILL: '1',
        ARMATURE_THROTTLE_DELETES_BUCKET: '2',
        ARMATURE_THROTTLE_DELETES_REFILL: '1',
        ARMATURE_LIMIT_BUSINESS_BODY_BYTES_MAX: String(bodyBytesMax),
      },
    })
    path = `/subscriptions/${installation.subscriptionId}/resourceGroups/throttled`
  })
  after(() => installation[Symbol.asyncDispose]())

  /** Sends all at once, so that hardly any time passes, and returns the number of answers by status. */
  async function burst(count: number, method: string, where: string, token: string) {
    const body = method === 'PUT' ? { body: { location: 'local' } } : {}
    const answers = Array.from({ length: count }, () =>
      installation.request(method, where, { token, ...body }),
    )
    return Promise.all(answers)
  }

  const kinds: readonly [method: string, kind: string][] = [
    ['GET', 'reads'],
    ['PUT', 'writes'],
    ['DELETE', 'deletes'],
  ]
  for (const [method, kind] of kinds) {
    test(`${kind} of an application end, with 429 and Retry-After`, async () => {
      const { principalId, token } = await createApplication(installation, `throttled ${kind}`)
      const scope = `/subscriptions/${installation.subscriptionId}`
      await grant(installation, scope, roles.contributor, principalId)
      const answers = await burst(20, method, `${path}-${kind}?${groups}`, token)
      const header = `x-ms-ratelimit-remaining-subscription-${kind}`
      const refused = answers.filter((answer) => answer.status === 429)
      assert.ok(refused.length >= 10, `${refused.length} of 20`)
      assert.ok(refused.length < 20)
      for (const answer of refused) {
        assertRefused(answer, 429, 'SubscriptionRequestsThrottled')
        assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
        assert.equal(answer.headers.get(header), '0')
      }
      for (const answer of answers) {
        assert.match(answer.headers.get(header) ?? '', /^\d+$/)
        const said = [...answer.headers.keys()].filter((key) => key.includes('ratelimit'))
        assert.deepEqual(said, [header], 'one per response')
      }
    })
  }

  test('what lies in no subscription is counted for the tenant', async () => {
    const { token } = await createApplication(installation, 'throttled tenant')
    const answers = await burst(20, 'GET', '/subscriptions?api-version=2020-01-01', token)
    const refused = answers.filter((answer) => answer.status === 429)
    assert.ok(refused.length >= 10)
    for (const answer of refused) {
      assertRefused(answer, 429, 'TooManyRequests')
      assert.equal(answer.headers.get('x-ms-ratelimit-remaining-tenant-reads'), '0')
    }
  })

  test('subscriptions that do not exist have one allowance together, and take none of those that do', async () => {
    const { token } = await createApplication(installation, 'throttled unknown')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        installation.request(
          'DELETE',
          `/subscriptions/${randomUUID()}/resourceGroups/a?${groups}`,
          {
            token,
          },
        ),
      ),
    )
    const refused = answers.filter((answer) => answer.status === 429)
    assert.ok(refused.length >= 10, `${refused.length} of 20`)
    for (const answer of refused) assertRefused(answer, 429, 'TooManyRequests')
    const known = await installation.request('DELETE', `${path}-unknown?${groups}`, { token })
    assert.equal(known.status, 403)
    assert.equal(known.headers.get('x-ms-ratelimit-remaining-subscription-deletes'), '1')
  })

  test('a batch counts as what is in it; the business has codes of its own for what the edge refuses', async () => {
    const { token } = await createApplication(installation, 'throttled batch')
    const batch = {
      requests: Array.from({ length: 10 }, (_, at) => ({
        id: String(at),
        method: 'GET',
        url: 'companies',
      })),
    }
    const send = (body: unknown, headers: Record<string, string> = {}) =>
      installation.request('POST', '/api/v2.0/$batch', { token, body, headers })
    assert.equal((await send(batch)).status, 200)
    const refused = await send(batch)
    assertRefused(refused, 429, 'Request_TooManyRequests')
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    const { token: other } = await createApplication(installation, 'odd bodies')
    const odd = (body: string, type: string) =>
      installation.request('POST', '/api/v2.0/companies', {
        token: other,
        body,
        headers: { 'content-type': type },
      })
    assertRefused(await odd('x', 'text/plain'), 415, 'BadRequest_UnsupportedMediaType')
    const large = JSON.stringify('x'.repeat(bodyBytesMax))
    assertRefused(await odd(large, 'application/json'), 413, 'Request_EntityTooLarge')
  })

  test('one principal’s use is not another’s; the owner is notified, not refused', async () => {
    const answers = await burst(20, 'PUT', `${path}?${groups}`, installation.ownerToken)
    for (const answer of answers) assert.ok([200, 201].includes(answer.status), answer.text)
    const left = answers.map((one) =>
      Number(one.headers.get('x-ms-ratelimit-remaining-subscription-writes')),
    )
    assert.equal(Math.min(...left), 0)
    const { token } = await createApplication(installation, 'fresh')
    const fresh = await installation.request('GET', `${path}?${groups}`, { token })
    assert.equal(fresh.status, 403, 'not 429')
  })

  test('pages of a consent count as those of a sign-in: nobody has shown a token', async () => {
    const page = { token: null }
    const answers = await Promise.all(
      Array.from({ length: 400 }, () =>
        installation.request('GET', '/consent/login/made-up', page),
      ),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    assert.deepEqual([...statuses].sort(), [400, 429])
  })
})

test('the owner is refused too, where the operator asks for it; HSTS is said over https', async () => {
  await using installation = await startInstallation({
    environment: {
      ARMATURE_THROTTLE_READS_BUCKET: '2',
      ARMATURE_THROTTLE_READS_REFILL: '1',
      ARMATURE_THROTTLE_OWNER: 'true',
      ARMATURE_PUBLIC_URL: 'https://armature.example',
    },
  })
  const calls = Array.from({ length: 10 }, () =>
    installation.request('GET', '/subscriptions?api-version=2020-01-01'),
  )
  const answers = await Promise.all(calls)
  assert.ok(answers.some((answer) => answer.status === 429))
  for (const { headers } of answers) {
    assert.match(headers.get('strict-transport-security') ?? '', /^max-age=\d+/)
  }
  const health = await installation.request('GET', '/healthz', { token: null })
  assert.equal(health.status, 200, 'never throttled')
  const made = await installation.request('PUT', assignmentPath(''), { body: bodyOf() })
  assert.equal(made.status, 201, 'writes have a bucket of their own')
})
