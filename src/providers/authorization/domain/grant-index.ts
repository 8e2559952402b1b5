/**
 * All assignments and custom roles in memory, by scope and principal. A change costs as much as a look-up. It knows
 * no store: the authorizer passes it rows and removed keys.
 */

import { nameOf, scopeOf } from '#kernel/resource-id.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { Placement } from '#plane/placed-scopes.ts'
import { type DenyAssignment, everybody } from '../resources/deny-assignments/model.ts'
import type { RoleAssignment } from '../resources/role-assignments/model.ts'
import {
  type CompiledPermissions,
  compilePermissions,
  type Permission,
  type RoleDefinition,
  sizeOfRole,
  subscriptionOfRole,
} from '../resources/role-definitions/model.ts'
import type { BuiltInRoles } from './built-in-roles.ts'
import type { ReadCondition } from './conditions/read.ts'
import type { Denial, Denials, Grant, Grants, Roles } from './decide.ts'

export interface GrantIndex extends Grants, Roles, Denials {
  /** Whether there is any deny assignment. */
  readonly hasDenials: boolean
  permissionsIn(roleId: string): readonly Permission[]
  /** Adds or replaces the assignment of a row. */
  putAssignment(row: Resource<RoleAssignment>): void
  putRole(row: Resource<RoleDefinition>): void
  putDenial(row: Resource<DenyAssignment>): void
  /** Adds or replaces the placement of a scope. */
  putPlacement(key: string, placement: Placement): void
  /** The key of the scope that contains a scope by placement; undefined when no row says so. */
  placeOf(scopeKey: string): string | undefined
  /** Removes whatever the key stood for; unknown keys are ignored. */
  remove(key: string): void
  /** The sizes of all custom roles but this one; of those of one subscription, where it is given. */
  sizeOfOthers(roleId: string, subscription?: string): number
  /** The keys of the assignments of a role. */
  assignmentsOf(roleId: string): ReadonlySet<string>
  /** The grants of all these principals, at any scope. It walks all grants, so only explanations use it. */
  of(principalIds: readonly string[]): readonly Grant[]
  readonly size: number
}

interface IndexedRole {
  readonly allows: CompiledPermissions
  readonly permissions: readonly Permission[]
  readonly size: number
  readonly subscription: string
}

function indexed(role: RoleDefinition): IndexedRole {
  return {
    allows: compilePermissions(role.permissions),
    permissions: role.permissions,
    size: sizeOfRole(role),
    subscription: subscriptionOfRole(role),
  }
}

/**
 * A stack denies the same at each of the resources that it manages, and may leave out hundreds of actions: what is equal is
 * in memory once.
 */
class SharedPermissions {
  readonly #known = new Map<string, SharedOne>()
  readonly #texts = new Map<CompiledPermissions, string>()

  take(text: string): CompiledPermissions {
    const known = this.#known.get(text)
    // The text was made of such a list.
    const one = known ?? {
      compiled: compilePermissions(JSON.parse(text) as Permission[]),
      users: 0,
    }
    one.users++
    if (known === undefined) {
      this.#known.set(text, one)
      this.#texts.set(one.compiled, text)
    }
    return one.compiled
  }

  release(compiled: CompiledPermissions): void {
    const text = this.#texts.get(compiled) ?? ''
    const one = this.#known.get(text)
    if (one === undefined || --one.users > 0) return
    this.#known.delete(text)
    this.#texts.delete(compiled)
  }
}

interface SharedOne {
  readonly compiled: CompiledPermissions
  users: number
}

function denialIn({ id, model }: Resource<DenyAssignment>, denies: CompiledPermissions): Denial {
  const principalIds = new Set(model.principals.map((one) => one.id))
  const [through, excluded] = [true, false].map((isThrough) =>
    model.excludePrincipals.filter(({ type }) => (type === 'SystemDefined') === isThrough),
  )
  return {
    key: id.key,
    name: model.denyAssignmentName,
    scopeKey: scopeOf(id).key,
    onlyHere: model.doNotApplyToChildScopes,
    principalIds: principalIds.has(everybody) ? undefined : principalIds,
    excludedIds: new Set(excluded?.map((one) => one.id)),
    throughIds: new Set(through?.map((one) => one.id)),
    denies,
  }
}

/** Built-in ones, and custom ones by the keys of their rows. */
class RolesById {
  readonly #builtIns: BuiltInRoles
  readonly #roles = new Map<string, IndexedRole>()
  readonly #idOfKey = new Map<string, string>()
  #customSize = 0
  /** Of them, those of a subscription. */
  readonly #sizes = new Map<string, number>()

  constructor(builtIns: BuiltInRoles) {
    this.#builtIns = builtIns
    for (const [roleId, role] of builtIns) this.#roles.set(roleId, indexed(role))
  }

  get(roleId: string): IndexedRole | undefined {
    return this.#roles.get(roleId)
  }

