/**
 * Applications as command lines write them (`az ad sp create-for-rbac`, `az ad app`). An application and its service principal
 * are one here, with one id: making the second answers the first. What an application cannot have here (certificates,
 * identifiers, roles of its own) is refused. Whether it has secrets is said when it is made, and a later word against that is
 * refused; the first day of a password changes nothing.
 */

import { type Static, Type } from 'typebox'
import { refuse } from '#kernel/error.ts'
import type { SecretRecord } from './credentials.ts'
import type { IdentityDirectory } from './directory.ts'
import { parseTime } from './directory-api.ts'
import { type DirectoryRoute, param } from './directory-route.ts'
import { changeRoute, deleteRoute } from './graph-write.ts'
import type { PrincipalRecord } from './principal-record.ts'

const name = Type.String({ minLength: 1, maxLength: 256 })
const uris = Type.Object({
  redirectUris: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { maxItems: 20 }),
  ),
})
const none = Type.Optional(Type.Array(Type.Unknown(), { maxItems: 0 }))
const members = {
  displayName: Type.Optional(name),
  web: Type.Optional(uris),
  /** People sign in to it, and it has no secret. */
  publicClient: Type.Optional(uris),
  isFallbackPublicClient: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  /** Who may sign in: this tenant alone. */
  signInAudience: Type.Optional(Type.String({ pattern: 'MyOrg$' })),
  keyCredentials: none,
  identifierUris: none,
  appRoles: none,
  requiredResourceAccess: none,
}
const Changes = Type.Object(members, { additionalProperties: false })
const Fresh = Type.Object({ ...members, displayName: name }, { additionalProperties: false })
const time = Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()]))
const Password = Type.Object({
  passwordCredential: Type.Optional(
    Type.Object({
      displayName: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
      startDateTime: time,
      endDateTime: time,
    }),
  ),
})
const KeyOfPassword = Type.Object({ keyId: Type.String({ maxLength: 100 }) })
const ServicePrincipal = Type.Object({
  appId: Type.String({ maxLength: 100 }),
  accountEnabled: Type.Optional(Type.Boolean()),
})

/** Each of the two names means the same principals. */
const applications = ['applications', 'servicePrincipals']
const action = (word: string): string => `Directory/servicePrincipals/${word}`

type Show = (principal: PrincipalRecord) => object

export function applicationRoutes(showServicePrincipal: Show): readonly DirectoryRoute[] {
  return [
    {
      method: 'POST',
      path: '/v1.0/applications',
      action: action('write'),
      body: Fresh,
      status: 201,
      async run(directory, { body }) {
        // The edge has validated the body with this schema.
        const given = body as Static<typeof Fresh>
        const isPublic =
          given.isFallbackPublicClient === true ||
          (given.publicClient?.redirectUris ?? []).length > 0
        const { principal } = await directory.createServicePrincipal({
          displayName: given.displayName,
          redirectUris: redirectUrisOf(given) ?? [],
          ...(isPublic ? { publicClient: {} } : { secret: 'none' as const }),
        })
        return showWithSecrets(directory, principal)
      },
    },
    changeRoute('applications', 'ServicePrincipal', Changes, async (given, directory, id) => {
      const { displayName } = given
      await refuseOtherKind(directory, id, given.isFallbackPublicClient)
      const redirectUris = redirectUrisOf(given)
      return {
        ...(displayName === undefined ? {} : { displayName }),
        ...(redirectUris === undefined ? {} : { redirectUris }),
      }
    }),
    {
      method: 'POST',
      path: '/v1.0/servicePrincipals',
      action: action('write'),
      body: ServicePrincipal,
      status: 201,
      async run(directory, { body }) {
        // The edge has validated the body with this schema.
        const { appId, accountEnabled } = body as Static<typeof ServicePrincipal>
        const found = await directory.byClientId(appId)
        if (found === undefined) {
          const reason = `no application has the client id '${appId}'`
          throw refuse.InvalidRequestContent({ reason }, { target: 'appId' })
        }
        return showServicePrincipal(await withEnabled(directory, found, accountEnabled))
      },
    },
    ...applications.map((plural) => deleteRoute(plural, 'ServicePrincipal')),
    ...passwordRoutes,
  ]
}

