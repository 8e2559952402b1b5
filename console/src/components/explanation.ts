/** Why a request was refused: what the server kept of it, what access says now, and who could give it. */

import { useQuery } from '@tanstack/react-query'
import { type ApiFailure, call } from '../api/client.ts'
import { qualified } from '../api/place.ts'
import type { ItemOf } from '../api/queries.ts'
import { person } from '../api/session.ts'
import { principalNames } from './principals.ts'

interface Explanation {
  readonly action: string
  readonly scope: string
  readonly allowedNow: boolean
  readonly nearest: readonly {
    readonly key: string
    readonly role: string
    readonly scope: string
    readonly reason: string
  }[]
  /** Names of those who may assign roles there. */
  readonly askable: readonly string[]
}

/** What the documents leave open of a kept refusal. */
interface Denied {
  readonly properties: {
    readonly action: string
    readonly scope: string
    readonly request?: Readonly<Record<string, string>>
  }
}

export function useExplanation(correlationId: string) {
  return useQuery<Explanation, ApiFailure>({
    queryKey: ['explanation', correlationId],
    queryFn: () => explain(correlationId),
    retry: false,
  })
}

async function explain(correlationId: string): Promise<Explanation> {
  const kept = await call('getDeniedRequest', { path: { deniedRequestName: correlationId } })
  const { action, scope, request } = (kept.body as Denied).properties
  const roles = await roleNames(scope)
  const checked = await call('checkAccess', {
    path: { scope },
    body: { actions: [action], ...(request === undefined ? {} : { request }) },
  })
  const [found] = checked.body.value
  return {
    action,
    scope,
    allowedNow: found?.accessDecision === 'Allowed',
    nearest: (found?.nearest ?? []).map((one) => ({
      key: one.roleAssignmentId,
      role: roles.get(idOf(one.roleDefinitionId))?.name ?? idOf(one.roleDefinitionId),
      scope: one.scope,
      reason: one.detail ?? one.reason,
    })),
    askable: await assigners(scope, roles),
  }
}

interface Role {
  readonly name: string
  readonly assigns: boolean
}

/** Empty where the caller may not read roles. */
async function roleNames(scope: string): Promise<ReadonlyMap<string, Role>> {
  const found = await call('listRoleDefinitions', { path: { scope } }).catch(() => undefined)
  const assigning = `${qualified('Authorization')}/roleAssignments/write`.toLowerCase()
  const items = (found?.body.value ?? []) as readonly ItemOf<'listRoleDefinitions'>[]
  return new Map(
    items.map(({ name, properties: { roleName, permissions } }) => {
      const assigns = permissions.some(
        ({ actions = [], notActions = [] }) =>
          actions.some((one) => matches(one, assigning)) &&
          !notActions.some((one) => matches(one, assigning)),
      )
      return [name.toLowerCase(), { name: roleName, assigns }]
    }),
  )
}

async function assigners(
  scope: string,
  roles: ReadonlyMap<string, Role>,
): Promise<readonly string[]> {
  const found = await call('listRoleAssignments', { path: { scope } }).catch(() => undefined)
  const ids = (found?.body.value ?? [])
    .filter(({ properties }) => roles.get(idOf(properties.roleDefinitionId))?.assigns === true)
    .map(({ properties }) => properties.principalId)
    .filter((id) => id !== person()?.id)
  const names = await principalNames([...new Set(ids)])
  return [...new Set(ids)].map((id) => names.get(id)?.name ?? id)
}

function idOf(roleDefinitionId: string): string {
  return roleDefinitionId.slice(roleDefinitionId.lastIndexOf('/') + 1).toLowerCase()
}

function matches(pattern: string, action: string): boolean {
  const source = pattern
    .toLowerCase()
    .split('*')
    .map((one) => one.replaceAll(/[.+?^${}()|[\]\\/]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${source}$`).test(action)
}