  put({ id, model }: Resource<RoleDefinition>): void {
    const roleId = nameOf(id).toLowerCase()
    // A built-in role is defined by the table, whatever a row says.
    if (this.#builtIns.has(roleId)) return
    this.remove(id.key)
    const role = indexed(model)
    this.#idOfKey.set(id.key, roleId)
    this.#roles.set(roleId, role)
    this.#add(role, role.size)
  }

  remove(key: string): void {
    const roleId = this.#idOfKey.get(key)
    if (roleId === undefined) return
    const role = this.#roles.get(roleId)
    if (role !== undefined) this.#add(role, -role.size)
    this.#idOfKey.delete(key)
    this.#roles.delete(roleId)
  }

  sizeOfOthers(roleId: string, subscription?: string): number {
    const role = this.#builtIns.has(roleId) ? undefined : this.#roles.get(roleId)
    if (subscription === undefined) return this.#customSize - (role?.size ?? 0)
    const own = role?.subscription === subscription ? role.size : 0
    return (this.#sizes.get(subscription) ?? 0) - own
  }

  #add({ subscription }: IndexedRole, size: number): void {
    this.#customSize += size
    const sum = (this.#sizes.get(subscription) ?? 0) + size
    if (sum === 0) this.#sizes.delete(subscription)
    else this.#sizes.set(subscription, sum)
  }
}

const none: ReadonlySet<string> = new Set()

export function createGrantIndex(builtIns: BuiltInRoles, readCondition: ReadCondition): GrantIndex {
  const byKey = new Map<string, Grant>()
  const byScope = new Map<string, Map<string, Grant[]>>()
  const byRole = new Map<string, Set<string>>()
  const roles = new RolesById(builtIns)
  const denials = new Map<string, Denial>()
  const denied = new SharedPermissions()
  const denialsByScope = new Map<string, readonly Denial[]>()
  /** The placements of scopes, and the row of each. */
  const places = new Map<string, string>()
  const placeKeys = new Map<string, Placement>()

  function removeGrant(key: string, grant: Grant): void {
    byKey.delete(key)
    const ofRole = byRole.get(grant.roleId)
    ofRole?.delete(key)
    if (ofRole?.size === 0) byRole.delete(grant.roleId)
    const made = byScope.get(grant.scopeKey)
    const remaining = made?.get(grant.principalId)?.filter((one) => one !== grant) ?? []
    if (remaining.length > 0) made?.set(grant.principalId, remaining)
    else made?.delete(grant.principalId)
    if (made?.size === 0) byScope.delete(grant.scopeKey)
  }

  function removeDenial({ key, scopeKey, denies }: Denial): void {
    denials.delete(key)
    denied.release(denies)
    const left = denialsByScope.get(scopeKey)?.filter((one) => one.key !== key) ?? []
    if (left.length > 0) denialsByScope.set(scopeKey, left)
    else denialsByScope.delete(scopeKey)
  }

  function remove(key: string): void {
    const denial = denials.get(key)
    if (denial !== undefined) removeDenial(denial)
    const grant = byKey.get(key)
    if (grant !== undefined) removeGrant(key, grant)
    roles.remove(key)
    const placed = placeKeys.get(key)
    if (placed === undefined) return
    placeKeys.delete(key)
    // Another row may place it by now: what is read while it moves to and fro has both.
    if (places.get(placed.scope) === placed.within) places.delete(placed.scope)
  }

  return {
    putAssignment({ id, model }) {
      remove(id.key)
      const grant: Grant = {
        key: id.key,
        principalId: model.principalId,
        isForGroup: model.principalType === 'Group' || model.principalType === 'ForeignGroup',
        roleId: model.roleId,
        scopeKey: scopeOf(id).key,
        condition: readCondition(model),
      }
      byKey.set(id.key, grant)
      const ofRole = byRole.get(grant.roleId)
      if (ofRole === undefined) byRole.set(grant.roleId, new Set([grant.key]))
      else ofRole.add(grant.key)
      let made = byScope.get(grant.scopeKey)
      if (made === undefined) {
        made = new Map()
        byScope.set(grant.scopeKey, made)
      }
      const here = made.get(grant.principalId)
      if (here === undefined) made.set(grant.principalId, [grant])
      else here.push(grant)
    },
    putRole: (row) => roles.put(row),
    putDenial(row) {
      remove(row.id.key)
      const denial = denialIn(row, denied.take(JSON.stringify(row.model.permissions)))
      denials.set(denial.key, denial)
      const here = denialsByScope.get(denial.scopeKey) ?? []
      denialsByScope.set(denial.scopeKey, [...here, denial])
    },
    // The key of a scope may be a text that was made just now: where nothing is denied it need not be hashed.
    deniedAt: (scopeKey) => (denials.size === 0 ? undefined : denialsByScope.get(scopeKey)),
    get hasDenials() {
      return denials.size > 0
    },
    putPlacement(key, placement) {
      remove(key)
      placeKeys.set(key, placement)
      places.set(placement.scope, placement.within)
    },
    placeOf: (scopeKey) => places.get(scopeKey),
    remove,
    madeAt: (scopeKey) => byScope.get(scopeKey),
    of(principalIds) {
      const ids = new Set(principalIds)
      return [...byKey.values()].filter((grant) => ids.has(grant.principalId))
    },
    permissionsOf: (roleId) => roles.get(roleId)?.allows,
    permissionsIn: (roleId) => roles.get(roleId)?.permissions ?? [],
    sizeOfOthers: (roleId, subscription) => roles.sizeOfOthers(roleId, subscription),
    assignmentsOf: (roleId) => byRole.get(roleId) ?? none,
    get size() {
      return byKey.size
    },
  }
}
