/**
 * A change of a stored resource that no request asked for: the installation's own, in the name of nobody (tokens
 * that were refreshed, a login that came back). It asks no permission and opens no operation.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Resource } from '../define.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { idOfKey, type Parts } from '../parts.ts'
import { changesOf, ownTrail, recordActivity, versionOf } from '../trail.ts'

/**
 * Hands the resource to `change` in a transaction and writes the model it answers; nothing where it answers nothing,
 * or where no resource is. `change` may run more than once, so it has no effects of its own. Was it written?
 */
export async function amend(
  parts: Parts,
  id: ResourceId | string,
  change: (resource: Resource) => unknown,
): Promise<boolean> {
  const at = typeof id === 'string' ? idOfKey(id.toLowerCase()) : id
  const last = at.segments.at(-1)
  const compiled = last === undefined ? undefined : parts.registry.find(last.namespace, last.types)
  if (compiled === undefined) throw new Error(`nothing is stored at ${at.text}`)
  if (compiled.declaration.reconcile !== undefined) {
    throw new Error(`${compiled.fullType} is amended by its reconciler`)
  }
  return parts.store.transact(async (tx) => {
    const row = await tx.lock(at.key, 'change')
    if (row === undefined) return false
    const current = readRow(row)
    const model = change(current)
    if (model === undefined) return false
    const next: StoredResource = {
      ...current,
      model,
      etag: parts.ids.uuid(),
      generation: current.generation + 1,
    }
    await tx.update(writeRow(compiled, next), current.etag)
    if (compiled.declaration.feed !== undefined) await tx.follow(compiled.declaration.feed, at.key)
    const version = versionOf(compiled, '')
    const changes = changesOf(parts, { compiled, version, before: current, after: next })
    await recordActivity(tx, {
      at: parts.clock.now(),
      trail: ownTrail,
      action: `${compiled.permission}/write`,
      target: current.id,
      status: 'Succeeded',
      ...(changes === undefined ? {} : { changes }),
    })
    return true
  })
}