const passwordRoutes: readonly DirectoryRoute[] = applications.flatMap(
  (plural): readonly DirectoryRoute[] => [
    {
      method: 'POST',
      path: `/v1.0/${plural}/{id}/addPassword`,
      action: action('secrets/write'),
      body: Password,
      status: 200,
      async run(directory, { params, body }) {
        // The edge has validated the body with this schema.
        const { passwordCredential = {} } = body as Static<typeof Password>
        const { displayName, endDateTime } = passwordCredential
        const { id } = await directory.get(param(params, 'id'), 'ServicePrincipal')
        const secret = await directory.addSecret(id, {
          ...(typeof displayName === 'string' ? { displayName } : {}),
          ...(typeof endDateTime === 'string' ? { expiresAt: parseTime(endDateTime) } : {}),
        })
        return { ...showSecret(secret), secretText: secret.value }
      },
    },
    {
      method: 'POST',
      path: `/v1.0/${plural}/{id}/removePassword`,
      action: action('secrets/delete'),
      body: KeyOfPassword,
      status: 204,
      async run(directory, { params, body }) {
        // The edge has validated the body with this schema.
        const { keyId } = body as Static<typeof KeyOfPassword>
        const { id } = await directory.get(param(params, 'id'), 'ServicePrincipal')
        await directory.removeSecret(id, keyId)
        return undefined
      },
    },
  ],
)

/**
 * What is made may be made disabled. Nothing is enabled by making it again: scripts do that to be sure that it is there,
 * and somebody disabled it.
 */
async function withEnabled(
  directory: IdentityDirectory,
  found: PrincipalRecord,
  wanted: boolean | undefined,
): Promise<PrincipalRecord> {
  if (wanted === undefined || wanted === found.enabled) return found
  if (!wanted) return directory.update(found.id, { enabled: false }, 'ServicePrincipal')
  const reason = 'the service principal is there and disabled; enable it by a change of its own'
  throw refuse.InvalidRequestContent({ reason }, { target: 'accountEnabled' })
}

/** An application has secrets, or is a public client, from its beginning. */
async function refuseOtherKind(
  directory: IdentityDirectory,
  id: string,
  isPublic: boolean | null | undefined,
): Promise<void> {
  if (typeof isPublic !== 'boolean') return
  const { publicClient } = await directory.get(id, 'ServicePrincipal')
  if (isPublic === publicClient) return
  const reason = `whether an application is a public client is said when it is made, and this one is ${publicClient ? 'one' : 'none'}`
  throw refuse.InvalidRequestContent({ reason }, { target: 'isFallbackPublicClient' })
}

/** Undefined where the body says nothing of them. */
function redirectUrisOf({ web, publicClient }: Static<typeof Changes>): string[] | undefined {
  const given = [web?.redirectUris, publicClient?.redirectUris].filter((one) => one !== undefined)
  return given.length === 0 ? undefined : given.flat()
}

function showSecret({ id, displayName, createdAt, expiresAt }: SecretRecord): object {
  return {
    keyId: id,
    displayName,
    startDateTime: new Date(createdAt).toISOString(),
    endDateTime: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  }
}

/** One by itself: with its secrets, not their values. */
export async function showWithSecrets(
  directory: IdentityDirectory,
  principal: PrincipalRecord,
): Promise<object> {
  const secrets = principal.publicClient ? [] : await directory.secrets(principal.id)
  return {
    ...showApplication(principal),
    passwordCredentials: secrets.map(showSecret),
    keyCredentials: [],
  }
}

/** Every application has exactly one service principal here, and the two have the same id. */
export function showApplication({
  id,
  displayName,
  clientId,
  redirectUris,
  publicClient,
  createdAt,
}: PrincipalRecord): object {
  return {
    id,
    displayName,
    ...(clientId === undefined ? {} : { appId: clientId }),
    createdDateTime: new Date(createdAt).toISOString(),
    web: { redirectUris: publicClient ? [] : redirectUris },
    publicClient: { redirectUris: publicClient ? redirectUris : [] },
  }
}
