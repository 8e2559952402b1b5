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
  const same = comparable(answer('Running', 'one'))
  assert.deepEqual(deltaOf(comparable(answer('Pending', 'one')), same), [])
  const [change] = deltaOf(comparable(answer('Pending', 'two')), same)
  assert.equal(change?.path, 'properties.containers')
})
