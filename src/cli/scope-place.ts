/** The options that name a scope: a path, a resource group, or the subscription. */

import { UsageError } from './command.ts'
import type { Connection } from './context.ts'
import { subscriptionOption } from './options.ts'
import { checkScope, resourceGroupPath, subscriptionOf } from './resource-path.ts'

export const scopeOptions = {
  scope: { type: 'string', value: 'path', summary: 'Where: the id of a resource or a group' },
  'resource-group': {
    type: 'string',
    short: 'g',
    value: 'name',
    summary: 'Where: this resource group; the subscription when neither is given',
  },
  ...subscriptionOption,
} as const

export interface ScopePlace {
  readonly scope: string | undefined
  readonly 'resource-group': string | undefined
  readonly subscription: string | undefined
}

/** Throws `UsageError`. */
export async function scopePath(connection: Connection, place: ScopePlace): Promise<string> {
  const { scope, 'resource-group': group } = place
  if (scope !== undefined && group !== undefined) {
    throw new UsageError('give one of `--scope` and `--resource-group`')
  }
  if (scope !== undefined) return checkScope(scope)
  const subscription = await subscriptionOf(connection, place.subscription)
  return group === undefined
    ? `/subscriptions/${encodeURIComponent(subscription)}`
    : resourceGroupPath(subscription, group)
}

/** Parses `name=value` words into an object. Throws `UsageError`. */
export function pairsOf(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => {
      const equals = word.indexOf('=')
      if (equals < 1) throw new UsageError(`\`${word}\` is not of the form \`name=value\``)
      return [word.slice(0, equals), word.slice(equals + 1)]
    }),
  )
}
