/** Operations as they are shown, and which states are final. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTerminalState, isTerminalStatus, type Operation, operationToWire } from './operation.ts'

const running: Operation = {
  id: '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  resourceId: '/subscriptions/s/resourceGroups/g',
  kind: 'delete',
  version: '2021-04-01',
  status: 'Running',
  startTime: '2026-01-02T03:04:05.000Z',
  deadline: 1,
  principalId: 'ann',
  correlationId: 'c',
  resultStatus: 200,
}

test('what a status address answers holds what a client needs and nothing else', () => {
  const shown = {
    id: '/path',
    name: running.id,
    status: 'Running',
    startTime: running.startTime,
    properties: { resourceId: running.resourceId },
  }
  assert.deepEqual(operationToWire(running, '/path'), shown)
  const endTime = '2026-01-02T03:05:00.000Z'
  assert.deepEqual(operationToWire({ ...running, status: 'Succeeded', endTime }, '/path'), {
    ...shown,
    status: 'Succeeded',
    endTime,
    percentComplete: 100,
  })
  const error = { code: 'Conflict', message: 'no' }
  assert.deepEqual(operationToWire({ ...running, status: 'Failed', endTime, error }, '/path'), {
    ...shown,
    status: 'Failed',
    endTime,
    error,
  })
})

test('three words are final, everything else is under way (facts 9.4)', () => {
  for (const state of ['Succeeded', 'Failed', 'Canceled']) assert.ok(isTerminalState(state))
  for (const state of ['Accepted', 'Creating', 'Deleting', 'succeeded', '']) {
    assert.ok(!isTerminalState(state), state)
  }
  assert.ok(!isTerminalStatus('Running'))
  for (const status of ['Succeeded', 'Failed', 'Canceled'] as const) {
    assert.ok(isTerminalStatus(status))
  }
})
