/** An API that is there is not copied anew; one that is deleted while a PUT waits does not come back without operations. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { api, service, startWithApi } from '../../testing/start.ts'

test('an API that is deleted while a PUT of it with a source waits does not come back without operations', async () => {
  await using started = await startWithApi()
  const operation = { displayName: 'List', method: 'GET', urlTemplate: '/all' }
  await started.send('PUT', `${api}/operations/list`, { properties: operation })
  const copy = `${service}/apis/copy`
  const given = { properties: { path: 'copy', sourceApiId: api } }
  await started.send('PUT', copy, given)
  let times = 0
  const late = started.send('PUT', copy, given, {
    async meanwhile() {
      times++
      if (times === 1) await started.send('DELETE', copy, undefined, { ifMatch: '*' })
    },
  })
  await assert.rejects(late, { code: 'Conflict', status: 409 })
  assert.equal(times, 1)
  await assert.rejects(started.send('GET', copy), { status: 404 })
  assert.equal((await started.send('PUT', copy, given)).status, 201)
})
