/** An installation fails on purpose: requests, bodies, steps and the store, as its owner says, and no longer. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../until.ts'
import { createApplication, createResourceGroup } from './access.ts'
import { startInstallation } from './installation.ts'

const environment = {
  ARMATURE_CONTROL: 'local',
  ARMATURE_CLOCK: 'manual',
  ARMATURE_CONTAINERS: 'simulated',
}

test('requests, steps and the store fail by rules, and are well again without them', async () => {
  await using server = await startInstallation({ environment })
  const group = `/subscriptions/${server.subscriptionId}/resourceGroups/one`
  await createResourceGroup(server, group)
  const list = `/subscriptions/${server.subscriptionId}/resourceGroups?api-version=2021-04-01`
  const add = async (...words: readonly string[]): Promise<void> => {
    const ran = await server.cli(['fault', 'add', ...words])
    assert.equal(ran.code, 0, ran.error)
  }
  const clear = async (): Promise<void> => {
    assert.equal((await server.cli(['fault', 'clear'])).code, 0)
  }

  await add(
    '--status',
    '429',
    '--retry-after',
    '7',
    '--count',
    '1',
    '--type',
    'Resources/resourceGroups',
  )
  const throttled = await server.request('GET', list)
  assert.equal(throttled.status, 429, throttled.text)
  assert.equal(throttled.headers.get('retry-after'), '7')
  assert.equal(throttled.at('error.code'), 'TooManyRequests')
  assert.equal((await server.request('GET', list)).status, 200)
  const listed = await server.cli(['fault', 'list', '--json'])
  assert.match(listed.out, /"met": 1/)
  await clear()

  const health = `/subscriptions/${server.subscriptionId}/providers/Vendor.ResourceHealth/events?api-version=2024-02-01`
  await add('--status', '503', '--path', '*', '--count', '1')
  const flat = await server.request('GET', health)
  assert.equal(flat.status, 503, flat.text)
  assert.equal(flat.at('code'), 'ServiceUnavailable', 'the body is of the family of the area')
  await clear()

  await add('--cut', '--count', '1')
  await assert.rejects(server.request('GET', list))
  assert.equal((await server.request('GET', list)).status, 200)
  await clear()

  const other = await createApplication(server, 'other')
  await add('--refuse-token', '--principal', other.principalId)
  assert.equal((await server.request('GET', list, { token: other.token })).status, 401)
  assert.equal((await server.request('GET', list)).status, 200)
  await clear()

  const half = { 'x-armature-fault': 'status=400.5' }
  assert.equal((await server.request('GET', list, { headers: half })).status, 400)
  const own = await server.request('GET', list, { headers: { 'x-armature-fault': 'status=500' } })
  assert.equal(own.status, 500)
  const wrong = await server.request('GET', list, { headers: { 'x-armature-fault': 'stauts=500' } })
  assert.equal(wrong.status, 400)
  assert.equal((await server.request('GET', list)).status, 200)

  await add('--store', 'away', '--seconds', '30')
  const away = await server.request('GET', `${group}?api-version=2021-04-01`)
  assert.equal(away.status, 503, away.text)
  await clear()
  assert.equal((await server.request('GET', `${group}?api-version=2021-04-01`)).status, 200)

  await add('--step', 'fail', '--type', 'ContainerInstance/containerGroups')
  const path = `${group}/providers/Vendor.ContainerInstance/containerGroups/web?api-version=2023-05-01`
  const resources = { requests: { cpu: 0.1, memoryInGB: 0.1 } }
  const properties = {
    osType: 'Linux',
    containers: [{ name: 'web', properties: { image: 'web', resources } }],
  }
  await server.request('PUT', path, { body: { location: 'local', properties } })
  const state = async () => (await server.request('GET', path)).at('properties.provisioningState')
  await until(async () => !['Pending', 'Creating', 'Updating'].includes(String(await state())))
  assert.equal(await state(), 'Failed')

  assert.equal((await server.cli(['fault', 'play', 'throttled'])).code, 0)
  assert.notEqual((await server.cli(['fault', 'play', 'no-such'])).code, 0)
})

test('nobody else may let things fail, and where control is off the header means nothing', async () => {
  await using server = await startInstallation({ environment })
  const other = await createApplication(server, 'other')
  const refused = await server.request('POST', '/_armature/faults', {
    body: { status: 500 },
    token: other.token,
  })
  assert.equal(refused.status, 403)
  await using off = await startInstallation()
  const list = `/subscriptions/${off.subscriptionId}/resourceGroups?api-version=2021-04-01`
  const headers = { 'x-armature-fault': 'status=500' }
  assert.equal((await off.request('GET', list, { headers })).status, 200)
})
