/**
 * The demo of access control: an application that may read a group, and a delegate who may only grant that right.
 * It prints what the delegate may do, and what is refused.
 */

import type { VendorWords } from '#kernel/vendor.ts'
import { qualify } from '#kernel/vendor.ts'
import { apiVersions, extensionPath } from '../../../resource-path.ts'
import { uuidOf } from '../../../uuid-of.ts'
import type { DemoArea, DemoCall } from '../area.ts'

/** The built-in roles Reader, Contributor and Role Based Access Control Administrator (facts 2.6). */
const readerRole = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const contributorRole = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const administratorRole = 'f58310d9-a9f6-439a-9e8d-f62e7b41a168'

export const area: DemoArea = {
  name: 'access',
  summary: 'role assignments, and a delegate bound by a condition',
  operations: [1],
  async prepare(fixture) {
    const group = await fixture.group()
    const readerId = await fixture.servicePrincipal('demo-reader')
    const otherId = await fixture.servicePrincipal('demo-other')
    const delegate = await fixture.caller('demo-delegate')
    const { words } = fixture
    const version = `api-version=${apiVersions.roleAssignments}`
    const assignments = extensionPath(words, group, 'Authorization/roleAssignments')
    const definitions = extensionPath(words, '/', 'Authorization/roleDefinitions')
    const pathOf = (principalId: string, what = ''): string =>
      `${assignments}/${uuidOf(`demo|${group.toLowerCase()}|${principalId}${what}`)}?${version}`
    const bodyOf = (role: string, principalId: string, extra: object = {}) => ({
      properties: {
        roleDefinitionId: `${definitions}/${role}`,
        principalId,
        principalType: 'ServicePrincipal',
        description: 'Made by the demo',
        ...extra,
      },
    })
    const own = pathOf(delegate.principalId)
    await fixture.put(
      own,
      bodyOf(administratorRole, delegate.principalId, {
        condition: onlyReadersToApplications(words),
        conditionVersion: '2.0',
      }),
      'demo-delegate may assign roles in the group demo: only Reader, and only to service principals',
    )
    const call = (title: string, path: string, body: object, more: Partial<DemoCall> = {}) => ({
      operation: 1,
      title,
      method: 'PUT',
      path,
      body,
      ...more,
    })
    const refused = { as: delegate, expect: 403 }
    const user = '00000000-0000-4000-8000-000000000001'
    return [
      call(
        'create or update a role assignment; here demo-reader may read the group demo',
        pathOf(readerId),
        bodyOf(readerRole, readerId),
      ),
      call(
        'the delegate lets demo-other read the group: the condition holds',
        pathOf(otherId),
        bodyOf(readerRole, otherId),
        { as: delegate },
      ),
      call(
        'the delegate tries another role: refused',
        pathOf(otherId, '|contributor'),
        bodyOf(contributorRole, otherId),
        refused,
      ),
      call(
        'the delegate tries a user: refused',
        pathOf(user),
        bodyOf(readerRole, user, { principalType: 'User' }),
        refused,
      ),
      call(
        'the delegate tries to take the condition off their own assignment: refused',
        own,
        bodyOf(administratorRole, delegate.principalId),
        refused,
      ),
      {
        operation: 1,
        title: 'why: which assignment came nearest, and which part of its condition was not true',
        method: 'POST',
        path: `${extensionPath(words, group, 'Authorization/checkAccess')}?${version}`,
        body: {
          principalId: delegate.principalId,
          actions: [qualify(words, 'Authorization/roleAssignments/write')],
          request: {
            [`${qualify(words, 'Authorization/roleAssignments')}:RoleDefinitionId`]:
              contributorRole,
            [`${qualify(words, 'Authorization/roleAssignments')}:PrincipalType`]:
              'ServicePrincipal',
          },
        },
      },
    ]
  },
}

/** One part for new assignments, one for deletions; each allows the actions it does not concern. */
function onlyReadersToApplications(words: VendorWords): string {
  const type = qualify(words, 'Authorization/roleAssignments')
  const part = (verb: string, source: string): string =>
    `(!(ActionMatches{'${type}/${verb}'}) OR (@${source}[${type}:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {${readerRole}} AND @${source}[${type}:PrincipalType] StringEqualsIgnoreCase 'ServicePrincipal'))`
  return `${part('write', 'Request')} AND ${part('delete', 'Resource')}`
}
