/** The peers of decisions: a loop over all assignments, casbin, and Cedar. */

import {
  type EntityJson,
  preparsePolicySet,
  statefulIsAuthorized,
} from '@cedar-policy/cedar-wasm/nodejs'
import { newEnforcer, newModelFromString } from 'casbin'
import { allows, type Decider, type Question, within } from './fixture.ts'

/** Slow deciders look at every assignment for every question. */
const fewer = (most: number) => (size: number) => Math.max(10, Math.round((most * 1000) / size))

export const naive: Decider = {
  name: 'naive scan',
  note: 'a loop over all assignments, with the actions of every role looked up beforehand',
  asks: fewer(5000),
  async open(fixture) {
    const allowed = new Map(
      Object.entries(fixture.roles).map(([id, role]) => [
        id,
        new Set(fixture.actions.filter((action) => allows(role, action))),
      ]),
    )
    return ({ userId, action, scope, env }) => {
      const who = new Set([userId, ...fixture.groupsOf(userId)])
      return fixture.assignments.some(
        (one) =>
          who.has(one.principalId) &&
          within(scope, one.scope) &&
          allowed.get(one.role)?.has(action) === true &&
          (one.env === undefined || one.env === env),
      )
    }
  },
}

const casbinModel = `
[request_definition]
r = sub, obj, act, env
[policy_definition]
p = sub, obj, role, env
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub) && within(r.obj, p.obj) && permits(p.role, r.act) && (p.env == "*" || p.env == r.env)
`

export const casbin: Decider = {
  name: 'casbin',
  note: 'one policy per assignment, memberships as its roles; scope and actions as functions of ours',
  asks: fewer(300),
  async open(fixture) {
    const enforcer = await newEnforcer(newModelFromString(casbinModel))
    const permitted = new Set(
      Object.entries(fixture.roles).flatMap(([id, role]) =>
        fixture.actions.filter((action) => allows(role, action)).map((action) => `${id} ${action}`),
      ),
    )
    await enforcer.addFunction('within', within)
    await enforcer.addFunction('permits', (role: string, action: string) =>
      permitted.has(`${role} ${action}`),
    )
    await enforcer.addPolicies(
      fixture.assignments.map((one) => [one.principalId, one.scope, one.role, one.env ?? '*']),
    )
    await enforcer.addGroupingPolicies(
      fixture.users.flatMap((user) => fixture.groupsOf(user).map((group) => [user, group])),
    )
    return ({ userId, scope, action, env }: Question) =>
      enforcer.enforce(userId, scope, action, env)
  },
}

export const cedar: Decider = {
  name: 'Cedar',
  note: 'one policy per assignment, parsed beforehand; groups, scopes and roles as parents of the entities sent along',
  asks: fewer(300),
  async open(fixture) {
    const policies = Object.fromEntries(
      fixture.assignments.map(({ id, principalId, role, scope, env }) => [
        id,
        `permit(principal in P::"${principalId}", action in Action::"${role}", resource in S::"${scope}")${
          env === undefined ? '' : ` when { context.env == "${env}" }`
        };`,
      ]),
    )
    const name = `assignments-${fixture.assignments.length}`
    const parsed = preparsePolicySet(name, { staticPolicies: policies })
    if (parsed.type === 'failure') throw new Error(JSON.stringify(parsed.errors))
    const actionParents = new Map(
      fixture.actions.map((action) => [
        action,
        Object.entries(fixture.roles).flatMap(([id, role]) => (allows(role, action) ? [id] : [])),
      ]),
    )
    return ({ userId, action, scope, env }) => {
      const entities: EntityJson[] = [
        entity('P', userId, fixture.groupsOf(userId)),
        entity('Action', action, actionParents.get(action) ?? []),
        entity('S', scope, scopesAbove(scope)),
      ]
      const answer = statefulIsAuthorized({
        principal: { type: 'P', id: userId },
        action: { type: 'Action', id: action },
        resource: { type: 'S', id: scope },
        context: { env },
        preparsedPolicySetId: name,
        entities,
      })
      if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors))
      return answer.response.decision === 'allow'
    }
  },
}

function entity(type: string, id: string, parents: readonly string[]): EntityJson {
  return { uid: { type, id }, attrs: {}, parents: parents.map((parent) => ({ type, id: parent })) }
}

function scopesAbove(scope: string): readonly string[] {
  const parts = scope.split('/')
  return parts.slice(2, -1).map((_, at) => parts.slice(0, at + 3).join('/'))
}
