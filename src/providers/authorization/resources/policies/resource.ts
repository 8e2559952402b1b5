/** Policies: no policy decides over a write here, so there are none. Documents take them where any type is a document. */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'

const apiVersions = ['2021-06-01', '2023-04-01', '2025-03-01']

const kinds = {
  policyAssignments: 'What is required of resources at a scope: nothing by policy.',
  policyDefinitions: 'Requirements that could be assigned. There are none.',
  policySetDefinitions: 'Groups of such requirements. There are none.',
  policyExemptions: 'What is left out of a requirement. There are none.',
}

/** A role counts from its assignment to its removal: nobody activates, approves or extends it. */
const ofRoles = {
  roleManagementPolicies: 'What is required before a role is held. Nothing: it is held at once.',
  roleManagementPolicyAssignments: 'Which roles such a policy is for. There are none.',
  roleEligibilitySchedules: 'Roles that somebody could activate. They hold theirs instead.',
  roleEligibilityScheduleInstances: 'Roles that somebody could activate now. There are none.',
  roleEligibilityScheduleRequests: 'Who asked to be able to activate a role. Nobody.',
}

export function policies(): readonly ResourceType[] {
  return [
    ...defineAbsent('Authorization', kinds, { scope: 'any', apiVersions }),
    ...defineAbsent('Authorization', ofRoles, { scope: 'any', apiVersions: ['2020-10-01'] }),
  ]
}

/** Administrators of the time before roles. Clients list them beside role assignments. */
export function classicAdministrators(): readonly ResourceType[] {
  const administrators = 'Administrators of the time before roles. There are none.'
  return defineAbsent(
    'Authorization',
    { classicAdministrators: administrators },
    { scope: 'subscription', apiVersions: ['2015-06-01', '2015-07-01'] },
  )
}
