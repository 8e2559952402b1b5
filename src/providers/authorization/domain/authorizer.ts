/**
 * Answers the plane's "may they?" from an index in memory, kept exactly as fresh as the store: before every
 * answer the feeds are asked whether anything changed. Decides nothing itself (`decide.ts` does) and writes
 * nothing. When the store cannot be asked the question fails; it is never answered from what may be stale.
 */

import type { Directory, Principal, PrincipalAttributes } from '#kernel/principal.ts'
import { parentOf, type ResourceId, scopeKeys } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import {
  type Access,
  type AccessRequest,
  type Attributes,
  noAttributes,
  type Prohibitions,
  type RequestFacts,
  type Verdict,
} from '#plane/access.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { type PlacedScopes, placesAbove } from '#plane/placed-scopes.ts'
import type { Permission } from '../resources/role-definitions/model.ts'
import type { Condition, ConditionFacts } from './conditions/condition.ts'
import { createSteps } from './conditions/steps.ts'
import {
  type DecisionRequest,
  decide,
  denialOf,
  type Grant,
  type Holders,
  isHeld,
} from './decide.ts'
import { type Explanation, explain } from './explain.ts'
import { createFreshness, type Freshness } from './freshness.ts'
import type { GrantIndex } from './grant-index.ts'
import { type ChangeFeed, createGrantLoader } from './grant-loader.ts'
import { createSelfGrants } from './self-grant.ts'
import { createVerdictCache } from './verdict-cache.ts'

export interface AuthorizerDependencies {
  readonly words: VendorWords
  /** The feed `authorization`: assignments and role definitions. */
  readonly feed: ChangeFeed
  /** The directory's feed: every change of a membership moves it. */
  readonly directoryFeed: Pick<ChangeFeed, 'position' | 'server'>
  readonly directory: Pick<Directory, 'groupsOf' | 'attributesOf'>
  /** Committed reads, used from the first question on. */
  readonly reader: Pick<Reader, 'get' | 'each'>
  /** Without it a scope is inside another only by its path. */
  readonly placed?: PlacedScopes
  /** The number of remembered decisions, and of remembered memberships. */
  readonly rememberedMax?: number
}

/** The assignments of a role (lower-case GUID), as of the last question; `undefined` before the first. */
export type AssignmentsOf = (roleId: string) => KnownAssignments | undefined

interface KnownAssignments {
  readonly keys: ReadonlySet<string>
  /** The position of the feed `authorization` that they are of. */
  readonly position: number
  /** The sizes of all other custom roles (`sizeOfRole`), or of those of one subscription. */
  sizeOfOthers(subscription?: string): number
}

export interface Authorizer extends Access, AsyncDisposable {
  readonly assignmentsOf: AssignmentsOf
  /** Explains why a principal may or may not do something. The result equals that of `allows`, with reasons. */
  explain(question: ExplainedRequest): Promise<Explanation>
  /** What the caller's roles permit at a scope: the union over all that apply, conditions ignored. */
  permissionsAt(principal: Principal, scope: ResourceId): Promise<readonly Permission[]>
  /**
   * The keys of the scopes that contain a scope by placement, beyond those of its path. As of the last question.
   */
  placesAbove(scope: ResourceId): readonly string[]
  /** The keys of all scopes that contain a scope, from the root down to itself. */
  scopesAbove(scope: ResourceId): Promise<readonly string[]>
}

interface ExplainedRequest {
  readonly callerId: string
  readonly principalId: string
  /** The groups that a token asserts. */
  readonly groups: readonly string[]
  readonly action: string
  readonly isDataAction?: boolean
  readonly scope: ResourceId
  readonly facts: RequestFacts
}

/** What the directory knows of a caller, as far as decisions need it. */
interface Standing {
  readonly groupIds: readonly string[]
  readonly attributes: Attributes
}

