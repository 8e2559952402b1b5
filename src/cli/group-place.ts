/** The options of commands that work in a resource group, and paths below it. */

import type { Confirmation } from './command.ts'
import type { Connection, Context } from './context.ts'
import { subscriptionOption } from './options.ts'
import { apiVersions, extensionPath, resourceGroupPath, subscriptionOf } from './resource-path.ts'

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

/**
 * The question asked before something is created in a group that does not exist: the server would create the group,
 * and a mistyped name is not intended. A caller who may not see the group is not asked.
 */
export async function missingGroup(
  context: Context,
  values: Parameters<Context['connect']>[0] & {
    readonly 'resource-group': string | undefined
    readonly subscription: string | undefined
  },
): Promise<Confirmation | undefined> {
  const name = values['resource-group']
  if (name === undefined) return undefined
  const connection = context.connect(values)
  const path = resourceGroupPath(await subscriptionOf(connection, values.subscription), name)
  const query = { 'api-version': apiVersions.resourceGroups }
  const { status } = await connection.client.send('GET', path, { query })
  if (status !== 404) return undefined
  return {
    text: `There is no resource group ${name}. Make it?`,
    unattended: `There is no resource group ${name}. Make it with \`resource-group create ${name}\`, or by --yes.`,
  }
}

/** `…/resourceGroups/{g}/providers/{type}[/{name}]`; the type has no vendor word. */
export async function inGroup(
  connection: Connection,
  place: GroupPlace,
  type: string,
  name?: string,
): Promise<string> {
  const scope = resourceGroupPath(
    await subscriptionOf(connection, place.subscription),
    place['resource-group'],
  )
  const list = extensionPath(connection.words, scope, type)
  return name === undefined ? list : `${list}/${encodeURIComponent(name)}`
}
