/**
 * Removes engine objects without an owner: groups whose resource is gone. It runs at start and once an hour; the
 * reconciler removes what it knows, and this finds the rest.
 */

import type { ContainerEngine } from '#engines/containers/engine.ts'
import type { Log } from '#kernel/ports.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { attempt, attemptBackground } from './engine-failure.ts'
import { allGroups, groupToken } from './groups/group-index.ts'

interface SweepDependencies {
  readonly engine: ContainerEngine
  readonly reader: Reader
  readonly log: Log
}

interface Swept {
  /** The engine's names of the removed groups. */
  readonly removed: readonly string[]
  /** Groups that could not be removed; the next sweep tries again. */
  readonly kept: readonly string[]
}

/** Never throws because of the engine or the store; when one of them does not answer, nothing is swept. */
export async function sweepOrphans({ engine, reader, log }: SweepDependencies): Promise<Swept> {
  // The engine is listed first: what it holds now either was written to the store before, or has no owner.
  const held = await attempt(() => engine.list())
  if (!held.ok) {
    log.warn({ reason: held.failure.message }, 'orphaned containers could not be looked for')
    return { removed: [], kept: [] }
  }
  const orphans = new Set(held.value.map(({ group }) => group))
  if (orphans.size === 0) return { removed: [], kept: [] }
  const failure = await attemptBackground(async () => {
    for await (const group of allGroups(reader)) orphans.delete(groupToken(group))
  })
  if (failure !== undefined) {
    log.warn({ reason: failure }, 'orphaned containers could not be looked for')
    return { removed: [], kept: [] }
  }
  const removed: string[] = []
  const kept: string[] = []
  for (const group of orphans) {
    const gone = await attempt(() => engine.remove(group))
    if (gone.ok) removed.push(group)
    else kept.push(group)
  }
  if (orphans.size > 0) log.info({ removed, kept }, 'orphaned containers were swept')
  return { removed, kept }
}
