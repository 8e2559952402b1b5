import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoom } from '#kernel/room.ts'
import { createLargeBodies } from './large-bodies.ts'

test('a slow body gives up its place when somebody waits for one, and a fast one keeps it', () => {
  let now = 0
  const room = createRoom({ perOwnerMax: 1, sumMax: 2 })
  const bodies = createLargeBodies(room, () => now)
  const ended: string[] = []
  const follow = (name: string, bytesPerSecond: number): (() => void) => {
    void room.enter(name, 1)
    const received = () => (now / 1000) * bytesPerSecond
    return bodies.follow({ received, end: () => ended.push(name) })
  }
  follow('slow', 16 * 1024)
  follow('fast', 4 * 1024 * 1024)
  now = 60_000
  bodies.sweep()
  assert.deepEqual(ended, [], 'nobody waits')
  void room.enter('next', 1)
  bodies.sweep()
  assert.deepEqual(ended, ['slow'])
})

test('a body has some seconds before it counts as slow, and none once it has arrived', () => {
  let now = 0
  const bodies = createLargeBodies({ state: () => ({ waiting: 1, taken: 1 }) }, () => now)
  let ends = 0
  const leave = bodies.follow({ received: () => 0, end: () => ends++ })
  now = 4_000
  bodies.sweep()
  leave()
  now = 60_000
  bodies.sweep()
  assert.equal(ends, 0)
})
