/** Loads the index of grants from the store, and keeps it at the position of the feed. */

import { parseResourceId } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { forEverybody } from '#plane/behalf-of.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import type { PlacedScopes } from '#plane/placed-scopes.ts'
import { type DenyAssignment, denyAssignmentType } from '../resources/deny-assignments/model.ts'
import type { RoleAssignment } from '../resources/role-assignments/model.ts'
import type { RoleDefinition } from '../resources/role-definitions/model.ts'
import { builtInRoles } from './built-in-roles.ts'
import { createConditionReader } from './conditions/read.ts'
import type { Position } from './freshness.ts'
import { createGrantIndex, type GrantIndex } from './grant-index.ts'
import { defaultAuthorizationLimits } from './limits.ts'

/** An ordered log of changed keys (the store's `Feed`). */
export interface ChangeFeed {
  /**
   * Always current: a change acknowledged anywhere is seen by the next call. Synchronous when that costs nothing.
   */
  position(): Position
  /** Who gave the last position, where another may take its place that lost changes. */
  readonly server?: string | undefined
  /** The keys changed after `position`, oldest first, with the position of the last. */
  since(
    position: number,
    limit: number,
  ): Promise<{ readonly position: number; readonly keys: readonly string[] }>
}

interface GrantLoader {
  /** Brings the index from one position of the feed to another, or a later one. */
  catchUp(from: number | undefined, to: number): Promise<number>
  loaded(): GrantIndex
  /** `undefined` before the first load. */
  assignmentsOf(roleId: string): ReadonlySet<string> | undefined
  /** 0 before the first load. */
  sizeOfOthers: GrantIndex['sizeOfOthers']
}

const rowsAtOnce = 1000
const ownTypes = [
  'Authorization/roleDefinitions',
  'Authorization/roleAssignments',
  denyAssignmentType,
] as const

/** `onChange`: earlier decisions by the index are void. */
export function createGrantLoader(
  {
    words,
    feed,
    reader,
    placed,
  }: {
    readonly words: VendorWords
    readonly feed: ChangeFeed
    readonly reader: Pick<Reader, 'get' | 'each'>
    readonly placed?: PlacedScopes
  },
  onChange: () => void,
): GrantLoader {
  const builtIns = builtInRoles(words)
  const roleType = `${qualify(words, 'Authorization').toLowerCase()}/roledefinitions`
  const denyType = qualify(words, denyAssignmentType).toLowerCase()
  const readCondition = createConditionReader(words, defaultAuthorizationLimits)
  let index: GrantIndex | undefined

  async function catchUp(from: number | undefined, to: number): Promise<number> {
    if (from === undefined || index === undefined) {
      index = await load()
      onChange()
      return to
    }
    let at = from
    while (at < to) {
      const { position, keys } = await feed.since(at, rowsAtOnce)
      if (position <= at) throw new Error('the authorization feed moved, but lists no change')
      for (const key of new Set(keys)) put(index, key, await reader.get(key))
      at = position
      onChange()
    }
    return at
  }

  /** Rows may change during this read; changes after the position are read again by `catchUp`. */
  async function load(): Promise<GrantIndex> {
    const fresh = createGrantIndex(builtIns, readCondition)
    for (const type of [...ownTypes, ...(placed?.types ?? [])]) {
      // A role may have a megabyte, so they are not read a thousand at a time.
      for await (const row of reader.each({ type, under: '/' })) put(fresh, row.id.key, row)
    }
    return fresh
  }

  function put(into: GrantIndex, key: string, row: Resource | undefined): void {
    if (row === undefined) {
      into.remove(key)
      return
    }
    const placement = placed?.placementOf(row)
    if (placement !== undefined) {
      into.putPlacement(key, placement)
      return
    }
    const last = parseResourceId(key)?.segments.at(-1)
    const type = `${last?.namespace}/${last?.types.join('/')}`.toLowerCase()
    // The feed carries only these three types, and their own `toModel` made their models.
    if (type === roleType) {
      into.putRole(row as Resource<RoleDefinition>)
    } else if (type === denyType) {
      into.putDenial(row as Resource<DenyAssignment>)
    } else {
      into.putAssignment(row as Resource<RoleAssignment>)
    }
  }

  return {
    // Whoever is the first to notice, everybody waits for it.
    catchUp: (from, to) => forEverybody(() => catchUp(from, to)),
    loaded() {
      if (index === undefined) throw new Error('the index of assignments is not loaded')
      return index
    },
    assignmentsOf: (roleId) => index?.assignmentsOf(roleId),
    sizeOfOthers: (roleId, subscription) => index?.sizeOfOthers(roleId, subscription) ?? 0,
  }
}
