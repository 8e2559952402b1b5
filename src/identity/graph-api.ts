/**
 * The part of the family's directory API that command lines need to turn names into object ids and back: users, groups,
 * service principals, applications, oneself, and many by their ids. They are written as far as such command lines do it; all else that
 * changes the directory is in `directory-api.ts`. Options that choose or count (`$select`, `$count`, `ConsistencyLevel`) are taken and change nothing.
 */

import { Type } from 'typebox'
import { refuse } from '#kernel/error.ts'
import { collection, type FieldMap } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import { acceptedOf, nextTurn } from '#stores/next-turn.ts'
import type { IdentityDirectory } from './directory.ts'
import { type DirectoryRoute, param } from './directory-route.ts'
import { applicationRoutes, showApplication, showWithSecrets } from './graph-applications.ts'
import { federatedRoutes } from './graph-federated.ts'
import { findPrincipal, membershipRoutes } from './graph-membership.ts'
import { peopleRoutes } from './graph-people.ts'
import { defaultIdentityLimits } from './limits.ts'
import type { LocalType, PrincipalRecord } from './principal-record.ts'
import { parseObjectId } from './principal-rules.ts'

/** The number of ids in one request. */
const idsMax = 1000
/** The number of principals a filter may look at. A larger directory gets a refusal, never an incomplete answer. */
const scannedMax = 20_000

const IdsBody = Type.Object({
  ids: Type.Array(Type.String({ maxLength: 100 }), { maxItems: idsMax }),
  types: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20 })),
})

type Show = (principal: PrincipalRecord) => object

/** `word` is the vendor's word as it stands in type names. */
export function graphRoutes(word: string): readonly DirectoryRoute[] {
  const show = shownBy(word.toLowerCase())
  const read = (kind: string): string => `Directory/${kind}/read`
  return [
    {
      method: 'GET',
      path: '/v1.0/me',
      action: undefined,
      status: 200,
      run: async (directory, { callerId }) => show(await directory.get(callerId)),
    },
    {
      method: 'POST',
      path: '/v1.0/directoryObjects/getByIds',
      action: read('users'),
      body: IdsBody,
      status: 200,
      readsMany: true,
      async run(directory, { body }) {
        // The edge has validated the body with this schema.
        const { ids, types } = body as { readonly ids: string[]; readonly types?: string[] }
        const wanted = types?.map((type) => type.toLowerCase())
        const found = await directory.records(ids.flatMap((id) => parseObjectId(id) ?? []))
        return {
          value: found.flatMap((one) => {
            const isWanted = wanted?.some((type) =>
              [one.type.toLowerCase(), 'directoryobject'].includes(type),
            )
            return (isWanted ?? true) ? [show(one)] : []
          }),
        }
      },
    },
    {
      method: 'GET',
      path: '/v1.0/directoryObjects/{id}',
      action: read('users'),
      status: 200,
      run: async (directory, { params }) => show(await directory.get(param(params, 'id'))),
    },
    ...listed({ plural: 'users', type: 'User', action: read('users'), show }),
    ...listed({ plural: 'groups', type: 'Group', action: read('groups'), show }),
    ...listed({
      plural: 'servicePrincipals',
      type: 'ServicePrincipal',
      action: read('servicePrincipals'),
      show,
    }),
    ...listed({
      plural: 'applications',
      type: 'ServicePrincipal',
      action: read('servicePrincipals'),
      show: showApplication,
      showOne: showWithSecrets,
    }),
    ...applicationRoutes(show),
    ...federatedRoutes,
    ...membershipRoutes(show),
    ...peopleRoutes(show),
    {
      method: 'GET',
      path: '/v1.0/groups/{id}/members',
      action: read('groups'),
      status: 200,
      readsMany: true,
      async run(directory, { params }) {
        const id = param(params, 'id')
        const members = await directory.members(id, undefined, defaultIdentityLimits.pageSizeMax)
        return { value: members.items.map(show) }
      },
    },
  ]
}

interface Listed {
  readonly plural: string
  readonly type: LocalType
  readonly action: string
  readonly show: Show
  /** Default: as in the list. */
  readonly showOne?: (directory: IdentityDirectory, principal: PrincipalRecord) => Promise<object>
}

