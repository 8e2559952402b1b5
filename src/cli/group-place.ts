/** A place in a resource group, as commands are told it: the options, and paths below it. */

import type { Connection } from './context.ts'
import { subscriptionOption } from './options.ts'
import { extensionPath, resourceGroupPath, subscriptionOf } from './resource-path.ts'

export const groupOptions = {
  'resource-group': {
    type: 'string',
    short: 'g',
    value: 'name',
    required: true,
    summary: 'The resource group it is in',
  },
  ...subscriptionOption,
} as const

export interface GroupPlace {
  readonly 'resource-group': string
  readonly subscription: string | undefined
}

/** `…/resourceGroups/{g}/providers/{type}/{name}`, the type without the vendor word. */
export async function inGroup(
  connection: Connection,
  place: GroupPlace,
  type: string,
  name: string,
): Promise<string> {
  const scope = resourceGroupPath(
    await subscriptionOf(connection, place.subscription),
    place['resource-group'],
  )
  return `${extensionPath(connection.words, scope, type)}/${encodeURIComponent(name)}`
}
