/**
 * The groups that somebody is in, also by way of other groups, as the family's directory API answers it. Objects of this
 * directory have no owners (decision 0161), so those lists are empty.
 */

import { Type } from 'typebox'
import type { IdentityDirectory } from './directory.ts'
import { type DirectoryRoute, param } from './directory-route.ts'
import type { LocalType, PrincipalRecord } from './principal-record.ts'
import { parseObjectId } from './principal-rules.ts'

const groupIdsMax = 100

const EveryGroup = Type.Object({ securityEnabledOnly: Type.Optional(Type.Boolean()) })
const TheseGroups = Type.Object({
  groupIds: Type.Array(Type.String({ maxLength: 100 }), { maxItems: groupIdsMax }),
})

type Show = (principal: PrincipalRecord) => object
type Find = (
  directory: IdentityDirectory,
  request: { readonly params: Readonly<Record<string, string>>; readonly callerId: string },
) => Promise<PrincipalRecord>

const places: readonly {
  readonly path: string
  readonly type?: LocalType
  readonly kind: string
}[] = [
  { path: 'users', type: 'User', kind: 'users' },
  { path: 'groups', type: 'Group', kind: 'groups' },
  { path: 'servicePrincipals', type: 'ServicePrincipal', kind: 'servicePrincipals' },
  { path: 'directoryObjects', kind: 'users' },
]

export function membershipRoutes(show: Show): readonly DirectoryRoute[] {
  const ofOneself = membershipAt('/v1.0/me', undefined, show, (directory, { callerId }) =>
    directory.get(callerId),
  )
  const ofOthers = places.flatMap(({ path, type, kind }) =>
    membershipAt(`/v1.0/${path}/{id}`, `Directory/${kind}/read`, show, (directory, { params }) =>
      findPrincipal(directory, param(params, 'id'), type),
    ),
  )
  const owned = ['applications', 'servicePrincipals', 'groups'].map((path): DirectoryRoute => {
    const type = path === 'groups' ? 'Group' : 'ServicePrincipal'
    return {
      method: 'GET',
      path: `/v1.0/${path}/{id}/owners`,
      action: `Directory/${path === 'groups' ? path : 'servicePrincipals'}/read`,
      status: 200,
      async run(directory, { params }) {
        await directory.get(param(params, 'id'), type)
        return { value: [] }
      },
    }
  })
  const ownedByOneself: DirectoryRoute = {
    method: 'GET',
    path: '/v1.0/me/ownedObjects',
    action: undefined,
    status: 200,
    run: async () => ({ value: [] }),
  }
  // A POST about oneself would be recorded as a change of one's own account.
  const readOfOneself = ofOneself.filter(({ method }) => method === 'GET')
  return [...readOfOneself, ...ofOthers, ...owned, ownedByOneself]
}

function membershipAt(
  path: string,
  action: string | undefined,
  show: Show,
  find: Find,
): readonly DirectoryRoute[] {
  return [
    {
      method: 'POST',
      path: `${path}/getMemberGroups`,
      action,
      body: EveryGroup,
      status: 200,
      readsMany: true,
      run: async (directory, request) => ({
        value: await directory.groupsOf((await find(directory, request)).id),
      }),
    },
    {
      method: 'POST',
      path: `${path}/checkMemberGroups`,
      action,
      body: TheseGroups,
      status: 200,
      readsMany: true,
      async run(directory, request) {
        // The edge has validated the body with this schema.
        const { groupIds } = request.body as { readonly groupIds: readonly string[] }
        const found = new Set(await directory.groupsOf((await find(directory, request)).id))
        return { value: groupIds.filter((id) => found.has(id.toLowerCase())) }
      },
    },
    {
      method: 'GET',
      path: `${path}/transitiveMemberOf`,
      action,
      status: 200,
      readsMany: true,
      async run(directory, request) {
        const ids = await directory.groupsOf((await find(directory, request)).id)
        return { value: (await directory.records(ids)).map(show) }
      },
    },
  ]
}

/** By id; a user also by the name that they sign in with. */
export async function findPrincipal(
  directory: IdentityDirectory,
  id: string,
  type?: LocalType,
): Promise<PrincipalRecord> {
  const isName = type === 'User' && parseObjectId(id) === undefined
  const named = isName ? await directory.bySignInName(id) : undefined
  return named ?? (await directory.get(id, type))
}
