/**
 * Rows are removed: one, or those below an id in bounded numbers, with what the audit trail says of them. Whether they may go
 * is for its callers to decide; deny assignments are looked at here.
 */

import type { Initiator } from '#activity/record.ts'
import { type ApiError, refuse } from '#kernel/error.ts'
import { isTerminalState } from '#kernel/operation.ts'
import type { Principal } from '#kernel/principal.ts'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { isCut } from '#stores/list-budget.ts'
import type { Reads, ResourceRow, Tx } from '#stores/store.ts'
import type { Prohibitions } from '../access.ts'
import { recordActivity } from '../audit.ts'
import { appendToFeed, type CompiledStoredType } from '../compiled-type.ts'
import { idOfKey, type PlaneDependencies } from '../dependencies.ts'
import { readRow } from '../document.ts'
import { prohibitedError } from '../grant.ts'
import { freeTurn } from '../next-turn.ts'
import { transactOn } from '../transact-on.ts'

/** Rows removed in one transaction at most. */
export const removalsMax = 200
/** Characters of the rows that one transaction reads to remove them: whoever else writes may wait for it. */
export const removalCharactersMax = 2 * 1024 * 1024

export async function removeRow(
  tx: Tx,
  compiled: CompiledStoredType | undefined,
  row: ResourceRow,
): Promise<void> {
  await tx.remove(row.key, row.etag)
  await appendToFeed(tx, compiled, row.key)
}

/** The same, with what the audit trail says of it. */
export async function removeRecorded(
  deps: PlaneDependencies,
  tx: Tx,
  compiled: CompiledStoredType | undefined,
  { row, initiator }: { readonly row: ResourceRow; readonly initiator: Initiator },
): Promise<void> {
  await removeRow(tx, compiled, row)
  await recordActivity(tx, {
    at: deps.clock.now(),
    initiator,
    action: deleteOf(deps, row),
    target: { text: row.id, key: row.key },
    status: 'Succeeded',
  })
}

/** What is attached to a resource without being a part of it. It ends where the resource is: what comes there later is another. */
export const attachedType = 'Authorization/roleAssignments'

/**
 * For what is no row: what is attached to its id would hold for the next one that has it. `requireMayGo` is called before
 * something is removed.
 */
export async function removeAttached(
  deps: PlaneDependencies,
  id: ResourceId,
  initiator: Initiator,
  requireMayGo?: (tx: Tx) => Promise<void>,
): Promise<void> {
  const { registry } = deps
  const compiled = registry.byKey(qualify(registry.words, attachedType).toLowerCase())
  if (compiled === undefined) return
  const query = { type: compiled.key, under: id.key, limit: removalsMax }
  // Mostly there are none, and whoever writes rights waits for the transaction.
  if ((await deps.store.count({ ...query, limit: 1 })) === 0) return
  for (let found = removalsMax; found === removalsMax; ) {
    found = await transactOn(deps, compiled, async (tx) => {
      const rows = await tx.list(query)
      if (rows.length > 0) await requireMayGo?.(tx)
      for (const { key } of rows) {
        const row = await tx.lock(key, 'change')
        if (row === undefined) continue
        await removeRecorded(deps, tx, compiled, { row, initiator })
      }
      return rows.length
    })
  }
}

interface Below {
  readonly id: ResourceId
  readonly principal: Principal
  readonly prohibitions: Prohibitions | undefined
}

/** Deny assignments must not forbid the caller what is removed along with it. Costs nothing where there are none. */
export async function requireNothingForbidden(
  deps: PlaneDependencies,
  reads: Reads | Tx,
  { id, principal, prohibitions }: Below,
): Promise<void> {
  if (prohibitions === undefined) return
  for await (const row of rowsBelow(deps, reads, id.key)) {
    const refusal = refusalOf(deps, row, { principal, prohibitions })
    if (refusal !== undefined) throw refusal
    const turn = 'lock' in reads ? reads.pause() : freeTurn(principal.id)
    if (turn !== undefined) await turn
  }
}

/** What was found before a transaction. */
export interface ForbiddenBelow {
  readonly refusal: ApiError | undefined
  /** It is more than a transaction should read once more. Whoever denies something meanwhile changes rights. */
  readonly isLarge: boolean
}

/** The same before a transaction, in turns of the loop. */
export async function findForbidden(
  deps: PlaneDependencies,
  { id, principal, prohibitions }: Below,
): Promise<ForbiddenBelow> {
  let characters = 0
  if (prohibitions === undefined) return { refusal: undefined, isLarge: false }
  for await (const row of rowsBelow(deps, deps.store, id.key)) {
    characters += row.document.length
    const isLarge = characters > removalCharactersMax
    const refusal = refusalOf(deps, row, { principal, prohibitions })
    if (refusal !== undefined) return { refusal, isLarge }
    await freeTurn(principal.id)
  }
  return { refusal: undefined, isLarge: characters > removalCharactersMax }
}

