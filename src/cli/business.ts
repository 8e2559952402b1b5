/**
 * Shared by the commands of the business application: its company, its documents by number or id, and its version.
 */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isUuid } from '#kernel/uuid.ts'
import { LocalProblem } from './command.ts'
import type { Connection } from './context.ts'

const root = '/api/v2.0'

export const companyOption = {
  company: {
    type: 'string',
    short: 'c',
    value: 'name',
    summary: 'The company, by name or id; the only one when left out',
  },
} as const

/** `{root}/companies({id})/{collection}`; the collection of companies has no company before it. */
export async function collectionPath(
  { client }: Connection,
  company: string | undefined,
  collection: string,
): Promise<string> {
  if (collection === 'companies') return `${root}/companies`
  const within = (id: string): string =>
    `${root}/companies(${id})/${encodeURIComponent(collection)}`
  if (company !== undefined && isUuid(company)) return within(company)
  const { body } = await client.request('GET', `${root}/companies`)
  const companies = listOf(body, 'value')
  const found =
    company === undefined
      ? companies
      : companies.filter((one) => [textOf(one, 'name')].includes(company))
  const [only] = found
  if (only !== undefined && found.length === 1) return within(textOf(only, 'id') ?? '')
  const names = companies.map((one) => textOf(one, 'name')).join(', ') || 'none'
  throw new LocalProblem('CompanyNotFound', `Name one company with --company. You see: ${names}.`)
}

/** The path of an entity, by its id or its number. */
export async function entityPath(
  { client }: Connection,
  collection: string,
  key: string,
): Promise<string> {
  if (isUuid(key)) return `${collection}(${key})`
  const property = collection.endsWith('/companies') ? 'name' : 'number'
  const query = { $filter: `${property} eq '${key.replaceAll("'", "''")}'` }
  const { body } = await client.request('GET', collection, { query })
  const id = textOf(listOf(body, 'value')[0], 'id')
  if (id !== undefined) return `${collection}(${id})`
  const name = collection.slice(collection.lastIndexOf('/') + 1)
  throw new LocalProblem('EntityNotFound', `There is none with the ${property} ${key} in ${name}.`)
}
