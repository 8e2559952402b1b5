/** Builds control-plane paths for commands, and names their api-versions. */

import { textOf } from '#client/answer.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { qualify } from '#kernel/vendor.ts'
import { LocalProblem, UsageError } from './command.ts'
import type { Connection } from './context.ts'

export const apiVersions = {
  subscriptions: '2020-01-01',
  resourceGroups: '2021-04-01',
  roleAssignments: '2022-04-01',
  roleDefinitions: '2022-04-01',
} as const

/** The given subscription, else the one of this home's installation, else the first that the caller can see. */
export async function subscriptionOf(
  connection: Connection,
  given: string | undefined,
): Promise<string> {
  const known = given ?? connection.running?.subscriptionId
  if (known !== undefined) return known
  const query = { 'api-version': apiVersions.subscriptions }
  const answer = await connection.client.request('GET', '/subscriptions', { query })
  const list = isJsonObject(answer.body) ? answer.body['value'] : undefined
  const first = Array.isArray(list) ? textOf(list[0], 'subscriptionId') : undefined
  if (first !== undefined) return first
  throw new LocalProblem(
    'NoSubscription',
    'You can see no subscription. Name one: --subscription <id>',
  )
}

export function resourceGroupsPath(subscription: string): string {
  return `/subscriptions/${encodeURIComponent(subscription)}/resourceGroups`
}

export function resourceGroupPath(subscription: string, name: string): string {
  return `${resourceGroupsPath(subscription)}/${encodeURIComponent(name)}`
}

/** `{scope}/providers/{namespace}/{type}`; the root scope is `/`. */
export function extensionPath(words: VendorWords, scope: string, type: string): string {
  return `${checkScope(scope)}/providers/${qualify(words, type)}`
}

/** A scope without its trailing slash; the root becomes the empty text. Throws `UsageError`. */
export function checkScope(scope: string): string {
  if (!scope.startsWith('/')) {
    throw new UsageError(`a scope begins with "/", like /subscriptions/<id>, unlike \`${scope}\``)
  }
  return withoutTrailing(scope, '/')
}
