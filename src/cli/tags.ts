/** Shared by the commands of tags: reading and changing the tags of a scope. */

import { propertiesOf } from '#client/resource.ts'
import type { Connection } from './context.ts'
import { extensionPath } from './resource-path.ts'
import { type ScopePlace, scopePath } from './scope-place.ts'

const query = { 'api-version': '2021-04-01' } as const

export async function tagsPath(connection: Connection, place: ScopePlace): Promise<string> {
  const scope = await scopePath(connection, place)
  return `${extensionPath(connection.words, scope, 'Resources/tags')}/default`
}

export async function readTags({ client }: Connection, path: string): Promise<unknown> {
  return tagsOf((await client.request('GET', path, { query })).body)
}

/** Returns the tags after the change. */
export async function changeTags(
  { client }: Connection,
  path: string,
  operation: 'Merge' | 'Delete',
  tags: Readonly<Record<string, string>>,
): Promise<unknown> {
  const body = { operation, properties: { tags } }
  const answer = await client.request('PATCH', path, { query, body })
  return tagsOf((await client.waitForOperation(answer)).body)
}

function tagsOf(body: unknown): unknown {
  return propertiesOf(body)['tags'] ?? {}
}