function listed({ plural, type, action, show, showOne }: Listed): readonly DirectoryRoute[] {
  return [
    {
      method: 'GET',
      path: `/v1.0/${plural}`,
      action,
      status: 200,
      readsMany: true,
      run: async (directory, { query }) => ({
        value: (await search(directory, type, query)).map(show),
      }),
    },
    {
      method: 'GET',
      path: `/v1.0/${plural}/{id}`,
      action,
      status: 200,
      async run(directory, { params }) {
        const found = await findPrincipal(directory, param(params, 'id'), type)
        return showOne === undefined ? show(found) : showOne(directory, found)
      },
    },
  ]
}

const text = { type: 'string', ignoreCase: true } as const
const fields: FieldMap<PrincipalRecord> = {
  lenient: true,
  fields: {
    id: { ...text, read: ({ id }) => id },
    displayName: { ...text, read: ({ displayName }) => displayName },
    userPrincipalName: { ...text, read: ({ signInName }) => signInName },
    mail: { ...text, read: ({ signInName }) => signInName },
    mailNickname: { ...text, read: nicknameOf },
    appId: { ...text, read: ({ clientId }) => clientId },
    accountEnabled: { type: 'boolean', read: ({ enabled }) => enabled },
  },
  collections: {
    // Applications are known by their client ids alone.
    identifierUris: collection((): string[] => [], {
      fields: {},
      self: { ...text, read: (name: string) => name },
    }),
    servicePrincipalNames: collection(
      ({ clientId }: PrincipalRecord) => (clientId === undefined ? [] : [clientId]),
      { fields: {}, self: { ...text, read: (name: string) => name } },
    ),
  },
}

async function search(
  directory: IdentityDirectory,
  type: LocalType,
  query: Readonly<Record<string, string | undefined>>,
): Promise<readonly PrincipalRecord[]> {
  const matches = filterOf(query['$filter'] ?? null, fields)
  const top = topOf(query['$top'])
  const found: PrincipalRecord[] = []
  let after: string | undefined
  for (let looked = 0; looked < scannedMax; ) {
    const page = await directory.list(type, after, defaultIdentityLimits.pageSizeMax)
    found.push(...(await acceptedOf(page.items, matches)).slice(0, top - found.length))
    if (page.next === undefined || found.length === top) return found
    looked += page.items.length
    after = page.next
    await nextTurn()
  }
  throw refuse.InvalidFilterInQueryString({ reason: 'it looks at too many; ask by id' })
}

function topOf(given: string | undefined): number {
  if (given === undefined) return idsMax - 1
  if (!/^[1-9]\d{0,2}$/.test(given)) {
    throw refuse.InvalidQueryParameter({ name: '$top', reason: 'expected 1 to 999' })
  }
  return Number(given)
}

function shownBy(word: string): Show {
  const kinds = { User: 'user', Group: 'group', ServicePrincipal: 'servicePrincipal' } as const
  return (principal) => ({
    '@odata.type': `#${word}.graph.${kinds[principal.type]}`,
    id: principal.id,
    displayName: principal.displayName,
    createdDateTime: new Date(principal.createdAt).toISOString(),
    ...ownMembers(principal),
  })
}

/** None is kept. By this one a client finds the group again that it made with a nickname like its name. */
function nicknameOf({ displayName, signInName }: PrincipalRecord): string {
  return (signInName?.replace(/@.*$/s, '') ?? displayName).replace(/[^\w.-]/g, '')
}

function ownMembers(principal: PrincipalRecord): object {
  const { type, signInName, clientId, enabled } = principal
  switch (type) {
    case 'User':
      return {
        userPrincipalName: signInName,
        mailNickname: nicknameOf(principal),
        accountEnabled: enabled,
      }
    case 'Group':
      return { mailNickname: nicknameOf(principal), securityEnabled: true, mailEnabled: false }
    case 'ServicePrincipal':
      return {
        accountEnabled: enabled,
        ...(clientId === undefined ? {} : { appId: clientId, servicePrincipalNames: [clientId] }),
        servicePrincipalType: 'Application',
      }
    default:
      return type satisfies never
  }
}
