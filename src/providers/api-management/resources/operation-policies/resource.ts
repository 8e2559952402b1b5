/** The policy of an operation: at most one, always named `policy` (facts 3.2). */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { countedList } from '../../domain/counted-list.ts'
import { refuseFields } from '../../errors.ts'
import { allDates, workspaceDates } from '../../published-versions.ts'
import type { OperationPolicy } from './model.ts'
import { operationPolicy } from './versions/2016-07-07.ts'

export function operationPolicies(): readonly ResourceType[] {
  return [
    policyType('ApiManagement/service/apis/operations/policies', allDates),
    policyType('ApiManagement/service/workspaces/apis/operations/policies', workspaceDates),
  ]
}

function policyType(type: string, dates: readonly string[]): ResourceType {
  const rule = "the constant 'policy'"
  return defineStored<OperationPolicy>({
    type,
    description: 'The policy document of an operation, kept as it was given.',
    scope: 'resource-group',
    name: {
      pattern: /^policy$/i,
      rule,
      refuse: () => refuseFields([{ path: 'name', message: `must be ${rule}` }]),
    },
    versions: dates.map(operationPolicy),
    verbs: ['get', 'list', 'put', 'delete'],
    protocol: { headStatus: 200, ifMatchRequired: ['delete'], anyMatchCreates: true },
    list: {
      page: countedList<OperationPolicy>(type, {
        name: { type: 'string', read: ({ id }: Resource<OperationPolicy>) => nameOf(id) },
      }),
    },
  })
}
