/**
 * Services, to which APIs belong. A service is a registry of definitions without a gateway, so nothing is
 * provisioned.
 */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { serviceName } from '../../domain/names.ts'
import { allDates } from '../../published-versions.ts'
import type { Service } from './model.ts'
import { serviceVersion } from './versions/2016-07-07.ts'

const type = 'ApiManagement/service'
type Stored = Resource<Service>

export function services(publicUrl: () => string): ResourceType {
  return defineStored<Service>({
    type,
    description: 'A service, under which APIs and their operations are defined.',
    scope: 'resource-group',
    query: countedQuery,
    tracked: { location: 'optional' },
    name: serviceName,
    movable: true,
    versions: allDates.map((date) => serviceVersion(date, publicUrl)),
    protocol: {
      headStatus: 200,
      answers: {
        created: { leadsTo: 'operation' },
        changed: { leadsTo: 'operation' },
        deleted: { leadsTo: 'operation', status: 202 },
      },
    },
    summary: ({ sku, zones }) => ({ sku, ...(zones === undefined ? {} : { zones }) }),
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
  })
}
