/** Shared by the commands of API management. */

import { propertyOf } from '#client/resource.ts'
import { consentOptions, consentVersion } from './consent.ts'
import type { Connection } from './context.ts'
import { member } from './directory.ts'
import { type GroupPlace, groupOptions, inGroup } from './group-place.ts'
import type { Noun } from './resource-commands.ts'

const version = consentVersion['api-version']

export const apiServices = {
  noun: 'api-service',
  title: 'API management service',
  version,
  options: groupOptions,
  example: '-g demo',
  columns: [
    { title: 'NAME', of: member('name') },
    { title: 'LOCATION', of: member('location') },
    { title: 'GATEWAY', of: (row: unknown) => propertyOf(row, 'gatewayUrl') },
  ],
  async path(connection: Connection, place: GroupPlace, name?: string) {
    const list = await inGroup(connection, place, 'ApiManagement/service')
    return name === undefined ? list : `${list}/${encodeURIComponent(name)}`
  },
} satisfies Noun<typeof groupOptions>

const apiOptions = { ...groupOptions, service: consentOptions.service } as const

interface ApiPlace extends GroupPlace {
  readonly service: string
}

export const apis = {
  noun: 'api',
  title: 'API of a service',
  version,
  options: apiOptions,
  example: '-g demo -s pets',
  columns: [
    { title: 'NAME', of: member('name') },
    { title: 'PATH', of: (row: unknown) => propertyOf(row, 'path') },
    { title: 'TITLE', of: (row: unknown) => propertyOf(row, 'displayName') },
  ],
  async path(connection: Connection, place: ApiPlace, name?: string) {
    const list = `${await apiServices.path(connection, place, place.service)}/apis`
    return name === undefined ? list : `${list}/${encodeURIComponent(name)}`
  },
} satisfies Noun<typeof apiOptions>
