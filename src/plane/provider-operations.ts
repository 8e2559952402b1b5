/** `GET /providers/{namespace}/operations` (facts 9.8): the actions of a namespace, made from its table. */

import { defineComputed } from './declare/computed.ts'
import type { ResourceType } from './declare/provider.ts'
import type { RouteDescription } from './plane.ts'

const says: Readonly<Record<string, string>> = {
  read: 'Read',
  write: 'Create or update',
  delete: 'Delete',
}

export function providerOperations(
  namespace: string,
  routes: () => readonly RouteDescription[],
): ResourceType {
  return defineComputed({
    type: `${namespace}/operations`,
    description: 'The actions of this namespace.',
    scope: 'tenant',
    apiVersions: 'any',
    openList: true,
    source: {
      list: async ({ words }) => {
        const full = `${words.namespace}.${namespace}`
        const own = routes().filter((route) => route.namespace === full && route.action !== '')
        const byAction = new Map(own.map((route) => [route.action, route]))
        return { items: [...byAction.values()].map((route) => item(route)) }
      },
    },
  })
}

function item({ action, namespace, type, summary }: RouteDescription): object {
  const verb = action.slice(action.lastIndexOf('/') + 1)
  return {
    name: action,
    isDataAction: false,
    display: {
      provider: namespace,
      resource: type.slice(type.indexOf('/') + 1),
      operation:
        verb === 'action'
          ? summary
          : `${says[verb] ?? verb} ${type.slice(type.lastIndexOf('/') + 1)}`,
      description: `${summary}.`,
    },
    origin: 'user,system',
  }
}
