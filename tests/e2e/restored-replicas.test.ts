/** A state that one replica brings back is the state of the others, too: none goes on with what it remembers. */

import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createResourceGroup } from './access.ts'
import { freshHome, type Installation, startInstallation } from './installation.ts'

const shared: { server?: Promise<PostgresServer> } = {}
after(async () => (await shared.server)?.stop())

const environment = { ARMATURE_CONTROL: 'local', ARMATURE_CONTAINERS: 'simulated' }

interface Replicas extends AsyncDisposable {
  readonly first: Installation
  /** Sends to one of the two, as the owner. */
  send(to: 'first' | 'second', method: string, path: string, body?: object): Promise<Sent>
}
type Sent = Awaited<ReturnType<Installation['request']>>

async function startReplicas(): Promise<Replicas> {
  await using started = new AsyncDisposableStack()
  shared.server ??= startPostgres({ fsync: false })
  const store = await (await shared.server).createDatabase()
  const homes = [freshHome(), freshHome()] as const
  started.defer(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })
  const first = started.use(await startInstallation({ store, home: homes[0], environment }))
  const key = readFileSync(join(homes[0], 'installation.key'), 'utf8')
  const second = started.use(
    await startInstallation({
      ...{ store, home: homes[1], key },
      // Tokens of the one are for the other, too.
      environment: { ...environment, ARMATURE_PUBLIC_URL: first.url },
    }),
  )
  const kept = started.move()
  return {
    first,
    async send(to, method, path, body) {
      const token = first.ownerToken
      const options = { token, ...(body === undefined ? {} : { body }) }
      return await (to === 'first' ? first : second).request(method, path, options)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const billing = 'api-version=2024-04-01'

test('ids of the ledger that another replica remembers are not used after a state was brought back', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using replicas = await startReplicas()
  const { send } = replicas
  const accounts = await send(
    'first',
    'GET',
    `/providers/Vendor.Billing/billingAccounts?${billing}`,
  )
  const profile = `${accounts.items()[0]?.['id']}/billingProfiles/default`
  const record = async (to: 'first' | 'second', name: string) => {
    const header = 'date,transactionAmount,productDescription'
    const text = `2026-11-01,5.00,${name}\n`
    const answer = await send(to, 'POST', `${profile}/importTransactions?${billing}`, {
      ...{ name, format: 'csv', header, text, firstLine: 2, completed: true },
      ...{ position: 0, digest: '', nextPosition: text.length, nextDigest: name },
    })
    assert.equal(answer.status, 200, answer.text)
  }
  const recorded = async (from: 'first' | 'second') => {
    const period = 'periodStartDate=2026-10-01&periodEndDate=2026-12-01&type=Unbilled'
    const answer = await send(from, 'GET', `${profile}/transactions?${billing}&${period}`)
    assert.equal(answer.status, 200, answer.text)
    // A transaction has properties, by the interface.
    const shown = answer.items() as readonly { properties: { productDescription: string } }[]
    return shown.map(({ properties }) => properties.productDescription).sort()
  }
  assert.equal((await send('first', 'PUT', '/_armature/snapshots/before')).status, 200)
  for (const name of ['gone', 'gone-too']) await record('second', name)
  assert.deepEqual(await recorded('second'), ['gone', 'gone-too'])
  assert.equal((await send('first', 'POST', '/_armature/snapshots/before/restore')).status, 200)
  for (const name of ['other', 'another']) await record('first', name)
  assert.deepEqual(await recorded('second'), ['another', 'other'])
  await record('second', 'gone')
  for (const replica of ['first', 'second'] as const) {
    assert.deepEqual(await recorded(replica), ['another', 'gone', 'other'], replica)
  }
})

test('a deployment goes on from where it was in the state that was brought back', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using replicas = await startReplicas()
  const { first, send } = replicas
  const group = `/subscriptions/${first.subscriptionId}/resourceGroups/web`
  await createResourceGroup(first, group)
  const type = 'Vendor.ContainerInstance/containerGroups'
  const containers = [
    {
      name: 'web',
      properties: { image: 'web', resources: { requests: { cpu: 1, memoryInGB: 1 } } },
    },
  ]
  const all = 12
  const resources = Array.from({ length: all }, (_, at) => ({
    ...{ type, apiVersion: '2023-05-01', name: `web${at}`, location: 'local' },
    ...(at === 0 ? {} : { dependsOn: [`[resourceId('${type}', 'web${at - 1}')]`] }),
    properties: { osType: 'Linux', containers },
  }))
  const $schema = 'https://schema.example/2019-04-01/deploymentTemplate.json#'
  const template = { $schema, contentVersion: '1.0.0.0', resources }
  const path = `${group}/providers/Vendor.Resources/deployments/web?api-version=2022-09-01`
  const made = async () =>
    (await send('second', 'GET', `${group}/providers/${type}?api-version=2023-05-01`)).items()
      .length
  const begun = await send('first', 'PUT', path, { properties: { mode: 'Incremental', template } })
  assert.equal(begun.status, 201, begun.text)
  await until(async () => (await made()) >= 3, 50)
  assert.equal((await send('first', 'PUT', '/_armature/snapshots/begun')).status, 200)
  await until(async () => (await made()) >= 9, 50)
  assert.equal((await send('first', 'POST', '/_armature/snapshots/begun/restore')).status, 200)
  let state = ''
  let text = ''
  await until(async () => {
    const answer = await send('second', 'GET', path)
    text = answer.text
    state = /"provisioningState":"(\w+)"/.exec(text)?.[1] ?? ''
    return ['Succeeded', 'Failed'].includes(state)
  }, 100)
  assert.equal(state, 'Succeeded', text)
  assert.equal(await made(), all)
})
