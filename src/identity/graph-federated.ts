/** The federated credentials of an application, as the family's directory API has them. */

import { type Static, Type } from 'typebox'
import type { IdentityDirectory } from './directory.ts'
import { type DirectoryRoute, param } from './directory-route.ts'
import { type FederatedCredential, foundIn } from './federated-credentials.ts'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const audiences = Type.Array(text(600), { minItems: 1, maxItems: 1 })
const issuer = Type.String({ pattern: '^https?://[^\\s]{1,590}$' })
const description = Type.Optional(Type.Union([Type.String({ maxLength: 600 }), Type.Null()]))

const name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{2,119}$' })
const Body = Type.Object({ name, issuer, subject: text(600), audiences, description })
const Changes = Type.Partial(
  Type.Object({ name, issuer, subject: text(600), audiences, description }),
)

const collection = '/v1.0/applications/{id}/federatedIdentityCredentials'
const one = `${collection}/{credentialId}`
const read = 'Directory/servicePrincipals/read'
const write = 'Directory/servicePrincipals/federatedCredentials/write'

export const federatedRoutes: readonly DirectoryRoute[] = [
  {
    method: 'GET',
    path: collection,
    action: read,
    status: 200,
    async run(directory, { params }) {
      const application = await directory.get(param(params, 'id'), 'ServicePrincipal')
      return { value: await directory.federated(application.id) }
    },
  },
  {
    method: 'POST',
    path: collection,
    action: write,
    body: Body,
    status: 201,
    async run(directory, { params, body }) {
      // The edge has validated the body with this schema.
      const given = body as Static<typeof Body>
      return directory.addFederated(param(params, 'id'), {
        ...given,
        description: given.description ?? '',
      })
    },
  },
  {
    method: 'GET',
    path: one,
    action: read,
    status: 200,
    run: (directory, { params }) => find(directory, params),
  },
  {
    method: 'PATCH',
    path: one,
    action: write,
    body: Changes,
    status: 204,
    async run(directory, { params, body }) {
      // The edge has validated the body with this schema.
      const { name: _kept, description, ...changes } = body as Static<typeof Changes>
      await directory.changeFederated(param(params, 'id'), param(params, 'credentialId'), {
        ...changes,
        ...(description === undefined ? {} : { description: description ?? '' }),
      })
      return undefined
    },
  },
  {
    method: 'DELETE',
    path: one,
    action: 'Directory/servicePrincipals/federatedCredentials/delete',
    status: 204,
    run: (directory, { params }) =>
      directory.removeFederated(param(params, 'id'), param(params, 'credentialId')),
  },
]

async function find(
  directory: IdentityDirectory,
  params: Readonly<Record<string, string>>,
): Promise<FederatedCredential> {
  const application = await directory.get(param(params, 'id'), 'ServicePrincipal')
  return foundIn(await directory.federated(application.id), param(params, 'credentialId'))
}
