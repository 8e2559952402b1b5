/** The namespace `ApiManagement`: definitions of APIs and of their operations. It has no gateway and calls nobody. */

import { defineProvider, type Provider } from '#plane/define.ts'
import { apis } from './apis/resource.ts'
import { apiManagementErrors, refuseFields } from './errors.ts'
import { operationPolicies } from './operation-policies/resource.ts'
import { operations } from './operations/resource.ts'
import { services } from './services/resource.ts'
import { workspaces } from './workspaces/resource.ts'

export function apiManagementProvider(): Provider {
  return defineProvider({
    namespace: 'ApiManagement',
    description: 'APIs and their operations, as definitions.',
    errors: apiManagementErrors.entries,
    refuseProblems: refuseFields,
    types: [services(), workspaces(), ...apis(), ...operations(), ...operationPolicies()],
  })
}
