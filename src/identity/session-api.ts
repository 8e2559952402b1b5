/**
 * Sessions and revocation over HTTP. A person needs no right for their own sessions and one for those of others.
 */

import type { IdentityDirectory } from './directory.ts'
import { type DirectoryRoute, param } from './directory-route.ts'
import type { Session } from './sessions.ts'

export const sessionRoutes: readonly DirectoryRoute[] = [
  {
    method: 'GET',
    path: '/directory/me/sessions',
    action: undefined,
    status: 200,
    run: (directory, { callerId }) => list(directory, callerId),
  },
  {
    method: 'DELETE',
    path: '/directory/me/sessions/{sessionId}',
    action: undefined,
    status: 204,
    run: (directory, { params, callerId }) =>
      directory.endSession(callerId, param(params, 'sessionId')),
  },
  {
    method: 'POST',
    path: '/directory/me/revoke',
    action: undefined,
    status: 204,
    run: (directory, { callerId }) => directory.revoke(callerId),
  },
  {
    method: 'GET',
    path: '/directory/users/{id}/sessions',
    action: 'Directory/users/sessions/read',
    status: 200,
    run: (directory, { params }) => list(directory, param(params, 'id')),
  },
  {
    method: 'DELETE',
    path: '/directory/users/{id}/sessions/{sessionId}',
    action: 'Directory/users/sessions/delete',
    status: 204,
    run: (directory, { params }) =>
      directory.endSession(param(params, 'id'), param(params, 'sessionId')),
  },
  ...(['User', 'ServicePrincipal'] as const).map((type): DirectoryRoute => {
    const plural = type === 'User' ? 'users' : 'servicePrincipals'
    return {
      method: 'POST',
      path: `/directory/${plural}/{id}/revoke`,
      action: `Directory/${plural}/revoke/action`,
      status: 204,
      run: (directory, { params }) => directory.revoke(param(params, 'id'), type),
    }
  }),
]

async function list(directory: IdentityDirectory, userId: string): Promise<object> {
  return { value: (await directory.sessions(userId)).map(view) }
}

function view(session: Session): object {
  const { address, userAgent } = session.origin
  return {
    id: session.id,
    // A browser session has no client.
    ...(session.clientId === undefined ? {} : { clientId: session.clientId }),
    address,
    userAgent,
    createdOn: new Date(session.createdAt).toISOString(),
    lastUsedOn: new Date(session.usedAt).toISOString(),
  }
}
