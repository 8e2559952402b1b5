/** Ids that are the same in every process that asks in the same order: for tests, and for what a seed makes. */

import type { Ids } from '#kernel/ports.ts'
import { randomIds } from './random-ids.ts'

/** Parts of an installation that make ids. Each counts for itself, as they do not wait for each other. */
export type IdMaker = 'record' | 'installation' | 'directory' | 'business'

const firstDigits: Readonly<Record<IdMaker, string>> = {
  record: '00000000',
  installation: 'a0000000',
  directory: 'd0000000',
  business: 'b0000000',
}

export function fixedIds(maker: IdMaker, group = '0000'): Ids {
  let count = 0
  const next = (): string => {
    count++
    return `${firstDigits[maker]}-${group}-4000-8000-${count.toString(16).padStart(12, '0')}`
  }
  // Secrets stay random: a predictable secret is none.
  return { uuid: next, fixed: next, secret: (bytes) => randomIds.secret(bytes) }
}

type SeedPhase = 'start' | 'seed' | 'over'

/** Fixed until the seed of the first start is applied. What the seed makes does not depend on what the start made. */
export function seedIds(begin: SeedPhase) {
  const state = { phase: begin }
  return {
    state,
    idsFor(maker: IdMaker): Ids {
      const phases = { start: fixedIds(maker), seed: fixedIds(maker, '5eed'), over: randomIds }
      // The record and the owner are made once, by whoever is first, and read by all others.
      const current = (): Ids => (maker === 'record' ? phases.start : phases[state.phase])
      return {
        uuid: () => current().uuid(),
        fixed: () => current().fixed?.(),
        secret: (bytes) => randomIds.secret(bytes),
      }
    },
  }
}
