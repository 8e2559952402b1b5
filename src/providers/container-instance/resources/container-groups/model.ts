/**
 * The stored form of a container group: what the user wrote, with defaults. Secrets are sealed beside it. The
 * observed state is stored separately (`observed.ts`).
 */

import { createHash } from 'node:crypto'
import type { Principal } from '#kernel/principal.ts'
import { placeOf, type SealedSecrets } from '../../domain/sealed-secrets.ts'
import type { GroupProperties } from './versions/shapes.ts'

export interface GroupIdentity {
  readonly type: string
  readonly tenantId: string
  /** The principal of the group's system-assigned identity. */
  readonly principalId?: string
  /** User-assigned identities by their resource ids, as written. */
  readonly userAssigned: Readonly<
    Record<string, { readonly clientId: string; readonly principalId: string }>
  >
}

export interface ContainerGroup {
  /** What the user last requested by PUT, `start`, `restart` or `stop`. */
  readonly intent: 'running' | 'stopped'
  /** Raised by `start` and `restart`: the same containers, created again. */
  readonly epoch: number
  /** The resource id in lower case: the context of its sealed secrets. */
  readonly place: string
  readonly zones?: readonly string[]
  readonly identity?: GroupIdentity
  readonly properties: GroupProperties
  readonly secrets: SealedSecrets
  /** The DNS label with the addition of its scope, without location and suffix. */
  readonly domain?: string
  /** `domain` in its location, which is unique. */
  readonly domainKey?: string
  /** The named profile does not exist, so the group cannot be created. */
  readonly missingProfile?: string
  /** Ids of secrets in lower case by URI: those that the writer of the group was allowed to use. */
  readonly secretIds?: Readonly<Record<string, string>>
  /**
   * Who wrote the references to secrets, or started the group last. This right is checked whenever a value is read.
   */
  readonly writer?: Principal
  /** By volume: the key of the resource group that holds the account of its share, if it is not the group's own. */
  readonly shareOwners?: Readonly<Record<string, string>>
}

/** Facts 4.4: a deployment gives up after 30 minutes. */
export const provisioningSeconds = 1800

export const defaultRequests = { cpu: 1, memoryInGB: 1.5 } as const

/**
 * A different hash means different containers. It covers the whole model except the intent and the writer: a PUT
 * with any change is a full replacement (facts 4.5), but stopping, or the same body by another writer, is not.
 */
export function hashOf({ intent: _, writer: _by, ...rest }: ContainerGroup): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 32)
}

/** All containers, init ones first, in starting order. */
export function allContainers({ properties }: Pick<ContainerGroup, 'properties'>): readonly {
  readonly init: boolean
  readonly name: string
  /** The list's name in places of secrets and paths of problems. */
  readonly list: 'initContainers' | 'containers'
  readonly at: number
  readonly properties: NonNullable<GroupProperties['containers'][number]['properties']>
}[] {
  const { initContainers = [], containers } = properties
  return [
    ...initContainers.map((each, at) => ({
      init: true,
      name: each.name,
      list: 'initContainers' as const,
      at,
      properties: each.properties ?? {},
    })),
    ...containers.map((each, at) => ({
      init: false,
      name: each.name,
      list: 'containers' as const,
      at,
      properties: each.properties ?? {},
    })),
  ]
}

/** The place of a variable's secret value. */
export function variablePlace(list: string, container: string, variable: string): string {
  return placeOf(list, container, 'properties', 'environmentVariables', variable, 'secureValue')
}
