/** The contract's operation 5 over HTTP, for a synchronization that really ran, and the demo that prints it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInstallation } from './installation.ts'

test('the demo runs a synchronization; its details come with the contract’s headers; errors with its body', async () => {
  await using installation = await startInstallation()
  const { subscriptionId } = installation
  const demo = await installation.cli(['demo', 'sharing', '--run'])
  assert.equal(demo.code, 0, demo.out + demo.error)
  assert.match(demo.out, /listSynchronizationDetails/)
  assert.match(demo.out, /"filesWritten": 1/)
  const base = `/subscriptions/${subscriptionId}/resourceGroups/demo/providers/Vendor.DataShare/accounts/demo-consumer/shareSubscriptions/demo`
  const version = 'api-version=2021-08-01'
  const runs = await installation.request('POST', `${base}/listSynchronizations?${version}`)
  const synchronizationId = runs.at('value.0.synchronizationId')
  const answer = await installation.request(
    'POST',
    `${base}/listSynchronizationDetails?${version}`,
    {
      body: { synchronizationId },
    },
  )
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    [
      answer.at('value.0.sizeWritten'),
      answer.at('value.0.status'),
      answer.at('value.0.dataSetType'),
    ],
    [20, 'Succeeded', 'AdlsGen2FileSystem'],
  )
  for (const header of [
    'date',
    'x-ms-request-id',
    'x-ms-correlation-request-id',
    'x-ms-ratelimit-remaining-subscription-reads',
  ]) {
    assert.ok(answer.headers.get(header), header)
  }
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  const refused = await installation.request(
    'POST',
    `${base}/listSynchronizationDetails?${version}&$filter=nothing`,
    { body: { synchronizationId } },
  )
  assert.equal(refused.status, 400)
  assert.equal(refused.at('error.code'), 'InvalidFilter')
  const begun = await installation.request('POST', `${base}/synchronize?${version}`, {
    body: { synchronizationMode: 'Incremental' },
  })
  assert.equal(begun.status, 202)
  const link = begun.headers.get('vendor-asyncoperation') ?? ''
  for (let looks = 0; looks < 200; looks++) {
    const state = await installation.request('GET', link)
    assert.equal(state.status, 200, state.text)
    if (state.at('status') === 'Succeeded') break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const shown = await installation.cli([
    'synchronization',
    'show',
    'demo',
    '-g',
    'demo',
    '-a',
    'demo-consumer',
  ])
  assert.equal(shown.code, 0, shown.error)
  assert.match(shown.out, /files +AdlsGen2FileSystem +Succeeded +0/)
  const watched = await installation.cli([
    'synchronization',
    'watch',
    'demo',
    '-g',
    'demo',
    '-a',
    'demo-consumer',
    '--json',
  ])
  assert.equal(watched.code, 0, watched.error)
})
