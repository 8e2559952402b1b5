/**
 * Writes and removes resources in the installation's name, for types that callers can only read. It checks no
 * permission, guard or rule, and is recorded as the installation's change.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import {
  auditVersion,
  changesOf,
  installationPrincipal,
  recordActivity,
  systemInitiator,
} from '../audit.ts'
import { appendToFeed, isStored } from '../compiled-type.ts'
import { idOfKey, insideContextOf, type PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { impliedScopes, missingScope } from '../scopes.ts'
import { transactOn } from '../transact-on.ts'
import { checkBody } from './write.ts'

export async function storeAsSystem(
  deps: PlaneDependencies,
  given: ResourceId | string,
  version: string,
  body: object | undefined,
): Promise<void> {
  const id = typeof given === 'string' ? idOfKey(given) : given
  const last = id.segments.at(-1)
  const compiled = last === undefined ? undefined : deps.registry.find(last.namespace, last.types)
  const shape = compiled && auditVersion(compiled, version)
  if (!isStored(compiled) || shape === undefined || compiled.reconcile !== undefined) {
    throw new Error(`nothing is stored at ${id.text}, or its reconciler writes it`)
  }
  const principal = installationPrincipal
  const checked = body && checkBody({ compiled, shape }, body)
  await transactOn(deps, compiled, async (tx) => {
    const now = deps.clock.now()
    for (const scope of impliedScopes(id)) {
      if ((await tx.lock(scope.key, 'share')) === undefined && checked !== undefined) {
        throw missingScope(scope)
      }
    }
    const row = await tx.lock(id.key, 'change')
    const before = row === undefined ? undefined : readRow(row)
    if (checked === undefined) {
      if (row === undefined) return
      await tx.remove(row.key, row.etag)
    }
    const context = insideContextOf(deps, { principal, correlationId: '' }, now, tx)
    const after: StoredResource | undefined = checked && {
      id: before?.id ?? id,
      systemData: stampSystemData(before?.systemData, principal, now),
      state: 'Succeeded',
      model: shape.toModel(checked as never, before?.model, context),
      etag: deps.ids.uuid(),
      generation: (before?.generation ?? 0) + 1,
      deleting: false,
    }
    if (after !== undefined) {
      const next = writeRow(compiled, after)
      if (before === undefined) await tx.insert(next)
      else await tx.update(next, before.etag)
    }
    await appendToFeed(tx, compiled, id.key)
    const changes = changesOf(deps, { compiled, version: shape, before, after })
    await recordActivity(tx, {
      at: now,
      initiator: systemInitiator,
      action: compiled.permissions[after === undefined ? 'delete' : 'write'],
      target: id,
      status: 'Succeeded',
      ...(changes === undefined ? {} : { changes }),
    })
  })
}
