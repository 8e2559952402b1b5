/**
 * The port by which the plane asks "may they?". Role assignments are a provider's resources, so the answer
 * comes from there; `main.ts` ties the two together.
 *
 * The question is asked before the body is read, yet what a condition speaks of stands in the body and in the
 * stored resource. So an answer may be "that depends": a `Pending` grant, to be settled inside the
 * transaction, before anything is written or shown.
 */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'

export interface AccessRequest {
  readonly principal: Principal
  /** Fully qualified: `Vendor.Authorization/roleAssignments/write`. */
  readonly action: string
  /** The resource (or the scope of a collection) the action is about; it need not exist. */
  readonly scope: ResourceId
}

/** What conditions compare: one value or a set of them. Moments are text in ISO 8601. */
export type AttributeValue = string | number | boolean | readonly (string | number)[]

/**
 * By `{type}:{name}` in lower case, the type fully qualified. A tag stands twice: in lower case, and with
 * its name's own case and the mark `<$key_case_sensitive$>` behind it. Locations stand in lower case, without
 * blanks.
 */
export type Attributes = ReadonlyMap<string, AttributeValue>

export const noAttributes: Attributes = new Map()

/** What is known when a pending grant is settled. `unknown` is for what nobody has looked at. */
export interface RequestFacts {
  readonly now: number
  /** What the body asks for; nothing where there is no body. */
  readonly request: Attributes | 'unknown'
  /** What is stored; nothing where nothing is. */
  readonly resource: Attributes | 'unknown'
}

/** Allowed if, and only if, it holds. Good for the question it answers, and no other. */
export interface ConditionalGrant {
  /** Pure and synchronous. What cannot be known does not hold. */
  holds(facts: RequestFacts): boolean
}

export type Verdict = boolean | ConditionalGrant

export interface Access {
  /**
   * True when allowed; deny by default. Fresh: a change that was answered anywhere counts. Synchronous
   * where the store can tell without asking, since every request pays for this.
   */
  allows(question: AccessRequest): Verdict | Promise<Verdict>
  /**
   * Keys of the scopes at which the principal has a role, the one or the other, itself or by a group. Says nothing of what the
   * role allows: it is asked whether a list can have anything to show, and each row is judged by itself.
   */
  scopesOf?(principal: Principal): Promise<readonly string[]>
  /**
   * What the principal may not do whatever roles grant; undefined where there is nothing of the kind. Asked of what goes
   * along with something above it, which nobody asks for by itself. As fresh as `allows`, which heeds the same.
   */
  prohibitionsFor?(principal: Principal): Promise<Prohibitions | undefined>
}

export interface Prohibitions {
  find(question: Pick<AccessRequest, 'action' | 'scope'>): Prohibition | undefined
  /** Would roles have granted it? Whoever has no right at all is told of none. */
  wouldBeGranted(question: Pick<AccessRequest, 'action' | 'scope'>): boolean
}

export interface Prohibition {
  readonly name: string
  /** Of the resource that says so. */
  readonly id: string
  readonly scope: string
}

/** A verdict where nothing of the request or the resource will ever be known: a list, a look elsewhere. */
function settleWithoutAttributes(verdict: Verdict, now: number): boolean {
  if (typeof verdict === 'boolean') return verdict
  return verdict.holds({ now, request: 'unknown', resource: 'unknown' })
}

/**
 * The right that a request was let in with. What goes on after the answer (a web socket, a long stream) asks for it
 * again, and ends when it is gone.
 */
export interface Permission {
  readonly principalId: string
  /** Rejects when the store cannot be asked now. */
  ask(): Promise<PermissionAnswer>
}

export type PermissionAnswer =
  | {
      readonly holds: true
      /** Milliseconds; good until then, unless role assignments or the directory change. */
      readonly until: number
    }
  | { readonly holds: false; readonly reason: string }

/** A condition on attributes does not hold here, since none are known. Synchronous where the access port is. */
export function allowsWithoutAttributes(
  access: Access,
  question: AccessRequest,
  now: number,
): boolean | Promise<boolean> {
  const verdict = access.allows(question)
  return verdict instanceof Promise
    ? verdict.then((later) => settleWithoutAttributes(later, now))
    : settleWithoutAttributes(verdict, now)
}

/** Asked where a right is missing, since it looks at every assignment there is. */
export async function hasRoleBelow(
  access: Access,
  principal: Principal,
  scope: ResourceId,
): Promise<boolean> {
  return isAboveOne(scope, await access.scopesOf?.(principal))
}

export function isAboveOne(scope: ResourceId, keys: readonly string[] = []): boolean {
  return keys.some((key) => key.startsWith(`${scope.key}/`))
}
