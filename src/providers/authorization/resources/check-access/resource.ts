/**
 * `POST {scope}/…/checkAccess`, an extension of ours: may somebody take these actions at a scope, by which
 * assignment, or which came nearest and what was missing? Anybody may ask about themselves; asking about
 * others takes the action `checkAccess/action` at the scope. Changes nothing.
 */

import Type, { type Static } from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf, parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { uuidPattern } from '#kernel/uuid.ts'
import { qualify } from '#kernel/vendor.ts'
import { type Attributes, type AttributeValue, noAttributes } from '#plane/access.ts'
import { type ActionContext, defineActions } from '#plane/declare/action.ts'
import { added, relaxed } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context } from '#plane/declare/resource.ts'
import { freeTurn, nextTurn } from '#plane/next-turn.ts'
import type { Authorizer } from '../../domain/authorizer.ts'
import type { ConditionFacts } from '../../domain/conditions/condition.ts'
import { partsNotTrue } from '../../domain/conditions/explain.ts'
import { parseCondition } from '../../domain/conditions/parse.ts'
import type { Denial, Grant } from '../../domain/decide.ts'
import type { Finding } from '../../domain/explain.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import type { RoleAssignment } from '../role-assignments/model.ts'

export interface CheckAccessDependencies {
  readonly limits: AuthorizationLimits
  readonly explain: Authorizer['explain']
  /** The attributes of a stored resource, for conditions. */
  attributesOf(id: ResourceId): Promise<Attributes>
}

// Short, because conditions are evaluated on it repeatedly: patterns times values times actions.
const valueText = Type.String({ maxLength: 256 })
const valuesMax = 5
const single = Type.Union([valueText, Type.Integer(), Type.Boolean()])
const attributes = Type.Record(
  Type.String({ maxLength: 1024 }),
  Type.Union([
    single,
    Type.Array(valueText, { maxItems: valuesMax }),
    Type.Array(Type.Integer(), { maxItems: valuesMax }),
  ]),
  { maxProperties: 20, description: 'By `{type}:{attribute}`, as a condition writes it.' },
)

/** Shown of those that do not allow an action. */
const nearestMax = 5
/** Of others, so many scopes of assignments elsewhere are looked at, the nearest first: somebody may have thousands. */
const elsewhereMax = 100

const actionName = Type.String({
  minLength: 3,
  maxLength: 512,
  pattern: '^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$',
})

const body = Type.Object({
  principalId: Type.Optional(
    Type.String({ pattern: uuidPattern.source, description: 'The caller when left out.' }),
  ),
  actions: relaxed(Type.Array(actionName, { minItems: 1, maxItems: 20 })),
  dataActions: added(Type.Array(actionName, { maxItems: 20 })),
  /** The attributes of a body; conditions on it are undecided when left out. */
  request: Type.Optional(attributes),
  /** Overrides what is stored at the scope. */
  resource: Type.Optional(attributes),
})

const assignment = Type.Object({
  roleAssignmentId: Type.String(),
  roleDefinitionId: Type.String(),
  principalId: Type.String(),
  scope: Type.String(),
  reason: Type.String(),
  detail: Type.Optional(Type.String()),
})
const answer = Type.Object({
  value: Type.Array(
    Type.Object({
      action: Type.String(),
      isDataAction: added(Type.Boolean()),
      accessDecision: Type.Enum(['Allowed', 'NotAllowed', 'Conditional']),
      roleAssignment: Type.Optional(assignment),
      nearest: Type.Optional(Type.Array(assignment)),
      denyAssignment: added(
        Type.Object({
          denyAssignmentId: Type.String(),
          denyAssignmentName: Type.String(),
          scope: Type.String(),
        }),
      ),
    }),
  ),
})

export function checkAccess(deps: CheckAccessDependencies): ResourceType {
  return defineActions({
    type: 'Authorization/checkAccess',
    description: 'May somebody take an action at a scope, and why (an extension of ours).',
    scope: 'any',
    apiVersions: ['2022-04-01'],
    collectionActions: {
      POST: {
        method: 'POST',
        description: 'Check what somebody may do at a scope, and why',
        permission: 'action',
        open: true,
        countsAsRead: true,
        body,
        answer,
        run: async (context, asked: Static<typeof body>) => ({
          status: 200,
          body: await check(deps, context, asked),
        }),
      },
    },
  })
}

