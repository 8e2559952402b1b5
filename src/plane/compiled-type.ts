/** A row of the table of types: a declaration, with everything that can be known of it before any request. */

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
  /** Of a computed type, where it declares one. */
  readonly answer?: TSchema | undefined
  readonly actions: Readonly<Record<string, Action<unknown>>>
  /** Actions that are known by their names when they are asked for. */
  readonly findAction?: (name: string) => Action<unknown> | undefined
  readonly collectionActions: { readonly POST?: Action<unknown>; readonly GET?: Action<unknown> }
  /** Any signed-in caller may list. */
  readonly isOpenList: boolean
  /** Whoever has a role below may list. */
  readonly isPartlyListed: boolean
  /** `Vendor.Authorization` */
  readonly namespace: string
  /** `Vendor.Authorization/roleAssignments`: identity of the type, as in rows (there in lower case). */
  readonly fullType: string
  readonly key: string
  /** What `type` says on the wire. */
  readonly wireType: string
  /** `Vendor.Authorization/roleAssignments`, to which `/read` and so on are added. */
  readonly permission: string
  /** `Vendor.Authorization/roleAssignments/read`. Made once, since every request is asked about one of them. */
  readonly permissions: Readonly<Record<'read' | 'write' | 'delete', string>>
  /** `['accounts', 'shares']` */
  readonly words: readonly string[]
  readonly versions: ReadonlyMap<string, Version<unknown>>
  /** Of its shapes, newest first; `any` for types that have no shape. */
  readonly dates: readonly string[] | 'any'
  /** Served in one of these shapes besides, newest first. */
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

/** Do its writes open operations? */
export function isLongRunning({ reconcile }: Pick<CompiledType, 'reconcile'>): boolean {
  return reconcile !== undefined && reconcile.background === undefined
}

/** What an action takes, by its name in the path; one of a collection has none. */
export function permissionOf(
  { permission }: Pick<CompiledType, 'permission'>,
  action: Pick<Action<unknown>, 'method' | 'permission'>,
  name?: string,
): string {
  if (action.permission !== undefined) return `${permission}/${action.permission}`
  const named = name === undefined ? permission : `${permission}/${name}`
  return `${named}/${action.method === 'GET' ? 'read' : 'action'}`
}

/** Only a type whose feed is followed has one. */
export async function appendToFeed(
  tx: Pick<Tx, 'follow'>,
  compiled: CompiledStoredType | undefined,
  key: string,
): Promise<void> {
  const feed = compiled?.stored.feed
  if (feed !== undefined) await tx.follow(feed, key)
}