export function createAuthorizer(deps: AuthorizerDependencies): Authorizer {
  const { words, feed, directoryFeed, directory, rememberedMax = 20_000 } = deps
  const loader = createGrantLoader(deps, () => decisions.clear())
  const selfGrants = createSelfGrants(words)
  const keysOf = (scope: ResourceId): readonly string[] => scopesAbove(deps, loader.loaded, scope)
  /**
   * A pending verdict is remembered as pending: the question alone decides which conditions are open, and whether
   * they hold is evaluated for every request.
   */
  const decisions = createVerdictCache(rememberedMax)
  const standings = new Map<string, Standing>()

  const assignments = createFreshness(feed, loader.catchUp)
  const groups = createFreshness(
    directoryFeed,
    // Memberships and attributes are read again one by one; a change of one group may affect anyone below it.
    async (_from, to) => {
      standings.clear()
      decisions.clear()
      return to
    },
  )

  /** `undefined` when memory is current. */
  function fresh(): Promise<unknown> | undefined {
    const one = assignments.ensure()
    const two = groups.ensure()
    return one === undefined && two === undefined ? undefined : Promise.all([one, two])
  }

  function allows(question: AccessRequest): Verdict | Promise<Verdict> {
    const stale = fresh()
    return stale === undefined ? answer(question) : stale.then(() => answer(question))
  }

  function answer(question: AccessRequest): Verdict | Promise<Verdict> {
    const { principal, scope } = question
    const action = rememberedAs(question)
    // The groups in tokens differ from token to token, and nobody acts through something always: these answers are not remembered.
    const mayRemember = principal.groups.length === 0 && principal.through === undefined
    const remembered = mayRemember ? decisions.get(principal.id, action, scope.key) : undefined
    if (remembered !== undefined) return remembered
    const known = standings.get(principal.id)
    if (known !== undefined) return judge(question, known, mayRemember)
    return ask(principal).then((standing) => {
      // A value that is no longer in memory may be out of date: it is used for this answer only.
      const isCurrent = standings.get(principal.id) === standing
      return judge(question, standing, mayRemember && isCurrent)
    })
  }

  function judge(request: AccessRequest, standing: Standing, mayRemember: boolean): Verdict {
    const { principal } = request
    const grants = loader.loaded()
    const scope = mayRemember ? decidingScope(request.scope, grants) : request.scope
    const action = rememberedAs(request)
    const remembered = mayRemember ? decisions.get(principal.id, action, scope.key) : undefined
    if (remembered !== undefined) return remembered
    const lower = request.action.toLowerCase()
    const holders = holdersOf(principal, standing)
    const narrowly = selfGrants.concerns(lower)
    const by = { ...holders, principal: standing.attributes }
    const question: DecisionRequest = { ...by, action: lower, scopeKeys: keysOf(scope), narrowly }
    const touchesOwn = (facts: RequestFacts): boolean =>
      narrowly && selfGrants.isOne(lower, facts, holders.principalIds, grants)
    const verdict = verdictOn(question, grants, { touchesOwn, dataActions: request.dataActions })
    if (mayRemember) decisions.set(principal.id, action, scope.key, verdict)
    return verdict
  }

  /** Reads the directory; remembers the result unless the directory changed meanwhile. */
  async function ask(principal: Pick<Principal, 'id'>): Promise<Standing> {
    const before = groups.position
    const standing = await standingIn(directory, principal.id)
    await groups.ensure()
    if (groups.position === before) {
      if (standings.size >= rememberedMax) standings.clear()
      standings.set(principal.id, standing)
    }
    return standing
  }

  async function explainOne(question: ExplainedRequest): Promise<Explanation> {
    await fresh()
    const standing = await ask({ id: question.principalId })
    const scopeKeys = keysOf(question.scope)
    return explainWith(question, standing, { grants: loader.loaded(), selfGrants, scopeKeys })
  }

  async function heldBy(by: Principal): Promise<Holders> {
    await fresh()
    return holdersOf(by, await ask(by))
  }

  async function prohibitionsFor(principal: Principal): Promise<Prohibitions | undefined> {
    await fresh()
    const grants = loader.loaded()
    if (!grants.hasDenials) return undefined
    const standing = await ask(principal)
    return prohibitionsIn(grants, keysOf, { ...holdersOf(principal, standing), ...standing })
  }

  return {
    allows,
    refresh: fresh,
    allowsAsKnown: answer,
    asOf: openPositions(assignments, groups),
    scopesOf: async (by) => scopesIn(await heldBy(by), loader.loaded()),
    prohibitionsFor,
    explain: explainOne,
    permissionsAt: async (by, at) => permissionsOf(await heldBy(by), loader.loaded(), keysOf(at)),
    scopesAbove: (scope) => Promise.resolve(fresh()).then(() => keysOf(scope)),
    placesAbove: (scope) => placesAbove(deps.placed, (key) => loader.loaded().placeOf(key), scope),
    assignmentsOf: (roleId) => knownOf(loader, roleId, assignments),
    [Symbol.asyncDispose]: () => allSettled([assignments, groups]),
  }
}

