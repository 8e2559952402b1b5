/** The demo of data sharing: a folder of one account, shared with another account, copied, and told of. */

import { textOf } from '#client/answer.ts'
import { propertyOf } from '#client/resource.ts'
import { apiVersions, extensionPath } from '../../../resource-path.ts'
import { shareVersion, storageVersion } from '../../../sharing.ts'
import { listRuns, runOf, textAt } from '../../../synchronizations.ts'
import type { DemoArea } from '../area.ts'
import type { DemoWorld } from '../world.ts'

const version = `api-version=${shareVersion}`
const looksMax = 200
const lookMilliseconds = 100

export const area: DemoArea = {
  name: 'sharing',
  summary: 'data sharing that copies',
  operations: [5],
  async prepare(world) {
    const group = await world.group()
    const short = world.subscriptionId.slice(0, 8)
    const store = (name: string) =>
      `${extensionPath(world.words, group, 'Storage/storageAccounts')}/${name}`
    const account = (name: string) =>
      `${extensionPath(world.words, group, 'DataShare/accounts')}/${name}`
    const [from, to] = [`demogive${short}`, `demotake${short}`]
    const folder = { location: 'local', properties: { kind: 'Folder' } }
    await put(world, store(from), storageVersion, folder)
    await put(world, store(to), storageVersion, folder)
    world.sample(`${from}/data/hello.txt`, 'Hello from the demo\n')
    world.note(`Storage accounts ${from} and ${to}: folders of the installation`)
    await put(world, account('demo-provider'), shareVersion, { location: 'local' })
    await put(world, account('demo-consumer'), shareVersion, { location: 'local' })
    const share = `${account('demo-provider')}/shares/demo`
    await put(world, share, shareVersion, { properties: { description: 'The demo’s files' } })
    const at = (storageAccountName: string, rest: object) => ({
      subscriptionId: world.subscriptionId,
      resourceGroup: 'demo',
      storageAccountName,
      ...rest,
    })
    const dataSet = await put(world, `${share}/dataSets/files`, shareVersion, {
      kind: 'AdlsGen2FileSystem',
      properties: at(from, { fileSystem: 'data' }),
    })
    const subscription = `${account('demo-consumer')}/shareSubscriptions/demo`
    const query = { 'api-version': shareVersion }
    const accepted = await world.client.send('GET', subscription, { query })
    if (accepted.status !== 200) {
      const invitation = await put(world, `${share}/invitations/demo`, shareVersion, {
        properties: { targetActiveDirectoryId: await tenantOf(world) },
      })
      const invitationId = propertyOf(invitation, 'invitationId')
      await put(world, subscription, shareVersion, {
        properties: { invitationId, sourceShareLocation: 'local' },
      })
    }
    await put(world, `${subscription}/dataSetMappings/files`, shareVersion, {
      kind: 'AdlsGen2FileSystem',
      properties: at(to, { fileSystem: 'copy', dataSetId: propertyOf(dataSet, 'dataSetId') }),
    })
    world.note('A share of a folder, accepted and mapped')
    const id = await synchronized(world, subscription)
    world.note(`Synchronization ${id}, which just ran`)
    const call = (title: string, action: string, body?: object) => ({
      operation: 5,
      title,
      method: 'POST',
      path: `${subscription}/${action}${action.includes('?') ? '&' : '?'}${version}`,
      ...(body === undefined ? {} : { body }),
    })
    const named = { synchronizationId: id }
    return [
      call('the data sets of that synchronization', 'listSynchronizationDetails', named),
      call(
        'only those that failed',
        `listSynchronizationDetails?$filter=${encodeURIComponent("status eq 'Failed'")}`,
        named,
      ),
      call(
        'the longest first',
        `listSynchronizationDetails?$orderby=${encodeURIComponent('durationMs desc')}`,
        named,
      ),
      call('all synchronizations', 'listSynchronizations'),
    ]
  },
}

async function put(
  world: DemoWorld,
  path: string,
  apiVersion: string,
  body: object,
): Promise<unknown> {
  const query = { 'api-version': apiVersion }
  await world.client.waitForOperation(await world.client.request('PUT', path, { query, body }))
  return (await world.client.request('GET', path, { query })).body
}

/** The demo invites everybody of the tenant: whoever runs it is one of them. */
async function tenantOf(world: DemoWorld): Promise<string> {
  const query = { 'api-version': apiVersions.subscriptions }
  const path = `/subscriptions/${world.subscriptionId}`
  return textOf((await world.client.request('GET', path, { query })).body, 'tenantId') ?? ''
}

/** Begins one, or takes the one under way, and waits for its end. */
async function synchronized(world: DemoWorld, subscription: string): Promise<string> {
  const connection = { client: world.client }
  const query = { 'api-version': shareVersion }
  const body = { synchronizationMode: 'FullSync' }
  await world.client.send('POST', `${subscription}/synchronize`, { query, body })
  const newest = await runOf(connection, subscription, undefined)
  const id = textAt(newest, 'synchronizationId')
  for (let looks = 0; looks < looksMax; looks++) {
    const runs = await listRuns(connection, subscription)
    const run = runs.find((one) => one['synchronizationId'] === id)
    if (run?.['endTime'] !== undefined) return id
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds))
  }
  return id
}
