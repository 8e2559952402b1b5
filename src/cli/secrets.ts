/** Shared by the commands of secrets: paths of vaults, and their api-version. */

import type { Connection } from './context.ts'
import { groupOptions } from './group-place.ts'
import { extensionPath, resourceGroupPath, subscriptionOf } from './resource-path.ts'

export const secretVersion = { 'api-version': '2026-01-01' } as const

export const vaultOptions = {
  vault: { type: 'string', value: 'name', required: true, summary: 'The vault' },
  ...groupOptions,
} as const

interface VaultPlace {
  readonly vault: string
  readonly 'resource-group': string
  readonly subscription: string | undefined
}

export async function vaultPath(connection: Connection, place: VaultPlace): Promise<string> {
  const scope = resourceGroupPath(
    await subscriptionOf(connection, place.subscription),
    place['resource-group'],
  )
  const type = extensionPath(connection.words, scope, 'Secrets/vaults')
  return `${type}/${encodeURIComponent(place.vault)}`
}