async function check(
  deps: CheckAccessDependencies,
  context: ActionContext<unknown>,
  asked: Static<typeof body>,
): Promise<object> {
  const { principal, id: scope, now } = context
  const principalId = asked.principalId?.toLowerCase() ?? principal.id
  const self = principalId === principal.id
  if (!self) await requireRight(context, scope)
  const stored = await deps.attributesOf(scope)
  const resource = asked.resource === undefined ? stored : overlaid(stored, asked.resource)
  const request: Attributes | 'unknown' =
    asked.request === undefined ? 'unknown' : overlaid(noAttributes, asked.request)
  const value: object[] = []
  const isReadable = createReadTest(context)
  const onData = (asked.dataActions ?? []).map((action) => ({ action, isDataAction: true }))
  const onControl = (asked.actions ?? []).map((action) => ({ action, isDataAction: false }))
  for (const { action, isDataAction } of [...onControl, ...onData]) {
    const facts = {
      now,
      resource,
      // Reads and deletes have no body.
      request: /\/(?:read|delete)$/i.test(action) ? noAttributes : request,
    }
    const groups = self ? principal.groups : []
    // Other requests get a turn between two answers.
    await nextTurn()
    const found = await deps.explain({
      callerId: principal.id,
      ...{ principalId, groups, action, isDataAction, scope, facts },
    })
    const shown: object[] = []
    for (const finding of found.findings) {
      if (shown.length === nearestMax) break
      if (!(self || finding.isHere || (await isReadable(finding.grant)))) continue
      shown.push(await show(deps, context, finding, found.facts))
    }
    // To oneself only with a role there: its name tells of resources that the caller may not see.
    const isNamed = !self || found.findings.some(({ reason }) => reason !== 'OtherScope')
    value.push({
      action,
      ...(isDataAction ? { isDataAction } : {}),
      accessDecision: found.decision,
      ...(found.denial === undefined || !isNamed ? {} : { denyAssignment: denied(found.denial) }),
      ...(found.decision === 'Allowed' ? { roleAssignment: shown[0] } : { nearest: shown }),
    })
  }
  return { value }
}

/** Of others, what is assigned elsewhere tells of scopes that the caller may not see. */
function createReadTest(context: Context): (grant: Grant) => Promise<boolean> {
  const known = new Map<string, boolean>()
  return async ({ key, scopeKey }) => {
    let isReadable = known.get(scopeKey)
    if (isReadable === undefined) {
      if (known.size === elsewhereMax) return false
      await freeTurn(context.principal.id)
      const id = parseResourceId(key)
      isReadable =
        id !== undefined && (await context.may('Authorization/roleAssignments/read', scopeOf(id)))
      known.set(scopeKey, isReadable)
    }
    return isReadable
  }
}

function denied({ key, name, scopeKey }: Denial): object {
  return { denyAssignmentId: key, denyAssignmentName: name, scope: scopeKey }
}

async function requireRight(context: Context, scope: ResourceId): Promise<void> {
  const action = 'Authorization/checkAccess/action'
  if (await context.may(action, scope)) return
  throw refuse.AuthorizationFailed({
    client: context.principal.displayName,
    principalId: context.principal.id,
    action: qualify(context.words, action),
    scope: scope.text,
  })
}

function overlaid(under: Attributes, over: Readonly<Record<string, AttributeValue>>): Attributes {
  const merged = new Map(under)
  for (const [name, value] of Object.entries(over)) merged.set(name.toLowerCase(), value)
  return merged
}

async function show(
  deps: CheckAccessDependencies,
  context: ActionContext<unknown>,
  { grant, reason }: Pick<Finding, 'grant' | 'reason'>,
  facts: ConditionFacts,
): Promise<object> {
  const row = await context.reader.get(grant.key)
  // The index holds only keys of this type, and its `toModel` made the models.
  const model = row?.model as RoleAssignment | undefined
  const id = row?.id ?? parseResourceId(grant.key)
  const detail = detailOf(deps, context, { grant, reason }, { model, facts })
  return {
    roleAssignmentId: id?.text ?? grant.key,
    roleDefinitionId: `/providers/${qualify(context.words, 'Authorization')}/roleDefinitions/${grant.roleId}`,
    principalId: grant.principalId,
    scope: id === undefined ? grant.scopeKey : scopeOf(id).text,
    reason,
    ...(detail === undefined ? {} : { detail }),
  }
}

function detailOf(
  deps: CheckAccessDependencies,
  { words, id: scope }: ActionContext<unknown>,
  { grant, reason }: Pick<Finding, 'grant' | 'reason'>,
  { model, facts }: { readonly model: RoleAssignment | undefined; readonly facts: ConditionFacts },
): string | undefined {
  switch (reason) {
    case 'Granted':
      return undefined
    case 'OtherScope':
      return `it reaches ${grant.scopeKey} and what is below, not ${scope.text === '/' ? 'the root' : nameOf(scope)}`
    case 'NotActions':
      return `the role lists the action and takes it back in ${facts.isDataAction === true ? 'notDataActions' : 'notActions'}`
    case 'ActionNotGranted':
      return 'the role does not list the action'
    case 'OwnAssignment':
      return 'nobody may change, under a condition, what lets themselves assign roles'
    default: {
      const parsed = parseCondition(model?.condition ?? '', words, deps.limits)
      if (!parsed.ok) return 'the condition cannot be read, so it never holds'
      const missing = partsNotTrue(parsed.node, facts).join('; ')
      return reason === 'ConditionFalse'
        ? `not true: ${missing}`
        : `depends on what was not told: ${missing}`
    }
  }
}
