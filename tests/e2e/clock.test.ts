/**
 * The installation's clock is moved from outside. What waits for the time happens, and only the owner may move it.
 */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../until.ts'
import { createApplication, grant, roles } from './access.ts'
import { clientToken, startInstallation } from './installation.ts'

const environment = {
  ARMATURE_CONTROL: 'local',
  ARMATURE_CLOCK: 'manual',
  ARMATURE_CONTAINERS: 'simulated',
}

const timeline = `id: OUTAGE
steps:
  - after: 2h
    step: publish
    eventType: ServiceIssue
    eventLevel: Critical
    title: Groups do not start
  - after: 3h
    step: resolve
    summary: They start again.
`

test('time that passes by command ends tokens, plays timelines and is recorded', async () => {
  await using server = await startInstallation({ environment })
  const run = async (...words: readonly string[]): Promise<unknown> => {
    const ran = await server.cli([...words, '--json'])
    assert.equal(ran.code, 0, ran.error)
    return JSON.parse(ran.out)
  }
  const at = (state: unknown): number => Date.parse((state as { readonly at: string }).at)
  const titles = async (): Promise<unknown> =>
    ((await run('health', 'list')) as readonly { readonly properties: { status: string } }[]).map(
      ({ properties }) => properties.status,
    )
  const begin = at(await run('clock', 'stop'))
  writeFileSync(join(server.home, 'outage.yaml'), timeline)
  await run('health', 'play', join(server.home, 'outage.yaml'))
  assert.deepEqual(await titles(), [])

  assert.equal(at(await run('clock', 'advance', '2h')) - begin, 7_200_000)
  assert.deepEqual(await titles(), ['Active'])
  await run('clock', 'advance', '1h')
  assert.deepEqual(await titles(), ['Resolved'])

  const path = '/subscriptions?api-version=2020-01-01'
  const late = await server.request('GET', path)
  assert.equal(late.status, 401)
  assert.equal(late.at('error.code'), 'ExpiredAuthenticationToken')
  const token = await clientToken(server.url, server.owner)
  assert.equal((await server.request('GET', path, { token })).status, 200)

  // Records of commands are written a moment after their answer.
  await until(async () => {
    const records = JSON.stringify(await run('activity', 'list', '--since', '10m'))
    return records.includes('Vendor.Control/clock/advance/action')
  })

  assert.equal((await run('clock', 'start', '--rate', '300')) instanceof Object, true)
  while (at(await run('clock', 'show')) < begin + 3 * 3_600_000 + 300_000);
  await run('clock', 'start')
  const target = Date.UTC(2040, 0, 31)
  assert.ok(at(await run('clock', 'set', '2040-01-31T00:00:00Z')) >= target)
  const later = await clientToken(server.url, server.owner)
  assert.equal((await server.request('GET', path, { token: later })).status, 200)
  // The audit trail is kept for ninety days.
  const kept = JSON.stringify(await run('activity', 'list', '--since', '2000-01-01'))
  assert.doesNotMatch(kept, /Vendor\.Control\/clock\/advance\/action/)
})

test('a group of containers ends when its time has come', async () => {
  await using server = await startInstallation({ environment })
  await server.cli(['clock', 'stop'])
  const path = `/subscriptions/${server.subscriptionId}/resourceGroups/late/providers/Vendor.ContainerInstance/containerGroups/job?api-version=2023-05-01`
  const made = await server.request('PUT', path, {
    body: {
      location: 'local',
      properties: {
        osType: 'Linux',
        restartPolicy: 'Never',
        containers: [
          {
            name: 'job',
            properties: {
              image: 'busybox',
              command: ['sleep', '3600'],
              environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: 'exit:0@3600s' }],
              resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
            },
          },
        ],
      },
    },
  })
  assert.equal(made.status, 201, made.text)
  assert.equal((await server.cli(['clock', 'advance', '1m'])).code, 0)
  const running = await server.request('GET', path)
  assert.equal(running.at('properties.instanceView.state'), 'Running', running.text)
  assert.equal((await server.cli(['clock', 'advance', '50m'])).code, 0)
  assert.equal((await server.request('GET', path)).at('properties.instanceView.state'), 'Running')
  assert.equal((await server.cli(['clock', 'advance', '10m'])).code, 0)
  const token = await clientToken(server.url, server.owner)
  const ended = await server.request('GET', path, { token })
  assert.equal(ended.at('properties.instanceView.state'), 'Succeeded', ended.text)
})

test('only the owner may, only with what makes sense, and only where it is on', async () => {
  await using server = await startInstallation({ environment })
  const advance = (body: object, token?: string) =>
    server.request('POST', '/_armature/clock/advance', {
      body,
      ...(token === undefined ? {} : { token }),
    })
  const other = await createApplication(server, 'other')
  await grant(server, '', roles.owner, other.principalId)
  const refused = await advance({ by: '2h' }, other.token)
  assert.equal(refused.status, 403, refused.text)
  const wrong = await advance({ by: '2 hours' })
  assert.equal(wrong.status, 400, wrong.text)
  assert.equal(wrong.at('error.target'), 'by')
  const unknown = await advance({ by: '2h', how: 'fast' })
  assert.equal(unknown.status, 400, unknown.text)

  await using system = await startInstallation({ environment: { ARMATURE_CONTROL: 'local' } })
  const fixed = await system.request('GET', '/_armature/clock')
  assert.equal(fixed.status, 409)
  assert.match(fixed.text, /ARMATURE_CLOCK=manual/)
  await using off = await startInstallation()
  const nowhere = await off.request('GET', '/_armature/clock?api-version=2021-04-01')
  assert.equal(nowhere.status, 404, nowhere.text)
})
