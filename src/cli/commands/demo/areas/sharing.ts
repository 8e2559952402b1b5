/** The demo of data sharing: a folder of one account is shared with another account and copied. */

import { textOf } from '#client/answer.ts'
import { propertyOf } from '#client/resource.ts'
import { apiVersions, extensionPath } from '../../../resource-path.ts'
import { shareVersion, storageVersion } from '../../../sharing.ts'
import { listRuns, runOf, textAt } from '../../../synchronizations.ts'
import type { DemoArea } from '../area.ts'
import type { DemoSetup } from '../setup.ts'

const version = `api-version=${shareVersion}`
const looksMax = 200
const lookMilliseconds = 100

export const area: DemoArea = {
  name: 'sharing',
  summary: 'data sharing that copies',
  operations: [5],
  async prepare(fixture) {
    const group = await fixture.group()
    const short = fixture.subscriptionId.slice(0, 8)
    const store = (name: string) =>
      `${extensionPath(fixture.words, group, 'Storage/storageAccounts')}/${name}`
    const account = (name: string) =>
      `${extensionPath(fixture.words, group, 'DataShare/accounts')}/${name}`
    const [from, to] = [`demogive${short}`, `demotake${short}`]
    const folder = { location: 'local', properties: { kind: 'Folder' } }
    await put(fixture, store(from), storageVersion, folder)
    await put(fixture, store(to), storageVersion, folder)
    fixture.sample(`${from}/data/hello.txt`, 'Hello from the demo\n')
    fixture.note(`Storage accounts ${from} and ${to}: folders of the installation`)
    await put(fixture, account('demo-provider'), shareVersion, { location: 'local' })
    await put(fixture, account('demo-consumer'), shareVersion, { location: 'local' })
    const share = `${account('demo-provider')}/shares/demo`
    await put(fixture, share, shareVersion, { properties: { description: 'The demo’s files' } })
    const at = (storageAccountName: string, rest: object) => ({
      subscriptionId: fixture.subscriptionId,
      resourceGroup: 'demo',
      storageAccountName,
      ...rest,
    })
    const dataSet = await put(fixture, `${share}/dataSets/files`, shareVersion, {
      kind: 'AdlsGen2FileSystem',
      properties: at(from, { fileSystem: 'data' }),
    })
    const subscription = `${account('demo-consumer')}/shareSubscriptions/demo`
    const query = { 'api-version': shareVersion }
    const accepted = await fixture.client.send('GET', subscription, { query })
    if (accepted.status !== 200) {
      const invitation = await put(fixture, `${share}/invitations/demo`, shareVersion, {
        properties: { targetActiveDirectoryId: await tenantOf(fixture) },
      })
      const invitationId = propertyOf(invitation, 'invitationId')
      await put(fixture, subscription, shareVersion, {
        properties: { invitationId, sourceShareLocation: 'local' },
      })
    }
    await put(fixture, `${subscription}/dataSetMappings/files`, shareVersion, {
      kind: 'AdlsGen2FileSystem',
      properties: at(to, { fileSystem: 'copy', dataSetId: propertyOf(dataSet, 'dataSetId') }),
    })
    fixture.note('A share of a folder, accepted and mapped')
    const id = await synchronized(fixture, subscription)
    fixture.note(`Synchronization ${id}, which just ran`)
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
  fixture: DemoSetup,
  path: string,
  apiVersion: string,
  body: object,
): Promise<unknown> {
  const query = { 'api-version': apiVersion }
  await fixture.client.waitForOperation(await fixture.client.request('PUT', path, { query, body }))
  return (await fixture.client.request('GET', path, { query })).body
}

/** The demo invites the whole tenant, which includes the user who runs it. */
async function tenantOf(fixture: DemoSetup): Promise<string> {
  const query = { 'api-version': apiVersions.subscriptions }
  const path = `/subscriptions/${fixture.subscriptionId}`
  return textOf((await fixture.client.request('GET', path, { query })).body, 'tenantId') ?? ''
}

/** Starts a synchronization, or takes the running one, and waits for its end. */
async function synchronized(fixture: DemoSetup, subscription: string): Promise<string> {
  const connection = { client: fixture.client }
  const query = { 'api-version': shareVersion }
  const body = { synchronizationMode: 'FullSync' }
  await fixture.client.send('POST', `${subscription}/synchronize`, { query, body })
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
