/**
 * The identities of a service. Its own one is a principal of the directory for as long as the service has it; rights are
 * given to it before anything runs for the service.
 */

import Type, { type Static } from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf, parseResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { defineReconciler, type Reconciler } from '#plane/declare/reconciled.ts'
import type { RightElsewhere, RuleContext } from '#plane/declare/stored.ts'
import type { ServiceDependencies } from '../dependencies.ts'
import type { Service, ServiceIdentity } from '../resources/services/model.ts'

const kinds = [
  'None',
  'SystemAssigned',
  'UserAssigned',
  'SystemAssigned, UserAssigned',
  'SystemAssigned,UserAssigned',
] as const

export const givenIdentity = Type.Object({
  type: Type.Enum([...kinds]),
  userAssignedIdentities: Type.Optional(
    Type.Record(Type.String(), Type.Object({}, { additionalProperties: true }), {
      maxProperties: 100,
    }),
  ),
})

export const shownIdentity = Type.Object({
  type: Type.String(),
  principalId: Type.Optional(Type.String()),
  tenantId: Type.Optional(Type.String()),
  userAssignedIdentities: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        clientId: Type.Optional(Type.String()),
        principalId: Type.Optional(Type.String()),
      }),
    ),
  ),
})

export interface IdentityBody {
  readonly identity?: Static<typeof givenIdentity>
  /** Put in by `prepare`: the ids of user-assigned identities, by the ids of their resources. */
  readonly assigned?: ServiceIdentity['userAssigned']
}

/** Finds the ids of user-assigned identities. */
export async function withAssigned(
  { identities }: ServiceDependencies,
  body: IdentityBody,
): Promise<object> {
  const found: [string, object][] = []
  for (const id of assignedIn(body)) found.push([id, (await identities.find(id)) ?? {}])
  return { ...body, assigned: Object.fromEntries(found) }
}

function assignedIn({ identity }: IdentityBody): readonly string[] {
  return Object.keys(identity?.userAssignedIdentities ?? {})
}

/** A service keeps its own identity as long as it asks for one. */
export function identityOf(
  { identity, assigned }: IdentityBody,
  previous: ServiceIdentity | undefined,
  { tenantId, ids }: Pick<ServiceDependencies, 'tenantId' | 'ids'>,
): ServiceIdentity | undefined {
  if (identity === undefined || identity.type === 'None') return undefined
  const { type } = identity
  const others = assignedIn({ identity }).map((id) => {
    const known = assigned?.[id] ?? previous?.userAssigned?.[id] ?? {}
    return [id, known] as const
  })
  return {
    type,
    tenantId,
    ...(type.includes('SystemAssigned')
      ? { principalId: previous?.principalId ?? ids.uuid() }
      : {}),
    ...(others.length === 0 ? {} : { userAssigned: Object.fromEntries(others) }),
  }
}

/** Whoever gives a service an identity must be allowed to assign it. */
export function rightsToAssign(
  { identities }: ServiceDependencies,
  body: IdentityBody,
): readonly RightElsewhere[] {
  return assignedIn(body).flatMap((text) => {
    const scope = parseResourceId(text)
    return scope === undefined ? [] : [{ action: identities.useAction, scope }]
  })
}

export function requireAssignable(
  { identities }: ServiceDependencies,
  { desired, previous, principal, words, may }: RuleContext<Service>,
): void {
  for (const text of Object.keys(desired.identity?.userAssigned ?? {})) {
    const scope = parseResourceId(text)
    const isNew = previous?.identity?.userAssigned?.[text] === undefined
    if (scope === undefined || !isNew || may(identities.useAction, scope)) continue
    throw refuse.AuthorizationFailed({
      client: principal.displayName,
      principalId: principal.id,
      action: qualify(words, identities.useAction),
      scope: scope.text,
    })
  }
}

export function showIdentity({
  type,
  tenantId,
  principalId,
  userAssigned,
}: ServiceIdentity): object {
  return {
    type,
    ...(principalId === undefined ? {} : { principalId, tenantId }),
    ...(userAssigned === undefined ? {} : { userAssignedIdentities: userAssigned }),
  }
}

/** The directory has the identity of a service as long as the service has one. */
export function identityReconciler({ workloads, ids }: ServiceDependencies): Reconciler<Service> {
  return defineReconciler<Service, null, never>({
    deadlineSeconds: 600,
    retryAfterSeconds: 1,
    states: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting' },
    background: { leavesSomething: ({ model }) => model.identity?.principalId !== undefined },
    async observe({ id, desired }) {
      const wanted = desired?.identity?.principalId
      const held = await workloads.of(id.key)
      if (wanted === undefined) {
        if (held !== undefined) await workloads.take(id.key)
      } else if (held !== wanted) {
        const displayName = nameOf(id)
        await workloads.give(id.key, { principalId: wanted, clientId: ids.uuid(), displayName })
      }
      return null
    },
    next: () => ({ kind: 'done' }),
    async perform() {},
  })
}
