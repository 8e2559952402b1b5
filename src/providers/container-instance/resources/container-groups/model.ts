/**
 * The stored shape of a container group: what the user wrote, with defaults, less its secrets, which are kept
 * sealed beside it. What was seen on the engine is never in here (`observed.ts`).
 */

import { createHash } from 'node:crypto'
import type { Principal } from '#kernel/principal.ts'
import { placeOf, type SealedParts } from '../../domain/sealed-secrets.ts'
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
  /** What the user last asked for by PUT, `start`, `restart` or `stop`. */
  readonly intent: 'running' | 'stopped'
  /** Raised by `start` and `restart`: the same containers, made anew. */
  readonly epoch: number
  /** The resource id in lower case: what its secrets are sealed for. */
  readonly place: string
  readonly zones?: readonly string[]
  readonly identity?: GroupIdentity
  readonly properties: GroupProperties
  readonly secrets: SealedParts
  /** The DNS label with what its scope adds, without location and suffix. */
  readonly domain?: string
  /** `domain` in its location: nobody else may have it. */
  readonly domainKey?: string
  /** A profile was named that is not there: the group cannot be made. */
  readonly missingProfile?: string
  /** Ids of secrets, in lower case, by their URIs: those that the writer of the group was allowed to use. */
  readonly secretIds?: Readonly<Record<string, string>>
  /** Who wrote the references to secrets, or started the group last. Its right is asked whenever a value is read. */
  readonly writer?: Principal
  /**
   * By volume, the resource group that the account of its share is in, as a key; left out where it is the
   * group's own.
   */
  readonly shareOwners?: Readonly<Record<string, string>>
}

/** Facts 4.4: a deployment gives up after 30 minutes. */
export const provisioningSeconds = 1800

export const defaultRequests = { cpu: 1, memoryInGB: 1.5 } as const

/**
 * Another hash is another set of containers. Of the whole model but the intent and the writer: a PUT that
 * changes anything is a full replace (facts 4.5), stopping is not, and the same body by somebody else is not.
 */
export function hashOf({ intent: _, writer: _by, ...rest }: ContainerGroup): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 32)
}

/** All containers, init ones first, in the order they are started. */
export function allContainers({ properties }: Pick<ContainerGroup, 'properties'>): readonly {
  readonly init: boolean
  readonly name: string
  /** As in the places of secrets and the paths of problems. */
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

/** Where the secret value of a variable is kept. */
export function variablePlace(list: string, container: string, variable: string): string {
  return placeOf(list, container, 'properties', 'environmentVariables', variable, 'secureValue')
}
