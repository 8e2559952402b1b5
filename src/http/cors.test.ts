/** What pages of other origins may do, and what command lines are told of the installation as a cloud. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEdge } from './testing/start.ts'

const path = '/subscriptions?api-version=2022-12-01'
const origin = 'https://portal.example'

test('without the setting no origin is let in', async () => {
  await using edge = await startEdge()
  for (const method of ['GET', 'OPTIONS']) {
    const headers = { origin, 'access-control-request-method': 'PUT' }
    const answer = await edge.fetch(path, { method, headers })
    assert.equal(answer.headers.get('access-control-allow-origin'), null)
    assert.equal(answer.headers.get('access-control-allow-methods'), null)
  }
})

test('a page of a configured origin may ask, and read headers and refusals', async () => {
  await using edge = await startEdge({ options: { corsOrigins: [origin] } })
  const preflight = await edge.fetch(path, {
    method: 'OPTIONS',
    as: '',
    headers: {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,content-type',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /\bPUT\b/)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'authorization,content-type')
  const refused = await edge.fetch(path, { as: '', headers: { origin } })
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('access-control-allow-origin'), origin)
  assert.equal(refused.headers.get('vary'), 'Origin')
  assert.match(refused.headers.get('access-control-expose-headers') ?? '', /AsyncOperation, ETag/)
  assert.equal(refused.headers.get('access-control-allow-credentials'), null)
  for (const other of ['https://portal.example.evil', 'https://portal.example:8443', 'null']) {
    const answer = await edge.fetch(path, { headers: { origin: other } })
    assert.equal(answer.headers.get('access-control-allow-origin'), null, other)
    assert.equal(answer.headers.get('vary'), 'Origin')
  }
})

test('a command line learns where things are, in the form of its version', async () => {
  await using edge = await startEdge()
  const ask = async (version: string) => {
    const answer = await edge.fetch(`/metadata/endpoints${version}`, { as: '' })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const { url } = edge
  assert.deepEqual((await ask('?api-version=2015-01-01')).body, {
    galleryEndpoint: '',
    graphEndpoint: url,
    portalEndpoint: url,
    authentication: { loginEndpoint: `${url}/adfs`, audiences: [url] },
  })
  const one = (await ask('?api-version=2022-09-01')).body
  assert.equal(one['resourceManager'], url)
  // What the newest command lines ask for names of people, and Terraform, too.
  assert.equal(one['microsoftGraphResourceId'], url)
  assert.deepEqual((await ask('?api-version=2019-05-01')).body, [one])
  assert.equal((await ask('')).status, 400)
  assert.equal((await ask('?api-version=newest')).status, 400)
})
