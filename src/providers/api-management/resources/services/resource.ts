/**
 * Services, to which APIs belong. A service is a registry of definitions without a gateway, so nothing is
 * provisioned.
 */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored, type StoredMembers } from '#plane/declare/stored.ts'
import type { ServiceDependencies } from '../../dependencies.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { serviceName } from '../../domain/names.ts'
import {
  identityReconciler,
  requireAssignable,
  rightsToAssign,
  showIdentity,
  withAssigned,
} from '../../domain/service-identity.ts'
import { allDates } from '../../published-versions.ts'
import type { Service } from './model.ts'
import { serviceVersion } from './versions/2016-07-07.ts'

const type = 'ApiManagement/service'
type Stored = Resource<Service>

export function services(deps: ServiceDependencies | undefined): ResourceType {
  const members = membersOf(deps)
  if (deps === undefined) return defineStored<Service>(members)
  return defineReconciled<Service>({
    ...members,
    prepare: (_context, body: object) => withAssigned(deps, body),
    rightsElsewhere: (_id, body: object) => rightsToAssign(deps, body),
    rules: (context) => {
      requireAssignable(deps, context)
      return []
    },
    reconcile: identityReconciler(deps),
  })
}

function membersOf(deps: ServiceDependencies | undefined): StoredMembers<Service> {
  return {
    type,
    description: 'A service, under which APIs and their operations are defined.',
    scope: 'resource-group',
    query: countedQuery,
    tracked: { location: 'optional' },
    name: serviceName,
    // The directory knows the identity by the id of its service.
    movable: ({ model }) => model.identity?.principalId === undefined,
    versions: allDates.map((date) => serviceVersion(date, deps)),
    protocol: {
      headStatus: 200,
      answers: {
        created: { leadsTo: 'operation' },
        changed: { leadsTo: 'operation' },
        deleted: { leadsTo: 'operation', status: 202 },
      },
    },
    summary: ({ sku, zones, identity }) => ({
      sku,
      ...(zones === undefined ? {} : { zones }),
      ...(identity === undefined ? {} : { identity: showIdentity(identity) }),
    }),
    list: {
      page: countedList<Service>(type, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        publisherName: { type: 'string', read: ({ model }) => model.publisherName },
        publisherEmail: { type: 'string', read: ({ model }) => model.publisherEmail },
      }),
    },
    sample: {
      name: (seed) => `service-${seed}`,
      body: () => ({
        location: 'local',
        sku: { name: 'Developer', capacity: 1 },
        properties: { publisherEmail: 'apis@example.test', publisherName: 'Example' },
      }),
      changed: () => ({
        location: 'local',
        sku: { name: 'Developer', capacity: 1 },
        properties: { publisherEmail: 'apis@example.test', publisherName: 'Example, renamed' },
      }),
    },
  }
}
