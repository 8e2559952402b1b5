/**
 * Explains a decision: which assignment allows an action, or which ones nearly do and what is missing. It uses the
 * same grants and the same `counts` as `decide.ts`, and decides nothing.
 */

import { compilePermission } from '#kernel/action.ts'
import { freeTurn } from '#plane/next-turn.ts'
import type { Permission } from '../resources/role-definitions/model.ts'
import type { ConditionFacts } from './conditions/condition.ts'
import { counts, type Denial, type Grant, type Roles } from './decide.ts'

type Reason =
  | 'Granted'
  /** It would allow the action, but its scope is neither the one in question nor above it. */
  | 'OtherScope'
  /** The role lists the action and excludes it (`notActions`, `notDataActions`). */
  | 'NotActions'
  | 'ActionNotGranted'
  | 'ConditionFalse'
  /** It depends on what is not known here: the body, the resource. */
  | 'ConditionUndecided'
  /** With a condition, nobody may remove what restricts themselves (`self-grant.ts`). */
  | 'OwnAssignment'

export interface Finding {
  readonly grant: Grant
  readonly reason: Reason
  /** It is at the scope in question, or above it. */
  readonly isHere: boolean
}

export interface Explanation {
  readonly decision: 'Allowed' | 'NotAllowed' | 'Conditional'
  /** The deny assignment that applies whatever is granted. */
  readonly denial?: Denial
  /** The assignment that allows it (or would, without the denial), or all that do not, nearest first. */
  readonly findings: readonly Finding[]
  /** The facts that conditions were evaluated with. */
  readonly facts: ConditionFacts
}

interface ExplainedFacts {
  /** Who asks: the turns are theirs. */
  readonly callerId: string
  readonly denial: Denial | undefined
  readonly scopeKeys: readonly string[]
  readonly facts: ConditionFacts
  /** Whether the request concerns what restricts the caller; only set when known. */
  readonly touchesOwn: boolean
}

interface RolesInFull extends Roles {
  permissionsIn(roleId: string): readonly Permission[]
}

const rank: readonly Reason[] = [
  'ConditionUndecided',
  'ConditionFalse',
  'OwnAssignment',
  'NotActions',
  'OtherScope',
  'ActionNotGranted',
]

export async function explain(
  asked: ExplainedFacts,
  grants: Iterable<Grant>,
  roles: RolesInFull,
): Promise<Explanation> {
  const { facts, denial } = asked
  const findings: Finding[] = []
  const ungranted = byRole(facts, roles)
  for (const grant of grants) {
    // A role may have thousands of patterns, and a caller thousands of roles.
    await freeTurn(asked.callerId)
    const isHere = asked.scopeKeys.includes(grant.scopeKey)
    const reason = ungranted(grant.roleId) ?? reasonOf(asked, grant, roles)
    findings.push({ grant, reason, isHere })
  }
  const granted = findings.filter(({ reason }) => reason === 'Granted')
  if (denial !== undefined) {
    return { decision: 'NotAllowed', denial, findings: granted.slice(0, 1), facts }
  }
  if (granted.length > 0) return { decision: 'Allowed', findings: granted.slice(0, 1), facts }
  const scopeKey = asked.scopeKeys.at(-1) ?? '/'
  const near = findings
    .map((finding) => ({ finding, shared: sharedLength(finding.grant.scopeKey, scopeKey) }))
    .sort(
      (a, b) =>
        rank.indexOf(a.finding.reason) - rank.indexOf(b.finding.reason) || b.shared - a.shared,
    )
    .map(({ finding }) => finding)
  const open = near[0]?.reason === 'ConditionUndecided'
  return { decision: open ? 'Conditional' : 'NotAllowed', findings: near, facts }
}

/** Why a role does not grant the action, looked at once: one role may have thousands of assignments, and of actions. */
function byRole(facts: ConditionFacts, roles: RolesInFull): (roleId: string) => Reason | undefined {
  const known = new Map<string, Reason | undefined>()
  const plane = facts.isDataAction === true ? 'dataActions' : 'actions'
  return (roleId) => {
    if (!known.has(roleId)) {
      const isAllowed = roles.permissionsOf(roleId)?.[plane](facts.action) === true
      const isTakenBack = () => roles.permissionsIn(roleId).some((one) => takesBack(one, facts))
      const reason = isAllowed ? undefined : isTakenBack() ? 'NotActions' : 'ActionNotGranted'
      known.set(roleId, reason)
    }
    return known.get(roleId)
  }
}

/** Of an assignment whose role grants the action. */
function reasonOf(
  { scopeKeys, facts, touchesOwn }: ExplainedFacts,
  grant: Grant,
  roles: RolesInFull,
): Reason {
  if (!scopeKeys.includes(grant.scopeKey)) return 'OtherScope'
  if (grant.condition !== undefined && touchesOwn) return 'OwnAssignment'
  const truth = counts(grant, facts, roles)
  if (truth === true) return 'Granted'
  return truth === false ? 'ConditionFalse' : 'ConditionUndecided'
}

function takesBack(
  { actions, notActions, dataActions, notDataActions }: Permission,
  { action, isDataAction }: ConditionFacts,
): boolean {
  const [given, taken] =
    isDataAction === true ? [dataActions, notDataActions] : [actions, notActions]
  return taken.length > 0 && compilePermission(given, [])(action)
}

function sharedLength(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}
