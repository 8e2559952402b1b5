/** An invitation is for whom its provider sees, and whoever took a share sees it as long as they have it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumer, type Sharing, share, startSharing, taken } from './testing/start.ts'

const other = share.replace(/s$/, 'other')
const invitation = `${other}/invitations/one`
const somebody = '99999999-9999-4999-8999-999999999999'

async function invite(started: Sharing, targetObjectId: string): Promise<string> {
  const properties = { targetActiveDirectoryId: consumer.tenantId, targetObjectId }
  const { body } = await started.call('PUT', invitation, { properties })
  return body.properties.invitationId
}

async function take(started: Sharing, invitationId: string): Promise<unknown> {
  const properties = { invitationId, sourceShareLocation: 'here' }
  return started.call('PUT', taken.replace(/[^/]*$/, 'later'), { properties }, consumer)
}

async function shared(): Promise<Sharing> {
  const started = await startSharing()
  await started.prepare()
  await started.call('PUT', other, { properties: { description: 'others', terms: 'none' } })
  return started
}

test('it cannot be given to another, who would wait for it while the first one takes it', async () => {
  await using started = await shared()
  await invite(started, consumer.id)
  await assert.rejects(invite(started, somebody), /is for another/)
  const { body } = await started.call('GET', invitation)
  assert.equal(body.properties.targetObjectId, consumer.id)
})

test('one that an earlier version gave to another is not taken by whom it was for first', async () => {
  await using started = await shared()
  const invitationId = await invite(started, somebody)
  await started.settle()
  await started.store.sql.transact((tx) =>
    tx.run('update share_invitations set object_id = ? where id = ?', consumer.id, invitationId),
  )
  // It is looked at now and then.
  await started.store.transact((tx) => tx.schedule(invitation.toLowerCase(), 0))
  await started.settle()
  await assert.rejects(take(started, invitationId), { code: 'InvitationNotFound' })
})

for (const end of ['revoke', 'adjust']) {
  test(`whoever took a share sees nothing of it any more after ${end}`, async () => {
    await using started = await startSharing()
    await started.prepare()
    const kind = 'KustoCluster'
    await started.share('first', kind, { kustoClusterResourceId: '/subscriptions/a' })
    const settings = { recurrenceInterval: 'Day', synchronizationTime: '2026-01-01T00:00:00Z' }
    const setting = { kind: 'ScheduleBased', properties: settings }
    await started.call('PUT', `${share}/synchronizationSettings/daily`, setting)
    const seen = async (): Promise<readonly number[]> => {
      const sets = await started.call('GET', `${taken}/consumerSourceDataSets`, undefined, consumer)
      const action = `${taken}/listSourceShareSynchronizationSettings`
      const schedules = await started.call('POST', action, undefined, consumer)
      return [sets.body.value.length, schedules.body.value.length]
    }
    assert.deepEqual(await seen(), [1, 1])
    started.write('giver', 'src/a', 'a')
    const dataSetId = await started.share('second', 'Container', { containerName: 'src' })
    await started.map('m', 'Container', { dataSetId, containerName: 'got' })
    await started.call('PUT', `${taken}/triggers/t`, setting, consumer)
    const statuses = async (): Promise<readonly string[]> => {
      const own = [`${taken}/dataSetMappings/m`, `${taken}/triggers/t`]
      // They are looked at now and then.
      for (const path of own) {
        await started.store.transact((tx) => tx.schedule(path.toLowerCase(), 0))
      }
      await started.settle()
      const [mapping, trigger] = await Promise.all(
        own.map((path) => started.call('GET', path, undefined, consumer)),
      )
      return [mapping?.body.properties.dataSetMappingStatus, trigger?.body.properties.triggerStatus]
    }
    assert.deepEqual(await statuses(), ['Ok', 'Active'])
    const { body } = await started.call('GET', `${share}/providerShareSubscriptions`)
    const view = `${share}/providerShareSubscriptions/${body.value[0].name}`
    const over = { properties: { expirationDate: '2020-01-01T00:00:00Z' } }
    await started.call('POST', `${view}/${end}`, end === 'adjust' ? over : undefined)
    assert.deepEqual(await seen(), [0, 0])
    assert.deepEqual(await statuses(), ['Broken', 'SourceSynchronizationSettingDeleted'])
    const more = started.map('more', 'Container', { dataSetId, containerName: 'more' })
    await assert.rejects(more, { code: 'DataSetNotFound' })
  })
}
