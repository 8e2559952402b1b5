/**
 * The HTTP routes of the directory, as a table that the edge mounts. Each route names its method, path, action at
 * the root scope, body schema and function. This file knows no request, no response and no authorization. Only the
 * edge imports it, because the schema library takes long to load.
 */

import { type Static, type TSchema, Type } from 'typebox'
import { refuse } from '#kernel/error.ts'
import type { SecretRecord } from './credentials.ts'
import { type IdentityDirectory, parseAfter } from './directory.ts'
import { type DirectoryRoute, param } from './directory-route.ts'
import type { Page } from './directory-rows.ts'
import { defaultIdentityLimits } from './limits.ts'
import type { LocalType, PrincipalRecord } from './principal-record.ts'
import { sessionRoutes } from './session-api.ts'

const name = Type.String({ minLength: 1, maxLength: 256 })
const redirectUris = Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { maxItems: 20 })

const UserCreate = Type.Object({
  displayName: name,
  signInName: name,
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
})
const GroupCreate = Type.Object({ displayName: name })
const ServicePrincipalCreate = Type.Object({
  displayName: name,
  redirectUris: Type.Optional(redirectUris),
  /** A public client has no secret; people sign in to it. */
  publicClient: Type.Optional(Type.Boolean()),
  /** The client id of a public client. Other principals cannot choose theirs. */
  clientId: Type.Optional(Type.String({ maxLength: 40 })),
})
const text = Type.String({ maxLength: 256 })
/** The given attributes are merged into the existing ones; `null` removes one. */
const attributes = Type.Record(
  Type.String({ maxLength: 200 }),
  Type.Union([
    text,
    Type.Integer(),
    Type.Boolean(),
    Type.Null(),
    Type.Array(text, { minItems: 1, maxItems: 20 }),
    Type.Array(Type.Integer(), { minItems: 1, maxItems: 20 }),
  ]),
)
const PrincipalUpdate = Type.Object({
  displayName: Type.Optional(name),
  enabled: Type.Optional(Type.Boolean()),
  attributes: Type.Optional(attributes),
})
const ServicePrincipalUpdate = Type.Object({
  displayName: Type.Optional(name),
  enabled: Type.Optional(Type.Boolean()),
  attributes: Type.Optional(attributes),
  redirectUris: Type.Optional(redirectUris),
})
const PasswordSet = Type.Object({
  password: Type.String({ minLength: 1, maxLength: 1024 }),
})
const SecretCreate = Type.Object({
  displayName: Type.Optional(name),
  /** ISO 8601. A secret without an expiry is valid until it is removed. */
  expiresOn: Type.Optional(Type.String({ maxLength: 40 })),
})

const users = collection('users', 'User', PrincipalUpdate)
const groups = collection('groups', 'Group', Type.Object({ displayName: Type.Optional(name) }))
const servicePrincipals = collection(
  'servicePrincipals',
  'ServicePrincipal',
  ServicePrincipalUpdate,
)

