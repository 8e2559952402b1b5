/** Ids that are the same in every process that asks in the same order. For tests only. */

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
    // Secrets stay random: a predictable secret is none.
    secret: (bytes) => randomIds.secret(bytes),
  }
}
