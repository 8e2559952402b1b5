/** What writers of accounts may not do to others: hold all names, or move what others mount. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { ask } from '#plane/testing/ask.ts'
import { owner } from '#plane/testing/start.ts'
import {
  type Sharing,
  sourceGroup,
  startSharing,
  targetGroup,
} from '../data-share/testing/start.ts'

const blobs = {
  location: 'here',
  properties: {
    kind: 'BlobService',
    endpoint: 'https://b.example/x',
    accountName: 'x',
    accountKey: 'a2V5',
  },
}
const account = (group: string, name: string) =>
  `${group}/providers/Vendor.Storage/storageAccounts/${name}`

async function move({ plane }: Sharing): Promise<number> {
  const body = { resources: [account(sourceGroup, 'moving')], targetResourceGroup: targetGroup }
  const version = '2021-04-01'
  const moved = ask(plane, 'POST', `${sourceGroup}/moveResources`, body, { as: owner, version })
  return moved.then(
    ({ status }) => status,
    (error: unknown) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, 'ResourceMoveNotSupported')
      return error.status
    },
  )
}

for (const ownsShares of [false, true]) {
  test(`a blob service ${ownsShares ? 'stays where its file shares are' : 'without file shares moves'}`, async () => {
    await using started = await startSharing({ ownsShares })
    await started.call('PUT', account(sourceGroup, 'moving'), blobs)
    await started.call('PUT', account(targetGroup, 'there'), blobs)
    assert.equal(await move(started), ownsShares ? 409 : 204)
  })
}

test('a resource group has a number of names that nobody else may have', async () => {
  await using started = await startSharing()
  const put = (group: string, name: string) => started.call('PUT', account(group, name), blobs)
  for (let number = 0; number < 800; number++) await put(sourceGroup, `name${number}`)
  await assert.rejects(put(sourceGroup, 'more'), /at most 800 resources/)
  assert.equal((await put(sourceGroup, 'name7')).status, 200)
  assert.equal((await put(targetGroup, 'more')).status, 201)
})
