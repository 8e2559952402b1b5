/** A share subscription copies data sets of its own share, whatever its mappings were prepared for. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask } from '#plane/testing/ask.ts'
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
