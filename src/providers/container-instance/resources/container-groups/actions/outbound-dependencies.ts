/** `outboundNetworkDependenciesEndpoints`: what must be reachable to pull a group's images. */

import type { Action } from '#plane/declare/action.ts'
import { registryOf } from '../../../domain/groups/image-policy.ts'
import { allContainers, type ContainerGroup } from '../model.ts'

export const outboundDependencies: Action<ContainerGroup> = {
  method: 'GET',
  description: 'The hosts that a group has to reach from the network it is in.',
  async run({ resource }) {
    const images =
      resource === undefined
        ? []
        : allContainers(resource.model).flatMap((one) => one.properties.image ?? [])
    return { status: 200, body: [...new Set(images.map(registryOf))].sort() }
  },
}
