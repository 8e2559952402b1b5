/** An entry of the table of types: a declaration with everything that can be computed from it before any request. */

import type { TSchema } from 'typebox'
import type { ApiError, ErrorFamily, Problem } from '#kernel/error.ts'
import type { Tx } from '#stores/store.ts'
import type { Action } from './declare/action.ts'
import type { Source } from './declare/computed.ts'
import type { ResourceType } from './declare/provider.ts'
import type { ReconciledType, Reconciler } from './declare/reconciled.ts'
import type { StoredType, StoredVerb } from './declare/stored.ts'
import type { Version } from './declare/wire.ts'

export interface CompiledType {
  readonly declaration: ResourceType
  /** The declaration, where resources of the type are stored. */
  readonly stored: StoredType | ReconciledType | undefined
  readonly reconcile: Reconciler<unknown> | undefined
  readonly source: Source | undefined
  /** The schema of an item, where a computed type declares one. */
  readonly answer?: TSchema | undefined
  readonly actions: Readonly<Record<string, Action<unknown>>>
  /** Finds an action by name, for types whose actions are not listed in advance. */
  readonly findAction?: (name: string) => Action<unknown> | undefined
  readonly collectionActions: { readonly POST?: Action<unknown>; readonly GET?: Action<unknown> }
  /** True when any signed-in caller may list. */
  readonly isOpenList: boolean
  /** True when a caller with a role at something below the scope may list. */
  readonly isPartlyListed: boolean
  /** `Vendor.Authorization` */
  readonly namespace: string
  /** `Vendor.Authorization/roleAssignments`. It identifies the type; rows hold it in lower case. */
  readonly fullType: string
  readonly key: string
  /** The value of `type` on the wire. */
  readonly wireType: string
  /** `Vendor.Authorization/roleAssignments`; an action name adds `/read` and so on. */
  readonly permission: string
  /**
   * `Vendor.Authorization/roleAssignments/read` and so on. Built once, since every request is checked against one of
   * them.
   */
  readonly permissions: Readonly<Record<'read' | 'write' | 'delete', string>>
  /** `['accounts', 'shares']` */
  readonly words: readonly string[]
  readonly versions: ReadonlyMap<string, Version<unknown>>
  /** The dates of its versions, newest first; `any` for types that are served in every version. */
  readonly dates: readonly string[] | 'any'
  /** Further dates that are answered in one of these versions, newest first. */
  readonly compatible: readonly string[]
  readonly verbs: ReadonlySet<StoredVerb>
  readonly errorFamily: ErrorFamily
  readonly refuseProblems: (problems: readonly Problem[]) => ApiError
}

export interface CompiledStoredType extends CompiledType {
  readonly stored: StoredType | ReconciledType
}

export function isStored(type: CompiledType | undefined): type is CompiledStoredType {
  return type?.stored !== undefined
}

/** True when writes of the type open operations. */
export function isLongRunning({ reconcile }: Pick<CompiledType, 'reconcile'>): boolean {
  return reconcile !== undefined && reconcile.background === undefined
}

/** The permission of an action, by the action's name in the path. An action of a collection has none. */
export function permissionOf(
  { permission }: Pick<CompiledType, 'permission'>,
  action: Pick<Action<unknown>, 'method' | 'permission'>,
  name?: string,
): string {
  if (action.permission !== undefined) return `${permission}/${action.permission}`
  const named = name === undefined ? permission : `${permission}/${name}`
  return `${named}/${action.method === 'GET' ? 'read' : 'action'}`
}

/** Does nothing for a type whose feed nobody follows. */
export async function appendToFeed(
  tx: Pick<Tx, 'follow'>,
  compiled: CompiledStoredType | undefined,
  key: string,
): Promise<void> {
  const feed = compiled?.stored.feed
  if (feed !== undefined) await tx.follow(feed, key)
}