export const directoryRoutes: readonly DirectoryRoute[] = [
  {
    method: 'POST',
    path: '/directory/users',
    action: 'Directory/users/write',
    body: UserCreate,
    status: 201,
    async run(directory, { body, secret }) {
      const { displayName, signInName, password } = checked(UserCreate, body)
      const chosen = password ?? secret(18)
      const user = await directory.createUser({
        displayName,
        signInName,
        password: chosen,
        generated: password === undefined,
      })
      return { ...view(user), ...(password === undefined ? { password: chosen } : {}) }
    },
  },
  ...users,
  {
    method: 'POST',
    path: '/directory/users/{id}/setPassword',
    action: 'Directory/users/setPassword/action',
    body: PasswordSet,
    status: 204,
    run: (directory, { params, body }) =>
      directory.setPassword(param(params, 'id'), checked(PasswordSet, body).password),
  },
  {
    method: 'POST',
    path: '/directory/groups',
    action: 'Directory/groups/write',
    body: GroupCreate,
    status: 201,
    run: async (directory, { body }) =>
      view(await directory.createGroup(checked(GroupCreate, body))),
  },
  ...groups,
  {
    method: 'GET',
    path: '/directory/groups/{id}/members',
    action: 'Directory/groups/read',
    status: 200,
    readsMany: true,
    async run(directory, { params, query }) {
      const { after, limit } = paging(query)
      return pageView(await directory.members(param(params, 'id'), after, limit))
    },
  },
  {
    method: 'PUT',
    path: '/directory/groups/{id}/members/{memberId}',
    action: 'Directory/groups/members/write',
    status: 204,
    run: (directory, { params }) =>
      directory.addMember(param(params, 'id'), param(params, 'memberId')),
  },
  {
    method: 'DELETE',
    path: '/directory/groups/{id}/members/{memberId}',
    action: 'Directory/groups/members/delete',
    status: 204,
    run: (directory, { params }) =>
      directory.removeMember(param(params, 'id'), param(params, 'memberId')),
  },
  {
    method: 'POST',
    path: '/directory/servicePrincipals',
    action: 'Directory/servicePrincipals/write',
    body: ServicePrincipalCreate,
    status: 201,
    async run(directory, { body }) {
      const given = checked(ServicePrincipalCreate, body)
      const { displayName, redirectUris: uris, publicClient = false, clientId } = given
      if (clientId !== undefined && !publicClient) {
        throw refuse.InvalidRequestContent(
          { reason: 'clientId may be given for a public client only' },
          { target: 'clientId' },
        )
      }
      const { principal, clientSecret } = await directory.createServicePrincipal({
        displayName,
        ...(uris === undefined ? {} : { redirectUris: uris }),
        ...(publicClient ? { publicClient: clientId === undefined ? {} : { clientId } } : {}),
      })
      return { ...view(principal), ...(publicClient ? {} : { clientSecret }) }
    },
  },
  ...servicePrincipals,
  {
    method: 'GET',
    path: '/directory/servicePrincipals/{id}/secrets',
    action: 'Directory/servicePrincipals/read',
    status: 200,
    async run(directory, { params }) {
      const { id } = await directory.get(param(params, 'id'), 'ServicePrincipal')
      return { value: (await directory.secrets(id)).map(secretView) }
    },
  },
  {
    method: 'POST',
    path: '/directory/servicePrincipals/{id}/secrets',
    action: 'Directory/servicePrincipals/secrets/write',
    body: SecretCreate,
    status: 201,
    async run(directory, { params, body }) {
      const { displayName, expiresOn } = checked(SecretCreate, body)
      const expiresAt = expiresOn === undefined ? undefined : parseTime(expiresOn)
      const { id } = await directory.get(param(params, 'id'), 'ServicePrincipal')
      const secret = await directory.addSecret(id, {
        ...(displayName === undefined ? {} : { displayName }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      })
      return { ...secretView(secret), clientSecret: secret.value }
    },
  },
  {
    method: 'DELETE',
    path: '/directory/servicePrincipals/{id}/secrets/{secretId}',
    action: 'Directory/servicePrincipals/secrets/delete',
    status: 204,
    async run(directory, { params }) {
      const { id } = await directory.get(param(params, 'id'), 'ServicePrincipal')
      await directory.removeSecret(id, param(params, 'secretId'))
      return undefined
    },
  },
  ...sessionRoutes,
]

/** The routes every collection has: list, get, change, delete. */
function collection(plural: string, type: LocalType, update: TSchema): readonly DirectoryRoute[] {
  const one = `/directory/${plural}/{id}`
  return [
    {
      method: 'GET',
      path: `/directory/${plural}`,
      action: `Directory/${plural}/read`,
      status: 200,
      readsMany: true,
      async run(directory, { query }) {
        const { after, limit } = paging(query)
        return pageView(await directory.list(type, after, limit))
      },
    },
    {
      method: 'GET',
      path: one,
      action: `Directory/${plural}/read`,
      status: 200,
      run: async (directory, { params }) => view(await directory.get(param(params, 'id'), type)),
    },
    {
      method: 'PATCH',
      path: one,
      action: `Directory/${plural}/write`,
      body: update,
      status: 200,
      async run(directory, { params, body }) {
        // The three update schemas are subsets of this one.
        const change = body as Static<typeof ServicePrincipalUpdate>
        return view(await directory.update(param(params, 'id'), picked(change), type))
      },
    },
    {
      method: 'DELETE',
      path: one,
      action: `Directory/${plural}/delete`,
      status: 204,
      run: (directory, { params }) => directory.delete(param(params, 'id'), type),
    },
  ]
}

/** Keeps only the properties that may be changed. */
function picked(
  change: Static<typeof ServicePrincipalUpdate>,
): Parameters<IdentityDirectory['update']>[1] {
  const { displayName, enabled, attributes: changed, redirectUris: uris } = change
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(changed === undefined ? {} : { attributes: changed }),
    ...(uris === undefined ? {} : { redirectUris: uris }),
  }
}

/** The edge has validated the body with this schema before it calls `run`. */
function checked<T extends TSchema>(_schema: T, body: unknown): Static<T> {
  return body as Static<T>
}

function view(principal: PrincipalRecord): Record<string, unknown> {
  return {
    id: principal.id,
    principalId: principal.id,
    type: principal.type,
    displayName: principal.displayName,
    ...(principal.signInName === undefined ? {} : { signInName: principal.signInName }),
    ...(principal.clientId === undefined
      ? {}
      : { clientId: principal.clientId, redirectUris: principal.redirectUris }),
    ...(principal.publicClient ? { publicClient: true } : {}),
    ...(principal.type === 'Group' ? {} : { enabled: principal.enabled }),
    ...(Object.keys(principal.attributes).length === 0 ? {} : { attributes: principal.attributes }),
    createdOn: new Date(principal.createdAt).toISOString(),
  }
}

function secretView(secret: SecretRecord): Record<string, unknown> {
  return {
    id: secret.id,
    displayName: secret.displayName,
    createdOn: new Date(secret.createdAt).toISOString(),
    ...(secret.expiresAt === undefined
      ? {}
      : { expiresOn: new Date(secret.expiresAt).toISOString() }),
  }
}

function pageView(page: Page<PrincipalRecord>): object {
  return {
    value: page.items.map(view),
    ...(page.next === undefined ? {} : { nextSkipToken: page.next }),
  }
}

function paging(query: Readonly<Record<string, string | undefined>>): {
  readonly after: string | undefined
  readonly limit: number
} {
  const { $top: top, $skipToken: token } = query
  const { pageSize, pageSizeMax } = defaultIdentityLimits
  if (top !== undefined && !/^[1-9]\d{0,8}$/.test(top)) {
    throw refuse.InvalidQueryParameter({ name: '$top', reason: 'it must be a positive integer' })
  }
  return {
    after: token === undefined || token === '' ? undefined : parseAfter(token),
    limit: Math.min(top === undefined ? pageSize : Number(top), pageSizeMax),
  }
}

export function parseTime(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) {
    throw refuse.InvalidRequestContent(
      { reason: 'expiresOn must be a date and time of ISO 8601' },
      { target: 'expiresOn' },
    )
  }
  return time
}
