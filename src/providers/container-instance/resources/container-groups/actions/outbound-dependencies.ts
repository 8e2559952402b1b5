/** `outboundNetworkDependenciesEndpoints`: what must be reachable to pull a group's images. */

import Type from 'typebox'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { registryOf } from '../../../domain/groups/image-policy.ts'
import { allContainers, type ContainerGroup } from '../model.ts'

export const outboundDependencies: Action<ContainerGroup> = {
  method: 'GET',
  description: 'The hosts that a group has to reach from the network it is in.',
  answer: added(Type.Array(Type.String())),
  async run({ resource }) {
    const images =
      resource === undefined
        ? []
        : allContainers(resource.model).flatMap((one) => one.properties.image ?? [])
    return { status: 200, body: [...new Set(images.map(registryOf))].sort() }
  },
}