function refusalOf(
  deps: PlaneDependencies,
  row: ResourceRow,
  { principal, prohibitions }: Pick<Below, 'principal'> & { readonly prohibitions: Prohibitions },
): ApiError | undefined {
  const action = deps.registry.byKey(row.type)?.permissions.delete
  const scope = idOfKey(row.id)
  const found = action === undefined ? undefined : prohibitions.find({ action, scope })
  if (action === undefined || found === undefined) return undefined
  return prohibitedError({ action, scope }, principal, found)
}

export function onReconciled(below: ResourceRow): never {
  throw refuse.Conflict({ id: below.id })
}

export interface RemovalProgress {
  readonly removed: number
  /** The number of resources left, counted up to a bound; 0 only when nothing is left. */
  readonly remaining: number
  /** The last key that was looked at, where those before had too many characters to go on in this transaction. */
  readonly cutAt?: string
  /** What is left of the characters that may be read. */
  readonly charactersLeft?: number
}

interface RemovalBelow {
  readonly id: ResourceId
  readonly initiator: Initiator
  /** The most that may be removed. */
  readonly max?: number
  /** The transaction ends with the row that reaches this. */
  readonly charactersMax?: number
  /** Only rows after this key. */
  readonly after?: string | undefined
  /** Called for each resource that its reconciler has to remove; it is not removed here. */
  onReconciled(row: ResourceRow): Promise<void> | void
}

export async function removeBelow(
  deps: PlaneDependencies,
  tx: Tx,
  { id, initiator, max = removalsMax, charactersMax, after, onReconciled }: RemovalBelow,
): Promise<RemovalProgress> {
  let seen = 0
  let removed = 0
  let left = charactersMax ?? Number.POSITIVE_INFINITY
  let last = ''
  let first = after
  do {
    // Two rows more: one tells whether that is all, one is the scope itself.
    const query = { limit: max - seen + 2, after: first }
    for await (const { key, document } of rowsBelow(deps, tx, id.key, query)) {
      if (left <= 0) return { removed, remaining: seen - removed + 1, cutAt: last }
      if (key === id.key || ++seen > max) continue
      left -= document.length
      last = key
      const row = await tx.lock(key, 'change')
      if (row === undefined) continue
      const compiled = deps.registry.byKey(row.type)
      if (compiled?.reconcile !== undefined && !isRecordAlone(compiled, row)) {
        await onReconciled(row)
        continue
      }
      await removeRecorded(deps, tx, compiled, { row, initiator })
      if (compiled?.reconcile !== undefined) await tx.unschedule(row.key)
      removed++
    }
    first = undefined
    // A child may have been created below a row before that row was locked. Once more is enough: nothing can be
    // created below a removed row.
  } while (seen === removed && (await holdsAny(tx, id.key)))
  return { removed, remaining: seen - removed, charactersLeft: left }
}

/** By the id, since the row has the name of its type in small letters, and of a type that nobody serves no more is known. */
function deleteOf({ registry }: PlaneDependencies, row: ResourceRow): string {
  const last = parseResourceId(row.id)?.segments.at(-1)
  const compiled = last && registry.find(last.namespace, last.types)
  return compiled?.permissions.delete ?? `${row.type}/delete`
}

function isRecordAlone({ reconcile }: CompiledStoredType, row: ResourceRow): boolean {
  const { state, deleting } = readRow(row)
  return reconcile?.leavesNothing === true && !deleting && isTerminalState(state)
}

async function holdsAny(tx: Tx, under: string): Promise<boolean> {
  const rows = await tx.list({ under, limit: 2 })
  return rows.some(({ key }) => key !== under)
}

/** Rows at or below a scope, in chunks bounded in bytes. */
export async function* rowsBelow(
  { limits }: PlaneDependencies,
  reads: Reads,
  under: string,
  {
    limit = Number.POSITIVE_INFINITY,
    after: first,
    bytesMax = limits.pageBytesMax,
  }: {
    readonly limit?: number
    readonly after?: string | undefined
    readonly bytesMax?: number
  } = {},
): AsyncGenerator<ResourceRow> {
  let after = first
  for (let left = limit; left > 0; ) {
    const query = {
      under,
      ...(after === undefined ? {} : { after }),
      limit: Math.min(left, removalsMax),
      bytesMax,
    }
    const rows = await reads.list(query)
    yield* rows
    left -= rows.length
    after = rows.at(-1)?.key
    if (after === undefined || !isCut(rows, query)) return
  }
}