/**
 * Of a nested resource at which nothing is assigned, its parent: what is decided there holds for it too, and for all its
 * siblings. Any other is decided by itself, and each where anything is denied: a denial may leave out what is below it.
 */
function decidingScope(scope: ResourceId, grants: GrantIndex): ResourceId {
  const isNested = (scope.segments.at(-1)?.types.length ?? 0) > 1
  if (!isNested || scope.segments.length < 2 || grants.hasDenials) return scope
  return grants.madeAt(scope.key) === undefined ? parentOf(scope) : scope
}

async function allSettled(copies: readonly Pick<Freshness, 'settled'>[]): Promise<void> {
  await Promise.allSettled(copies.map((copy) => copy.settled()))
}

function knownOf(
  loader: Pick<ReturnType<typeof createGrantLoader>, 'assignmentsOf' | 'sizeOfOthers'>,
  roleId: string,
  { position }: Moving,
): KnownAssignments | undefined {
  const keys = loader.assignmentsOf(roleId)
  if (keys === undefined || position === undefined) return undefined
  const sizeOfOthers = (subscription?: string): number => loader.sizeOfOthers(roleId, subscription)
  return { keys, position, sizeOfOthers }
}

type Moving = Pick<ReturnType<typeof createFreshness>, 'position'>

/** Every request asks, and feeds seldom move. */
function openPositions(assignments: Moving, groups: Moving): NonNullable<Access['asOf']> {
  let known: ReturnType<NonNullable<Access['asOf']>> = {}
  return () => {
    const { position: authorization = 0 } = assignments
    const { position: directory = 0 } = groups
    const isSame = known['authorization'] === authorization && known['directory'] === directory
    if (!isSame) known = { authorization, directory }
    return known
  }
}

/** From the root down to the scope, including those above it by placement. */
function scopesAbove(
  { placed }: Pick<AuthorizerDependencies, 'placed'>,
  loaded: () => GrantIndex,
  scope: ResourceId,
): readonly string[] {
  const above = placesAbove(placed, (key) => loaded().placeOf(key), scope)
  if (above.length === 0) return scopeKeys(scope)
  const [root = '/', ...own] = scopeKeys(scope)
  return [root, ...above, ...own]
}

function explainWith(
  { callerId, principalId, groups, facts, action: given, isDataAction = false }: ExplainedRequest,
  standing: Standing,
  {
    grants,
    selfGrants,
    scopeKeys,
  }: {
    readonly grants: GrantIndex
    readonly selfGrants: ReturnType<typeof createSelfGrants>
    readonly scopeKeys: readonly string[]
  },
): Promise<Explanation> {
  const action = given.toLowerCase()
  const holders = holdersOf({ id: principalId, groups }, standing)
  const { principalIds } = holders
  const known = facts.request !== 'unknown' && facts.resource !== 'unknown'
  return explain(
    {
      callerId,
      scopeKeys,
      denial: denialOf({ action, isDataAction, scopeKeys, principalIds }, grants),
      facts: {
        ...facts,
        action,
        isDataAction,
        principal: standing.attributes,
        steps: createSteps(),
      },
      touchesOwn:
        known &&
        !isDataAction &&
        selfGrants.concerns(action) &&
        selfGrants.isOne(action, facts, principalIds, grants),
    },
    inOrder(scopeKeys, holders, grants),
    grants,
  )
}

