/** The right to write tags: tags that are settings of the resource also need the right to write it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { parseResourceId } from '#kernel/resource-id.ts'
import { defineProvider } from '../declare/provider.ts'
import { defineStored } from '../declare/stored.ts'
import { group, nobody, owner, startPlane } from '../testing/start.ts'

const jobs = defineStored<object>({
  type: 'Other/jobs',
  description: 'Work that is done as its tags say.',
  scope: 'resource-group',
  tracked: { location: 'optional' },
  settingTags: ['job-verify'],
  name: { pattern: /^\w+$/, rule: 'word characters' },
  versions: [
    {
      date: '2024-01-01',
      body: Type.Object({}),
      answer: Type.Object({}),
      unknownProperties: 'ignore',
      toModel: () => ({}),
      fromModel: () => ({}),
    },
  ],
})

test('tags that are settings take the right to write the resource', async () => {
  const other = defineProvider({ namespace: 'Other', description: 'Jobs.', types: [jobs] })
  await using started = await startPlane({ providers: [other], scopes: 'implicit' })
  const path = `${group}/providers/Vendor.Other/jobs/one`
  const version = '2024-01-01'
  await started.call('PUT', path, { tags: { 'Job-Verify': 'counts', a: '1' } }, { version })
  const id = parseResourceId(path) ?? assert.fail()
  const { replaceTags, reader } = started.plane.services
  const replace = (tags: Record<string, string> | 'none', principal = nobody) =>
    replaceTags(
      id,
      tags === 'none'
        ? { right: 'delete', made: () => ({}) }
        : { right: 'write', made: () => tags },
      { principal, correlationId: 'c' },
    )
  const refused = { status: 403, message: /jobs\/write/ }
  await assert.rejects(replace({ 'job-verify': 'none' }), refused)
  await assert.rejects(replace({ a: '2' }), refused)
  await assert.rejects(replace('none'), refused)
  await replace({ 'job-VERIFY': 'counts', a: '2' })
  assert.deepEqual((await reader.get(id.key))?.tags, { 'job-VERIFY': 'counts', a: '2' })
  await replace({ 'job-verify': 'none' }, owner)
  assert.deepEqual((await reader.get(id.key))?.tags, { 'job-verify': 'none' })
})
