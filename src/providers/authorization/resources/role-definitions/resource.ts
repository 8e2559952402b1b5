/**
 * Role definitions: what a role allows and where it may be assigned. Built-in ones are data, custom ones are
 * stored.
 */

import { nameOf } from '#kernel/resource-id.ts'
import { uuidPattern } from '#kernel/uuid.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { AssignmentsOf, Authorizer } from '../../domain/authorizer.ts'
import type { BuiltInRoles } from '../../domain/built-in-roles.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { refuseAuthorization } from '../../errors.ts'
import { roleDefinitionSource } from './list.ts'
import { type RoleDefinition, roleDefinitionId } from './model.ts'
import { roleDefinitionRules, roleDeletionRules } from './rules.ts'
import { v2022_04_01 } from './versions/2022-04-01.ts'

interface RoleDefinitionDependencies {
  readonly words: VendorWords
  readonly builtIns: BuiltInRoles
  readonly limits: AuthorizationLimits
  readonly placesAbove: Authorizer['placesAbove']
  readonly assignmentsOf: AssignmentsOf
}

export function roleDefinitions(deps: RoleDefinitionDependencies): ResourceType {
  const { words } = deps
  return defineStored<RoleDefinition>({
    type: 'Authorization/roleDefinitions',
    description: 'Roles: sets of permitted actions, and the scopes they may be assigned at.',
    scope: 'any',
    query: { list: ['$filter'] },
    name: {
      pattern: uuidPattern,
      rule: 'a GUID',
      refuse: (name) =>
        refuseAuthorization.InvalidRoleDefinitionId({ id: name, reason: 'the name is not a GUID' }),
    },
    versions: [v2022_04_01],
    verbs: ['get', 'list', 'put', 'delete'],
    // Published clients take anything but a 201 for a failure, also of a change.
    protocol: { answers: { changed: { status: 201 } } },
    feed: 'authorization',
    source: roleDefinitionSource(deps),
    // One row per role; authorization checks the scope of the path.
    sharedRow: { idOf: (id) => roleDefinitionId(words, nameOf(id)) },
    rules: (context) => roleDefinitionRules(context, deps),
    deleteRules: (context) => roleDeletionRules(context, deps),
    unique: {
      key: (_id, role) => `authorization/role-name/${role.roleName.toLowerCase()}`,
      refuse: (_id, existing) =>
        refuseAuthorization.RoleDefinitionWithSameNameExists({
          existing: existing === undefined ? '' : `: ${existing.text}`,
        }),
    },
    notFound: (id) => refuseAuthorization.RoleDefinitionDoesNotExist({ name: nameOf(id) }),
    sample: {
      name: (seed) => `0c0ffee0-0000-4000-8000-${seed.toString(16).padStart(12, '0')}`,
      body: (seed) => sampleBody(seed, 'Restarts things.'),
      changed: (seed) => sampleBody(seed, 'Restarts things, carefully.'),
    },
  })
}

/** The scope at which the resource contract suite puts extensions: a role applies no further than its scopes. */
const sampleScope = '/subscriptions/99999999-2222-4333-8444-555555555555/resourceGroups/contract'

function sampleBody(seed: number, description: string): object {
  return {
    properties: {
      roleName: `Sample role ${seed}`,
      description,
      permissions: [{ actions: ['*/read', '*/restart/action'] }],
      assignableScopes: [sampleScope],
    },
  }
}
