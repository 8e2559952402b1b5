/** `GET /providers/{namespace}/operations` (facts 9.8): the actions of a namespace, made from its table. */

import Type from 'typebox'
import { added } from './declare/added.ts'
import { defineComputed } from './declare/computed.ts'
import type { ResourceType } from './declare/provider.ts'
import type { ActionDescription } from './describe.ts'

const text = Type.String()
const answer = Type.Object({
  isDataAction: Type.Boolean(),
  display: Type.Object({ provider: text, resource: text, operation: text, description: text }),
  origin: text,
})

const says: Readonly<Record<string, string>> = {
  read: 'Read',
  write: 'Create or update',
  delete: 'Delete',
}

export function providerOperations(
  namespace: string,
  actions: () => readonly ActionDescription[],
): ResourceType {
  return defineComputed({
    type: `${namespace}/operations`,
    description: 'The actions of this namespace.',
    scope: 'tenant',
    apiVersions: 'any',
    answer: added(answer),
    openList: true,
    source: {
      list: async ({ words }) => {
        const full = `${words.namespace}.${namespace}`
        const own = actions().filter((one) => one.namespace === full)
        // An action on data may have the name of one of the control plane.
        const byAction = new Map(own.map((one) => [`${one.action} ${one.isDataAction}`, one]))
        return { items: [...byAction.values()].map((one) => item(one)) }
      },
    },
  })
}

function item({ action, namespace, type, summary, isDataAction }: ActionDescription): object {
  const verb = action.slice(action.lastIndexOf('/') + 1)
  return {
    name: action,
    isDataAction,
    display: {
      provider: namespace,
      resource: type.slice(type.indexOf('/') + 1),
      operation:
        verb === 'action' || isDataAction
          ? summary
          : `${says[verb] ?? verb} ${type.slice(type.lastIndexOf('/') + 1)}`,
      description: `${summary}.`,
    },
    origin: 'user,system',
  }
}
