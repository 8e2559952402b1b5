/** The policy of an operation, an API, a product or a service: at most one, always named `policy` (facts 3.2). */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored, type Protocol } from '#plane/declare/stored.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { refuseFields } from '../../errors.ts'
import { allDates, definitionDates, workspaceDates } from '../../published-versions.ts'
import type { OperationPolicy } from './model.ts'
import { operationPolicy } from './versions/2016-07-07.ts'

export function operationPolicies(): readonly ResourceType[] {
  return [
    // A service always has a policy, so writing one is not a creation.
    policyType('ApiManagement/service/policies', definitionDates, {
      answers: { created: { status: 200 } },
    }),
    ...['/products', '/apis'].map((place) =>
      policyType(`ApiManagement/service${place}/policies`, definitionDates, {}),
    ),
    policyType('ApiManagement/service/apis/operations/policies', allDates),
    policyType('ApiManagement/service/workspaces/apis/operations/policies', workspaceDates),
  ]
}

/** Deleting the policy of an operation needs its tag (facts 3.2); clients delete the others without one. */
function policyType(
  type: string,
  dates: readonly string[],
  own: Pick<Protocol, 'ifMatchRequired' | 'answers'> = { ifMatchRequired: ['delete'] },
): ResourceType {
  const rule = "the constant 'policy'"
  return defineStored<OperationPolicy>({
    type,
    description: 'A policy document, kept as it was given.',
    scope: 'resource-group',
    query: countedQuery,
    name: {
      pattern: /^policy$/i,
      rule,
      refuse: () => refuseFields([{ path: 'name', message: `must be ${rule}` }]),
    },
    movable: true,
    versions: dates.map(operationPolicy),
    verbs: ['get', 'list', 'put', 'delete'],
    protocol: { headStatus: 200, anyMatchCreates: true, ...own },
    list: {
      page: countedList<OperationPolicy>(type, {
        name: { type: 'string', read: ({ id }: Resource<OperationPolicy>) => nameOf(id) },
      }),
    },
  })
}
