/** Writes the resources that a PUT creates below its own (`brings`), in the PUT's transaction. */

import { refuse } from '#kernel/error.ts'
import { sameJson } from '#kernel/patch.ts'
import { childOf, type ResourceId } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import { isCut } from '#stores/list-budget.ts'
import type { Prohibitions } from '../access.ts'
import { auditVersion, changesOf, recordActivity } from '../audit.ts'
import { appendToFeed, type CompiledStoredType } from '../compiled-type.ts'
import type { DeclaredChildren } from '../declare/stored.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { authorizationFailed, prohibitedError } from '../grant.ts'
import { askGuards } from '../guard.ts'
import { removeBelow, requireNothingForbidden } from './remove-below.ts'
import type { ChildrenRights } from './rights-before.ts'
import type { Write } from './write.ts'

/** Rows below that may be read and replaced, including the children of those that are removed. */
const rowsMax = 5000
/** Characters of those rows: others wait for the transaction that reads them. */
const charactersMax = 16 * 1024 * 1024

/** Resolves to whether anything changed. */
export async function replaceChildren(write: Write): Promise<boolean> {
  const { brought: allowed } = write.rights
  if (allowed === undefined) return false
  const { compiled, brought, prohibitions } = allowed
  await requireRights(write, allowed)
  const { keys, charactersLeft } = await childrenOf(write, compiled)
  const wanted = wantedOf(write, brought)
  await requireNotProhibited(write, { compiled, wanted, prohibitions })
  let changed = false
  const left: Left = { rows: rowsMax, characters: charactersLeft }
  const before = new Map<string, StoredResource>()
  for (const key of keys) {
    const row = await write.tx.lock(key, 'change')
    if (row === undefined) continue
    const current = readRow(row)
    const model = wanted.get(key)?.model
    if (model !== undefined && sameJson(model, current.model)) {
      wanted.delete(key)
      continue
    }
    changed = true
    before.set(key, current)
    // Removals come first, so that no unique key of a removed resource blocks a new one.
    if (model === undefined) {
      await removeAllBelow(write, { id: current.id, left, prohibitions })
    }
    await write.tx.remove(key, row.etag)
    if (model === undefined) await record(write, compiled, current, undefined)
  }
  for (const { id, model } of wanted.values()) {
    const old = before.get(id.key)
    const next: StoredResource = {
      id: old?.id ?? id,
      systemData: stampSystemData(old?.systemData, write.input.principal, write.now),
      state: 'Succeeded',
      model,
      etag: write.deps.ids.uuid(),
      generation: (old?.generation ?? 0) + 1,
      deleting: false,
    }
    await write.tx.insert(writeRow(compiled, next))
    await record(write, compiled, old, next)
    changed = true
  }
  return changed
}

/** What may still be read and removed. */
interface Left {
  rows: number
  characters: number
}

/** Their keys: together they may be more than should be in memory at once. */
async function childrenOf(
  { deps, tx, id }: Write,
  { key: type }: CompiledStoredType,
): Promise<{ readonly keys: readonly string[]; readonly charactersLeft: number }> {
  const keys: string[] = []
  let charactersLeft = charactersMax
  let after: string | undefined
  do {
    const query = {
      type,
      under: id.key,
      ...(after === undefined ? {} : { after }),
      limit: rowsMax - keys.length,
      bytesMax: deps.limits.pageBytesMax,
    }
    const rows = await tx.list(query)
    for (const { key, document } of rows) {
      charactersLeft -= document.length
      keys.push(key)
    }
    if (charactersLeft < 0) throw tooLarge()
    after = isCut(rows, query) ? rows.at(-1)?.key : undefined
  } while (after !== undefined && keys.length < rowsMax)
  return { keys, charactersLeft }
}

function tooLarge(): Error {
  const reason = `what it replaces has more than ${charactersMax} characters, the most at once; delete some of it before`
  return refuse.InvalidRequestContent({ reason })
}

/** As with DELETE: children left behind, rights included, would reappear under the next resource of that name. */
async function removeAllBelow(
  { deps, tx, initiator, input: { principal } }: Write,
  { id, left, prohibitions }: Going,
): Promise<void> {
  await requireNothingForbidden(deps, tx, { id, principal, prohibitions })
  const { removed, remaining, cutAt, charactersLeft } = await removeBelow(deps, tx, {
    id,
    initiator,
    max: left.rows,
    charactersMax: left.characters,
    onReconciled(below) {
      throw refuse.Conflict({ id: below.id })
    },
  })
  if (cutAt !== undefined) throw tooLarge()
  if (remaining > 0) throw refuse.Conflict({ id: id.text })
  left.rows -= removed
  left.characters = charactersLeft ?? left.characters
}

async function requireNotProhibited(
  { tx, input: { principal } }: Write,
  { compiled, wanted, prohibitions }: Coming,
): Promise<void> {
  if (prohibitions === undefined) return
  const action = compiled.permissions.write
  for (const { id: scope } of wanted.values()) {
    const pause = tx.pause()
    if (pause !== undefined) await pause
    const found = prohibitions.find({ action, scope })
    if (found !== undefined) throw prohibitedError({ action, scope }, principal, found)
  }
}

interface Going {
  readonly id: ResourceId
  readonly left: Left
  readonly prohibitions: Prohibitions | undefined
}

interface Coming {
  readonly compiled: CompiledStoredType
  readonly wanted: Wanted
  readonly prohibitions: Prohibitions | undefined
}

type Wanted = Map<string, { readonly id: StoredResource['id']; readonly model: unknown }>

function wantedOf({ id }: Write, { type, items }: DeclaredChildren): Wanted {
  const word = type.slice(type.lastIndexOf('/') + 1)
  return new Map(
    items.map(({ name, model }) => {
      const child = childOf(id, word, name)
      return [child.key, { id: child, model }]
    }),
  )
}

async function requireRights(
  { id, context: { reader, words }, input, deps, tx }: Write,
  { compiled, missing }: ChildrenRights,
): Promise<void> {
  if (missing !== undefined) {
    throw authorizationFailed({ action: missing, scope: id }, input.principal)
  }
  // What is replaced must be removable: a lock below it forbids that.
  const below = await tx.count({ type: compiled.key, under: id.key, limit: rowsMax })
  if (below >= rowsMax) throw refuse.Conflict({ id: id.text })
  if (below === 0) return
  await askGuards(deps.guards, { id, type: compiled.stored.type, effect: 'delete', words, reader })
}

async function record(
  write: Write,
  compiled: CompiledStoredType,
  before: StoredResource | undefined,
  after: StoredResource | undefined,
): Promise<void> {
  const { deps, tx, now, initiator, route } = write
  const target = after ?? before
  if (target === undefined) return
  await appendToFeed(tx, compiled, target.id.key)
  const version = auditVersion(compiled, route.version)
  const changes = changesOf(deps, { compiled, version, before, after })
  await recordActivity(tx, {
    at: now,
    initiator,
    action: compiled.permissions[after === undefined ? 'delete' : 'write'],
    target: target.id,
    status: 'Succeeded',
    ...(changes === undefined ? {} : { changes }),
  })
}
