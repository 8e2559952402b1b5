/** Why a request was refused: what the server recorded, what access says now, and who could grant the right. */

import { useQuery } from '@tanstack/react-query'
import { compilePermission } from '../../../src/kernel/action.ts'
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
    /** The group that has it; undefined if the principal has it directly. */
    readonly group: string | undefined
  }[]
  /** Names of those who may assign roles there. */
  readonly askable: readonly string[]
}

/** The properties of a recorded refusal that the documents leave open. */
interface Denied {
  readonly properties: {
    readonly action: string
    readonly scope: string
    readonly request?: Readonly<Record<string, string>>
  }
}

export function useExplanation(failure: ApiFailure) {
  return useQuery<Explanation, ApiFailure>({
    queryKey: ['explanation', failure.correlationId],
    queryFn: () => explain(failure),
    retry: false,
  })
}

/** What was refused: from the server's record, which not everybody may read, else from the refusal itself. */
async function refusedBy(failure: ApiFailure): Promise<Denied['properties']> {
  const kept = await call('getDeniedRequest', {
    path: { deniedRequestName: failure.correlationId ?? '' },
  }).catch(() => undefined)
  if (kept !== undefined) return (kept.body as Denied).properties
  const [, action, scope] = /action '([^']+)' over scope '([^']+)'/.exec(failure.message) ?? []
  if (action === undefined || scope === undefined) throw failure
  return { action, scope }
}

async function explain(failure: ApiFailure): Promise<Explanation> {
  const { action, scope, request } = await refusedBy(failure)
  const checked = await call('checkAccess', {
    path: { scope },
    body: { actions: [action], ...(request === undefined ? {} : { request }) },
  })
  const [found] = checked.body.value
  // Whoever may not read roles here may read them where their own role was assigned.
  const places = [...new Set([scope, ...(found?.nearest ?? []).map((one) => one.scope)])]
  const roles = new Map(
    (await Promise.all(places.slice(0, 5).map(roleNames))).flatMap((one) => [...one]),
  )
  const mine = person()?.id
  const groups = await principalNames(
    (found?.nearest ?? []).map((one) => one.principalId).filter((id) => id !== mine),
  )
  return {
    action,
    scope,
    allowedNow: found?.accessDecision === 'Allowed',
    nearest: (found?.nearest ?? []).map((one) => ({
      key: one.roleAssignmentId,
      role: roles.get(idOf(one.roleDefinitionId))?.name ?? idOf(one.roleDefinitionId),
      scope: one.scope,
      reason: one.detail ?? one.reason,
      group:
        one.principalId === mine
          ? undefined
          : (groups.get(one.principalId)?.name ?? one.principalId),
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
      const assigns = permissions.some(({ actions = [], notActions = [] }) =>
        compilePermission(actions, notActions)(assigning),
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
