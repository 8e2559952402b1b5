/** The directory as commands ask for it: one principal whatever its kind, and the shape of an answer. */

import { textOf } from '#client/answer.ts'
import type { Client } from '#client/client.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { LocalProblem } from './command.ts'

export const principalTypes = ['User', 'Group', 'ServicePrincipal'] as const

/** The path of the collection in which the directory keeps a kind. */
export const collections: Readonly<Record<string, string>> = {
  User: '/directory/users',
  Group: '/directory/groups',
  ServicePrincipal: '/directory/servicePrincipals',
}

interface FoundPrincipal {
  readonly principal: Readonly<Record<string, unknown>>
  /** `/directory/users/{id}` */
  readonly path: string
}

/** Looks in every collection, since an id does not tell its kind. Throws `LocalProblem` when in none. */
export async function findPrincipal(client: Client, id: string): Promise<FoundPrincipal> {
  for (const collection of Object.values(collections)) {
    const path = `${collection}/${encodeURIComponent(id)}`
    const answer = await client.send('GET', path)
    if (answer.status === 404) continue
    // Not found in this one is expected; any other refusal is the caller's to hear.
    const found = answer.status === 200 ? answer : await client.request('GET', path)
    if (isJsonObject(found.body)) return { principal: found.body, path }
  }
  throw new LocalProblem('PrincipalNotFound', `The directory has no principal with the id ${id}.`)
}

/** Its kind, or `undefined` where the directory does not know it or does not tell the caller. */
export async function typeOfPrincipal(client: Client, id: string): Promise<string | undefined> {
  for (const collection of Object.values(collections)) {
    const answer = await client.send('GET', `${collection}/${encodeURIComponent(id)}`)
    if (answer.status === 200) return textOf(answer.body, 'type')
  }
  return undefined
}

/** Members as text, for tables. */
export function member(name: string): (row: unknown) => string {
  return (row) => {
    const value = isJsonObject(row) ? row[name] : undefined
    return value === undefined || value === null ? '' : String(value)
  }
}

/** The member that the server always gives. */
export function idOf(body: unknown): string {
  const id = textOf(body, 'id')
  if (id === undefined) throw new TypeError('the directory answered with no id')
  return id
}
