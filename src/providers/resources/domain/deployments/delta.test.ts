/** Values that change by themselves are no change. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparable, deltaOf } from './delta.ts'

test('what an engine says of what runs now is no change, wherever it stands', () => {
  const answer = (state: string, image: string): object => ({
    systemData: { at: state },
    properties: {
      provisioningState: state,
      instanceView: { state },
      containers: [{ name: 'a', properties: { image, instanceView: { restartCount: 1, state } } }],
    },
  })
  const shown = (...given: Parameters<typeof answer>): unknown =>
    comparable(answer(...given), '2026-01-01')
  const same = shown('Running', 'one')
  assert.deepEqual(deltaOf(shown('Pending', 'one'), same), [])
  const [change] = deltaOf(shown('Pending', 'two'), same)
  assert.equal(change?.path, 'properties.containers')
})

test('an element of an array has a change of its own, with those of its properties below it', () => {
  const before = { list: [{ a: { b: 1 } }, { a: 1 }, 'x', [1]], tags: { a: 'b' } }
  const after = { list: [{ a: { b: 2 } }, { a: 1 }, 'y', [1, 2], { a: 1 }], tags: {} }
  assert.deepEqual(deltaOf(before, after), [
    {
      path: 'list',
      propertyChangeType: 'Array',
      children: [
        {
          path: '0',
          propertyChangeType: 'Modify',
          children: [{ path: 'a.b', propertyChangeType: 'Modify', before: 1, after: 2 }],
        },
        { path: '2', propertyChangeType: 'Modify', before: 'x', after: 'y' },
        {
          path: '3',
          propertyChangeType: 'Array',
          children: [{ path: '1', propertyChangeType: 'Create', after: 2 }],
        },
        { path: '4', propertyChangeType: 'Create', after: { a: 1 } },
      ],
    },
    { path: 'tags.a', propertyChangeType: 'Delete', before: 'b' },
  ])
})
