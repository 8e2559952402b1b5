/** Reads among durable writes where the disk takes 10 ms for a flush, as disks over a network do. */

import { canRecordFlushes, compileFlushRecorder } from '../../src/stores/testing/flush-recorder.ts'
import { armature, commandOf } from '../contestants/armature.ts'
import { floor, getCase, mixedCase, putCase } from '../contestants/peers.ts'
import type { Contestant, Scenario } from '../scenario.ts'

const count = 10_000
const flushMicroseconds = 10_000

/** The library waits before each flush of the server. */
function withSlowFlush(contestant: Contestant): Contestant {
  let library = ''
  return {
    ...contestant,
    name: 'Armature, flushes of 10 ms',
    async prepare(place) {
      library = compileFlushRecorder(place.folder)
      await contestant.prepare?.(place)
    },
    command(place) {
      const { environment, ...rest } = commandOf(place)
      const slow = { LD_PRELOAD: library, FLUSH_MICROSECONDS: String(flushMicroseconds) }
      return { ...rest, environment: { ...environment, ...slow } }
    },
  }
}

export const scenario: Scenario = {
  kind: 'load',
  title: 'Durable writes on a slow disk',
  about:
    'One value of 1.5 KB out of 10,000: read, replaced, and each in turn by chance, as in the scenario before it. A library below ' +
    'the server makes each flush take 10 ms longer; the floor flushes nothing.',
  connections: 32,
  cases: [getCase, putCase, mixedCase],
  floor: 'node:http and a Map',
  contestants: [
    floor(count),
    armature(count),
    ...(canRecordFlushes() ? [withSlowFlush(armature(count))] : []),
  ],
}
