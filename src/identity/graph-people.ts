/**
 * Users, groups and memberships as command lines write them (`az ad user`, `az ad group`). What cannot be kept here (a mailbox,
 * a description, owners, a password that must be changed at the next sign-in) is refused with its path, and members are added to a group
 * that is there, by a right of its own; `mailNickname`, which these
 * clients cannot leave out, is taken and not kept: the one that is shown is made of the name. A password is changed at `/directory/users/{id}/setPassword`, by a right of its own.
 */

import { type Static, Type } from 'typebox'
import { type DirectoryRoute, param } from './directory-route.ts'
import { changeRoute, deleteRoute } from './graph-write.ts'
import type { PrincipalRecord } from './principal-record.ts'

const name = Type.String({ minLength: 1, maxLength: 256 })
const nickname = Type.Optional(Type.String({ maxLength: 256 }))
/** The address of a principal: its last segment is the id. */
const reference = Type.String({ maxLength: 2048, pattern: '/[0-9A-Fa-f-]{36}$' })

const NewUser = Type.Object(
  {
    displayName: name,
    userPrincipalName: name,
    accountEnabled: Type.Optional(Type.Literal(true)),
    mailNickname: nickname,
    passwordProfile: Type.Object(
      {
        password: Type.String({ minLength: 1, maxLength: 1024 }),
        forceChangePasswordNextSignIn: Type.Optional(Type.Literal(false)),
        forceChangePasswordNextSignInWithMfa: Type.Optional(Type.Literal(false)),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
const UserChange = Type.Object(
  {
    displayName: Type.Optional(name),
    accountEnabled: Type.Optional(Type.Boolean()),
    mailNickname: nickname,
  },
  { additionalProperties: false },
)
const kindOfGroup = {
  mailEnabled: Type.Optional(Type.Literal(false)),
  securityEnabled: Type.Optional(Type.Literal(true)),
  mailNickname: nickname,
  groupTypes: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 0 })),
}
const NewGroup = Type.Object({ ...kindOfGroup, displayName: name }, { additionalProperties: false })
const GroupChange = Type.Object(
  { ...kindOfGroup, displayName: Type.Optional(name) },
  { additionalProperties: false },
)
const Member = Type.Object({ '@odata.id': reference }, { additionalProperties: false })

type Show = (principal: PrincipalRecord) => object

export function peopleRoutes(show: Show): readonly DirectoryRoute[] {
  return [...userRoutes(show), ...groupRoutes(show), ...memberRoutes]
}

function userRoutes(show: Show): readonly DirectoryRoute[] {
  return [
    {
      method: 'POST',
      path: '/v1.0/users',
      action: 'Directory/users/write',
      body: NewUser,
      status: 201,
      async run(directory, { body }) {
        // The edge has validated the body with this schema.
        const { displayName, userPrincipalName, passwordProfile } = body as Static<typeof NewUser>
        const { password } = passwordProfile
        return show(
          await directory.createUser({ displayName, signInName: userPrincipalName, password }),
        )
      },
    },
    changeRoute('users', 'User', UserChange, ({ displayName, accountEnabled }) => ({
      ...(displayName === undefined ? {} : { displayName }),
      ...(accountEnabled === undefined ? {} : { enabled: accountEnabled }),
    })),
    deleteRoute('users', 'User'),
  ]
}

function groupRoutes(show: Show): readonly DirectoryRoute[] {
  return [
    {
      method: 'POST',
      path: '/v1.0/groups',
      action: 'Directory/groups/write',
      body: NewGroup,
      status: 201,
      async run(directory, { body }) {
        // The edge has validated the body with this schema.
        const { displayName } = body as Static<typeof NewGroup>
        return show(await directory.createGroup({ displayName }))
      },
    },
    changeRoute('groups', 'Group', GroupChange, ({ displayName }) =>
      displayName === undefined ? {} : { displayName },
    ),
    deleteRoute('groups', 'Group'),
  ]
}

const memberRoutes: readonly DirectoryRoute[] = [
  {
    method: 'POST',
    path: '/v1.0/groups/{id}/members/$ref',
    action: 'Directory/groups/members/write',
    body: Member,
    status: 204,
    run(directory, { params, body }) {
      // The edge has validated the body with this schema.
      const { '@odata.id': address } = body as Static<typeof Member>
      const id = address.slice(address.lastIndexOf('/') + 1)
      return directory.addMember(param(params, 'id'), id)
    },
  },
  {
    method: 'DELETE',
    path: '/v1.0/groups/{id}/members/{memberId}/$ref',
    action: 'Directory/groups/members/delete',
    status: 204,
    run: (directory, { params }) =>
      directory.removeMember(param(params, 'id'), param(params, 'memberId')),
  },
]
