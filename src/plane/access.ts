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
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { FeedPositions } from '#stores/store.ts'

export interface AccessRequest {
  readonly principal: Principal
  /** Fully qualified: `Vendor.Authorization/roleAssignments/write`. */
  readonly action: string
  /**
   * For the use of data (`DataUse`): a caller whose roles grant all of these as data actions needs no `action`, and a
   * deny assignment of one of them forbids both.
   */
  readonly dataActions?: readonly string[]
  /** The resource (or the scope of a collection) the action is about; it need not exist. */
  readonly scope: ResourceId
}

/**
 * What the use of a store's data takes: an action of the control plane by which one gets at the data anyway (a key of
 * the account), or all these data actions. Without the vendor word.
 */
export interface DataUse {
  readonly action: string
  readonly dataActions: readonly string[]
}

/** The action of the control plane, as refusals name it. */
export function actionOf(right: string | DataUse): string {
  return typeof right === 'string' ? right : right.action
}

export function requestedOf(
  words: VendorWords,
  right: string | DataUse,
): Pick<AccessRequest, 'action' | 'dataActions'> {
  const action = qualify(words, actionOf(right))
  if (typeof right === 'string') return { action }
  return { action, dataActions: right.dataActions.map((one) => qualify(words, one)) }
}

/** What conditions compare: one value or a set of them. Moments are text in ISO 8601. */
export type AttributeValue = string | number | boolean | readonly (string | number)[]

/**
 * Keyed by `{type}:{name}` in lower case, the type fully qualified. A tag has two keys: one in lower case, and one in
 * its own case followed by `<$key_case_sensitive$>`. Values of locations are in lower case, without blanks.
 */
export type Attributes = ReadonlyMap<string, AttributeValue>

export const noAttributes: Attributes = new Map()

/** What is known when a pending grant is settled. `unknown` means that nobody has looked. */
export interface RequestFacts {
  readonly now: number
  /** What the body asks for; empty when the request has no body. */
  readonly request: Attributes | 'unknown'
  /** What is stored; empty when nothing is stored. */
  readonly resource: Attributes | 'unknown'
}

/**
 * A grant with a condition: the request is allowed only if `holds` says so. Valid for the request it was given for,
 * and for no other.
 */
export interface ConditionalGrant {
  /** Pure and synchronous. A condition on something unknown does not hold. */
  holds(facts: RequestFacts): boolean
}

export type Verdict = boolean | ConditionalGrant

export interface Access {
  /**
   * True when allowed; deny by default. Changes made through any replica count at once. Answers without a promise
   * where the store can tell without a query, since every request pays for this call.
   */
  allows(question: AccessRequest): Verdict | Promise<Verdict>
  /**
   * Begins to bring up to date what answers rest on. Once it resolves, `allowsAsKnown` is as good as an `allows` that was called
   * instead. `undefined` where nothing has to be waited for.
   */
  refresh?(): Promise<unknown> | undefined
  /**
   * Like `allows`, by what is known, without asking the store whether that has changed: after `refresh`, or where the answer is
   * taken back if it has.
   */
  allowsAsKnown?(question: AccessRequest): Verdict | Promise<Verdict>
  /** The feeds that answers rest on, and positions that later answers are not behind. Asks nobody. */
  asOf?(): FeedPositions
  /**
   * Keys of the scopes at which the principal has a role, directly or through a group. It does not say what the role
   * allows: lists use it to decide whether there can be anything to show, and then check each row by itself.
   */
  scopesOf?(principal: Principal): Promise<readonly string[]>
  /**
   * What deny assignments forbid the principal, whatever roles grant; undefined where there are none. Used for
   * resources that a request affects indirectly, such as children of a deleted group, for which `allows` is not
   * called. As fresh as `allows`, which applies the same deny assignments.
   */
  prohibitionsFor?(principal: Principal): Promise<Prohibitions | undefined>
}

export interface Prohibitions {
  find(question: Pick<AccessRequest, 'action' | 'scope'>): Prohibition | undefined
  /** Would roles have granted it? A caller without any right is not told about deny assignments. */
  wouldBeGranted(question: Pick<AccessRequest, 'action' | 'scope'>): boolean
}

export interface Prohibition {
  readonly name: string
  /** The id of the deny assignment. */
  readonly id: string
  readonly scope: string
}

/** The verdict where attributes can never be known: for a list, or for another resource. */
function settleWithoutAttributes(verdict: Verdict, now: number): boolean {
  if (typeof verdict === 'boolean') return verdict
  return verdict.holds({ now, request: 'unknown', resource: 'unknown' })
}

/**
 * The right by which a request was allowed. Work that continues after the answer (a web socket, a long stream) checks
 * it again and ends when it is gone.
 */
export interface Permission {
  readonly principalId: string
  /** Rejects when the store cannot be asked now. */
  ask(): Promise<PermissionAnswer>
}

export type PermissionAnswer =
  | {
      readonly holds: true
      /**
       * Milliseconds since 1970 UTC. The answer is valid until then, unless role assignments or the directory change.
       */
      readonly until: number
    }
  | { readonly holds: false; readonly reason: string }

/** An `allows` that asks nobody where the port has one. */
export function asKnown(access: Access): Pick<Access, 'allows'> {
  const { allowsAsKnown } = access
  return allowsAsKnown === undefined ? access : { allows: allowsAsKnown }
}

/** No attributes are known here, so a conditional grant is no grant. Synchronous where the access port is. */
export function allowsWithoutAttributes(
  access: Pick<Access, 'allows'>,
  question: AccessRequest,
  now: number,
): boolean | Promise<boolean> {
  const verdict = access.allows(question)
  return verdict instanceof Promise
    ? verdict.then((later) => settleWithoutAttributes(later, now))
    : settleWithoutAttributes(verdict, now)
}

/** Called only where a right is missing, since it looks at every assignment. */
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
