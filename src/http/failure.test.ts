/** The three error families, and what a caller may and may not read. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refuse, refuseProblems } from '#kernel/error.ts'
import { StoreConflict } from '#stores/store.ts'
import { shapeFailure } from './failure.ts'

const refusal = refuseProblems([
  { path: 'properties.a', message: 'is required' },
  { path: 'properties.b[0]', message: 'expected string, got number' },
])
const details = [
  { code: 'InvalidRequestContent', message: 'is required', target: 'properties.a' },
  {
    code: 'InvalidRequestContent',
    message: 'expected string, got number',
    target: 'properties.b[0]',
  },
]

describe('shapeFailure', () => {
  test('resource manager: an envelope with details and more', () => {
    const error = refuse.ScopeLocked(
      { scope: '/a', locks: '/l' },
      { additionalInfo: [{ type: 'Lock', info: { id: '/l' } }], headers: { 'Retry-After': '3' } },
    )
    const failure = shapeFailure(error, 'resource-manager', 'c')
    assert.equal(failure.status, 409)
    assert.deepEqual(failure.headers, { 'Retry-After': '3' })
    assert.deepEqual(failure.body, {
      error: {
        code: 'ScopeLocked',
        message: error.message,
        additionalInfo: [{ type: 'Lock', info: { id: '/l' } }],
      },
    })
    assert.deepEqual(shapeFailure(refusal, 'resource-manager', 'c').body, {
      error: {
        code: 'InvalidRequestContent',
        message: refusal.message,
        target: 'properties.a',
        details,
      },
    })
  })

  test('health: flat, its details a text', () => {
    assert.deepEqual(shapeFailure(refusal, 'health', 'c').body, {
      code: 'InvalidRequestContent',
      message: refusal.message,
      details: 'properties.a: is required; properties.b[0]: expected string, got number',
    })
    assert.deepEqual(
      Object.keys(shapeFailure(refuse.NotFound({ path: '/' }), 'health', 'c').body),
      ['code', 'message'],
    )
  })

  test('data share: an envelope, never additionalInfo', () => {
    const error = refuse.Conflict({ id: '/a' }, { additionalInfo: [{ type: 't', info: {} }] })
    assert.deepEqual(shapeFailure(error, 'data-share', 'c').body, {
      error: { code: 'Conflict', message: error.message },
    })
  })

  test('a store that does not answer is 503 with a time to come back', () => {
    const error = new Error('connect ECONNREFUSED 10.0.0.1:5432')
    error.name = 'StoreUnavailable'
    const failure = shapeFailure(error, 'resource-manager', 'c')
    assert.equal(failure.status, 503)
    assert.equal(failure.headers['Retry-After'], '5')
    assert.equal(failure.isFault, false)
    assert.doesNotMatch(JSON.stringify(failure.body), /ECONN|5432/)
  })

  test('a full disk is 503, whatever was written', () => {
    const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      path: '/var/lib/armature/snapshots/x.state',
    })
    const failure = shapeFailure(error, 'resource-manager', 'c')
    assert.deepEqual([failure.status, failure.isFault], [503, false])
    assert.doesNotMatch(JSON.stringify(failure.body), /snapshots/)
  })

  test('a race that was lost on every try is 503 and may be repeated', () => {
    const error = new StoreConflict("Another transaction wrote '/subscriptions/secret'.")
    const failure = shapeFailure(error, 'resource-manager', 'c')
    assert.equal(failure.status, 503)
    assert.equal(failure.headers['Retry-After'], '1')
    assert.equal(failure.isFault, false)
    assert.doesNotMatch(JSON.stringify(failure.body), /subscriptions/)
  })

  for (const thrown of [new Error('secret text'), 'secret text', undefined, { status: 200 }]) {
    test(`a fault (${typeof thrown}) shows its correlation id and nothing else`, () => {
      const failure = shapeFailure(thrown, 'resource-manager', 'the-correlation-id')
      assert.equal(failure.status, 500)
      assert.equal(failure.isFault, true)
      const text = JSON.stringify(failure.body)
      assert.match(text, /InternalServerError.*the-correlation-id/)
      assert.doesNotMatch(text, /secret/)
    })
  }
})
