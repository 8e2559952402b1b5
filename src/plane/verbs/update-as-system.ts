/**
 * Changes a stored resource in the installation's name, without a request (tokens that were refreshed, a login that
 * succeeded again). It checks no permission and opens no operation.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import { auditVersion, changesOf, recordActivity, systemInitiator } from '../audit.ts'
import { appendToFeed, isStored } from '../compiled-type.ts'
import type { Resource } from '../declare/resource.ts'
import { idOfKey, type PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { transactOn } from '../transact-on.ts'

/**
 * Hands the resource to `change` in a transaction and writes the returned model; does nothing where `change` returns
 * nothing or the resource is missing. `change` may run more than once, so it must have no side effects. Resolves to
 * whether anything was written.
 */
export async function updateAsSystem(
  deps: PlaneDependencies,
  id: ResourceId | string,
  change: (resource: Resource) => unknown,
): Promise<boolean> {
  const at = typeof id === 'string' ? idOfKey(id.toLowerCase()) : id
  const last = at.segments.at(-1)
  const compiled = last === undefined ? undefined : deps.registry.find(last.namespace, last.types)
  if (!isStored(compiled)) throw new Error(`nothing is stored at ${at.text}`)
  if (compiled.reconcile !== undefined) {
    throw new Error(`${compiled.fullType} is updated by its reconciler`)
  }
  return transactOn(deps, compiled, async (tx) => {
    const row = await tx.lock(at.key, 'change')
    if (row === undefined) return false
    const current = readRow(row)
    const model = change(current)
    if (model === undefined) return false
    const next: StoredResource = {
      ...current,
      model,
      etag: deps.ids.uuid(),
      generation: current.generation + 1,
    }
    await tx.update(writeRow(compiled, next), current.etag)
    await appendToFeed(tx, compiled, at.key)
    const version = auditVersion(compiled, '')
    const changes = changesOf(deps, { compiled, version, before: current, after: next })
    await recordActivity(tx, {
      at: deps.clock.now(),
      initiator: systemInitiator,
      action: compiled.permissions.write,
      target: current.id,
      status: 'Succeeded',
      ...(changes === undefined ? {} : { changes }),
    })
    return true
  })
}
