/**
 * Refreshes tokens before they expire. Every replica checks; the one that takes the lease of a connection refreshes
 * it. Resource groups do not wait for each other: their identity providers may be slow on purpose.
 */

import { type ResourceId, resourceGroupOf, rootId } from '#kernel/resource-id.ts'
import { startRounds } from '#kernel/rounds.ts'
import type { ConsentDependencies } from '../../dependencies.ts'
import type { Authorization } from '../../resources/authorizations/model.ts'
import { types } from './model.ts'
import { isDue, refresh } from './tokens.ts'

const everyMilliseconds = 20_000
/** The number of concurrent refreshes for one resource group. */
const atOnce = 4
/** What a resource group does not finish in a round waits for the next one. */
const groupMilliseconds = 30_000

export function startRefreshing(deps: ConsentDependencies): AsyncDisposable {
  return startRounds(deps.timers, everyMilliseconds, async (isStopped) => {
    try {
      await refreshDue(deps, isStopped)
    } catch (error) {
      deps.log.warn({ error: String(error) }, 'tokens wait to be refreshed')
    }
    return everyMilliseconds
  })
}

export async function refreshDue(
  deps: ConsentDependencies,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const groups = Map.groupBy(await allDue(deps, isStopped), groupOf)
  await Promise.all(
    [...groups.values()].map(async (due) => {
      const until = deps.clock.now() + groupMilliseconds
      for (let at = 0; at < due.length && !isStopped() && deps.clock.now() < until; at += atOnce) {
        await Promise.all(due.slice(at, at + atOnce).map((id) => refresh(deps, id.key)))
      }
    }),
  )
}

function groupOf(id: ResourceId): string {
  // An authorization is in a resource group of a subscription.
  return `${id.segments[0]?.names[0]}/${resourceGroupOf(id)}`.toLowerCase()
}

async function allDue(
  deps: ConsentDependencies,
  isStopped: () => boolean,
): Promise<readonly ResourceId[]> {
  const found: ResourceId[] = []
  const query = { type: types.authorizations, under: rootId }
  for await (const { id, model } of deps.services.reader.each(query)) {
    if (isStopped()) break
    // The type's `toModel` made the rows.
    if (isDue(model as Authorization, deps.clock.now())) found.push(id)
  }
  return found
}
