/** A share subscription copies data sets of its own share, whatever its mappings were prepared for. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask } from '#plane/testing/ask.ts'
import { until } from '../../../tests/until.ts'
import { consumer, share, startSharing, taken, targetGroup } from './testing/start.ts'

test('a mapping that waits while its subscription takes another share copies nothing of the share before', async () => {
  await using started = await startSharing()
  await started.prepare()
  started.write('giver', 'data/a.txt', 'of the first share')
  const dataSetId = await started.share('folder', 'Container', { containerName: 'data' })
  const invite = async (path: string): Promise<string> => {
    const properties = {
      targetActiveDirectoryId: consumer.tenantId,
      targetObjectId: consumer.id,
    }
    const made = await started.call('PUT', `${path}/invitations/other`, { properties })
    await started.settle()
    return made.body.properties.invitationId
  }
  const other = share.replace(/s$/, 'other')
  await started.call('PUT', other, { properties: { description: 'others', terms: 'none' } })
  const invitationId = await invite(other)
  const mapping = {
    kind: 'Container',
    properties: {
      dataSetId,
      containerName: 'got',
      subscriptionId: targetGroup.split('/')[2],
      resourceGroup: targetGroup.split('/')[4],
      storageAccountName: 'taker',
    },
  }
  await ask(started.plane, 'PUT', `${taken}/dataSetMappings/m`, mapping, {
    as: consumer,
    version: '2021-08-01',
    async meanwhile() {
      await started.call('DELETE', taken, undefined, consumer)
      await started.settle()
      const properties = { invitationId, sourceShareLocation: 'here' }
      await started.call('PUT', taken, { properties }, consumer)
      await started.settle()
    },
  })
  await started.settle()
  const id = await started.synchronize()
  await started.ended(id)
  const [detail] = await started.details(id)
  assert.equal(detail.status, 'Failed')
  assert.equal(existsSync(join(started.root, 'taker', 'got', 'a.txt')), false)
})

for (const left of ['', ' before grants ended with it', ' and made anew before that']) {
  test(`whoever took a share that was deleted${left} has nothing of one that is made anew under its name`, async () => {
    await using started = await startSharing()
    await started.prepare()
    const grants = await started.store.sql.all(
      'select share_key, subscription_key from share_grants',
    )
    assert.equal(grants.length, 1)
    await started.call('DELETE', share)
    await until(async () => (await started.plane.reader.get(share)) === undefined)
    const status = async (): Promise<string> =>
      (await started.call('GET', taken, undefined, consumer)).body.properties
        .shareSubscriptionStatus
    await until(async () => (await status()) === 'SourceDeleted')
    // As earlier versions left it.
    const bringBack = async (when: string): Promise<void> => {
      if (when !== left) return
      await started.store.sql.transact((tx) =>
        tx.run('update share_grants set share_key = ?', String(grants[0]?.['share_key'])),
      )
    }
    await bringBack(' before grants ended with it')
    await started.call('PUT', share, { properties: { description: 'anew', terms: 'none' } })
    await started.settle()
    await bringBack(' and made anew before that')
    started.write('giver', 'data/a.txt', 'of the share made anew')
    const dataSetId = await started.share('fresh', 'Container', { containerName: 'data' })
    const sources = await started.call(
      'GET',
      `${taken}/consumerSourceDataSets`,
      undefined,
      consumer,
    )
    assert.deepEqual(sources.body.value, [])
    await assert.rejects(started.map('m', 'Container', { dataSetId, containerName: 'got' }), {
      code: 'DataSetNotFound',
    })
    assert.equal(await status(), 'SourceDeleted')
  })
}

test('a share that is made anew shows no synchronizations of the one before', async () => {
  await using started = await startSharing()
  await started.prepare()
  started.write('giver', 'data/a.txt', 'of the first share')
  const dataSetId = await started.share('folder', 'Container', { containerName: 'data' })
  await started.map('m', 'Container', { dataSetId, containerName: 'got' })
  const synchronizationId = await started.synchronize()
  await started.ended(synchronizationId)
  const listed = async (): Promise<number> =>
    (await started.call('POST', `${share}/listSynchronizations`)).body.value.length
  assert.equal(await listed(), 1)
  await started.call('DELETE', share)
  await until(async () => (await started.plane.reader.get(share)) === undefined)
  await started.call('PUT', share, { properties: { description: 'anew', terms: 'none' } })
  await started.settle()
  assert.equal(await listed(), 0)
  await assert.rejects(
    started.call('POST', `${share}/listSynchronizationDetails`, { synchronizationId }),
    { code: 'SynchronizationNotFound' },
  )
})