/** As decisions go through them; then all at other scopes. */
function inOrder(
  scopeKeys: readonly string[],
  holders: Holders,
  grants: GrantIndex,
): Iterable<Grant> {
  const { principalIds } = holders
  const here = scopeKeys.flatMap((scopeKey) =>
    principalIds.flatMap((id) => grants.madeAt(scopeKey)?.get(id) ?? []),
  )
  const all = [...here, ...grants.of(principalIds)]
  return new Set(all.filter((grant) => isHeld(grant, holders)))
}

/** A question on data is remembered apart from the one for its action alone. */
function rememberedAs({ action, dataActions }: AccessRequest): string {
  return dataActions === undefined ? action : `${action} or ${dataActions.join(' and ')}`
}

function verdictOn(
  question: DecisionRequest,
  grants: GrantIndex,
  {
    touchesOwn,
    dataActions = [],
  }: {
    readonly touchesOwn: (facts: RequestFacts) => boolean
    readonly dataActions: readonly string[] | undefined
  },
): Verdict {
  const onData = dataActions.map((one) => ({
    ...question,
    action: one.toLowerCase(),
    isDataAction: true,
  }))
  if (onData.some((one) => denialOf(one, grants) !== undefined)) return false
  // What a condition on data compares is in the data, which nobody reads here: such a grant does not count.
  if (onData.length > 0 && onData.every((one) => decide(one, grants, grants) === true)) return true
  if (denialOf(question, grants) !== undefined) return false
  const decision = decide(question, grants, grants)
  if (typeof decision === 'boolean') return decision
  const { action, principal } = question
  return {
    holds: (facts) =>
      !touchesOwn(facts) &&
      anyHolds(decision, { ...facts, action, principal, steps: createSteps() }),
  }
}

function scopesIn(holders: Holders, grants: GrantIndex): readonly string[] {
  const held = grants.of(holders.principalIds).filter((grant) => isHeld(grant, holders))
  return [...new Set(held.map(({ scopeKey }) => scopeKey))]
}

function permissionsOf(
  holders: Holders,
  grants: GrantIndex,
  scopeKeys: readonly string[],
): readonly Permission[] {
  const made = holders.principalIds.flatMap((id) =>
    scopeKeys.flatMap((scopeKey) => grants.madeAt(scopeKey)?.get(id) ?? []),
  )
  const held = made.filter((grant) => isHeld(grant, holders))
  const roleIds = new Set(held.map(({ roleId }) => roleId))
  return [...roleIds].flatMap((roleId) => grants.permissionsIn(roleId))
}

function prohibitionsIn(
  grants: GrantIndex,
  keysOf: (scope: ResourceId) => readonly string[],
  { attributes, ...holders }: Holders & { readonly attributes: Attributes },
): Prohibitions {
  const whole = ({ action, scope }: Pick<AccessRequest, 'action' | 'scope'>): DecisionRequest => ({
    action: action.toLowerCase(),
    scopeKeys: keysOf(scope),
    ...holders,
    principal: attributes,
  })
  return {
    find(question) {
      const denial = denialOf(whole(question), grants)
      return denial && { name: denial.name, id: denial.key, scope: denial.scopeKey }
    },
    wouldBeGranted: (question) => decide(whole(question), grants, grants) !== false,
  }
}

async function standingIn(
  directory: AuthorizerDependencies['directory'],
  principalId: string,
): Promise<Standing> {
  const [groupIds, attributes] = await Promise.all([
    directory.groupsOf(principalId),
    directory.attributesOf?.(principalId),
  ])
  return {
    groupIds,
    attributes: attributes === undefined ? noAttributes : inLowerCase(attributes),
  }
}

function anyHolds(conditions: readonly Condition[], facts: ConditionFacts): boolean {
  return conditions.some((condition) => condition(facts) === true)
}

function holdersOf(
  { id, groups, through }: Pick<Principal, 'id' | 'groups' | 'through'>,
  { groupIds }: Standing,
): Holders {
  const own = [id, ...groupIds]
  if (groups.length === 0) return { principalIds: own, through }
  const asserted = new Set(groups.map((group) => group.toLowerCase()))
  for (const one of own) asserted.delete(one)
  return { principalIds: [...own, ...asserted], asserted, through }
}

function inLowerCase(attributes: PrincipalAttributes): Attributes {
  return new Map(Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value]))
}
