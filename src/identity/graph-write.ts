/** The routes by which command lines change and delete a principal of any type. A user may be named by what they sign in with. */

import type { Static, TSchema } from 'typebox'
import type { IdentityDirectory } from './directory.ts'
import { type DirectoryRoute, param } from './directory-route.ts'
import { findPrincipal } from './graph-membership.ts'
import type { LocalType } from './principal-record.ts'

type Change = Parameters<IdentityDirectory['update']>[1]

/** `changeOf` may refuse. */
export function changeRoute<T extends TSchema>(
  plural: string,
  type: LocalType,
  schema: T,
  changeOf: (body: Static<T>, directory: IdentityDirectory, id: string) => Change | Promise<Change>,
): DirectoryRoute {
  return {
    method: 'PATCH',
    path: `/v1.0/${plural}/{id}`,
    action: `Directory/${collections[type]}/write`,
    body: schema,
    status: 204,
    async run(directory, { params, body }) {
      const { id } = await findPrincipal(directory, param(params, 'id'), type)
      // The edge has validated the body with this schema.
      const change = await changeOf(body as Static<T>, directory, id)
      await directory.update(id, change, type)
    },
  }
}

export function deleteRoute(plural: string, type: LocalType): DirectoryRoute {
  return {
    method: 'DELETE',
    path: `/v1.0/${plural}/{id}`,
    action: `Directory/${collections[type]}/delete`,
    status: 204,
    async run(directory, { params }) {
      const { id } = await findPrincipal(directory, param(params, 'id'), type)
      await directory.delete(id, type)
    },
  }
}

/** By these words rights are named. */
const collections = {
  User: 'users',
  Group: 'groups',
  ServicePrincipal: 'servicePrincipals',
} as const
