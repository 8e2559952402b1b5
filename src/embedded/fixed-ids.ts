/** Ids that come out the same in every process that asks in the same order: for tests, and for nothing else. */

import type { Ids } from '#kernel/ports.ts'
import { randomIds } from '../main/random-ids.ts'

export function fixedIds(maker: 'installation' | 'directory'): Ids {
  const first = maker === 'installation' ? '00000000' : 'd0000000'
  let count = 0
  return {
    uuid() {
      count++
      return `${first}-0000-4000-8000-${count.toString(16).padStart(12, '0')}`
    },
    // A secret that can be foretold is none.
    secret: (bytes) => randomIds.secret(bytes),
  }
}
