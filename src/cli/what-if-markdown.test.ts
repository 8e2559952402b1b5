/** What a reviewer reads of a what-if, and how changes are signalled. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasChanges, markdownOf } from './what-if-markdown.ts'

const group = '/subscriptions/s/resourceGroups/g/providers/Vendor.A'

test('changes are listed by resource and property; what stays is counted', () => {
  const changes = [
    { resourceId: `${group}/b/one`, changeType: 'NoChange' },
    { resourceId: `${group}/b/two/c/three`, changeType: 'Create', after: {} },
    {
      resourceId: `${group}/b/four`,
      changeType: 'Modify',
      delta: [
        { path: 'tags.a', propertyChangeType: 'Modify', before: 'x|y', after: 'a`b' },
        {
          path: 'properties.list',
          propertyChangeType: 'Array',
          children: [{ path: '0', propertyChangeType: 'Create', after: 1 }],
        },
      ],
    },
  ]
  assert.equal(
    markdownOf('d', changes),
    [
      '### What-if of `d`',
      '',
      '**1 to create, 1 to modify, 1 unchanged.**',
      '',
      '#### Create: `Vendor.A/b/c` `two/three`',
      '',
      '#### Modify: `Vendor.A/b` `four`',
      '',
      '| Property | Before | After |',
      '| --- | --- | --- |',
      '| `tags.a` | `"x\\|y"` | `` "a`b" `` |',
      '| `properties.list.0` |  | `1` |',
      '',
    ].join('\n'),
  )
  assert.equal(hasChanges(changes), true)
  assert.equal(hasChanges(changes.slice(0, 1)), false)
  assert.equal(hasChanges([]), false)
  assert.equal(hasChanges([{ changeType: 'Unsupported' }]), true, 'what cannot be told may change')
})

test('a comment is bounded, and says how many are left out', () => {
  const many = Array.from({ length: 3000 }, (_, at) => ({
    resourceId: `${group}/b/name-${at}`,
    changeType: 'Create',
  }))
  const text = markdownOf('d', many)
  assert.ok(text.length < 61_000)
  assert.match(text, /\n\d+ more are left out here\.\n$/)
})

test('a backslash before a pipe stays one, and ends no cell', () => {
  const delta = [{ path: 'tags.a\\|b', propertyChangeType: 'Create', after: 1 }]
  const told = markdownOf('d', [{ resourceId: `${group}/b/one`, changeType: 'Modify', delta }])
  assert.match(told, /\| `tags\.a\\\\\\\|b` \|/)
})
