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

export function policies(): readonly ResourceType[] {
  return defineAbsent('Authorization', kinds, { scope: 'any', apiVersions })
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
