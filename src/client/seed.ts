/**
 * The data a test or a demonstration starts with: principals, groups, resources, role assignments and other
 * requests, from plain data or a file. Everything is created by the public API, as the owner.
 */

import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { textOf } from './answer.ts'
import type { Client } from './client.ts'

export interface Seed {
  /** Users and applications by name. `tokenOf` takes the name. */
  readonly principals?: readonly SeedPrincipal[]
  /** Groups by name, with the names of their members. */
  readonly groups?: readonly { readonly name: string; readonly members?: readonly string[] }[]
  /** Created in this order. `{subscription}`, `{tenant}` and `{principal:name}` in texts are replaced. */
  readonly resources?: readonly SeedResource[]
  readonly roleAssignments?: readonly SeedAssignment[]
  /** Charges of the default billing profile, as a list of transactions shows them. */
  readonly transactions?: readonly SeedTransaction[]
  readonly healthEvents?: readonly SeedRequest[]
  readonly companies?: readonly SeedRequest[]
}

interface SeedPrincipal {
  readonly name: string
  readonly type?: 'user' | 'application'
  readonly password?: string
}

interface SeedResource {
  /** The path with its api-version: `/subscriptions/{subscription}/resourceGroups/web?api-version=2021-04-01`. */
  readonly path: string
  readonly body: object
}

interface SeedAssignment {
  /** The name of a principal or group of the seed. */
  readonly principal: string
  /** The name of a role, such as `Reader`. */
  readonly role: string
  /** Default: the first subscription. */
  readonly scope?: string
}

interface SeedTransaction {
  readonly name?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly properties: object
}

interface SeedRequest {
  readonly method?: 'PUT' | 'POST'
  readonly path: string
  readonly body: object
  /** A name for the `id` of the answer: `{name}` in the texts of later requests. */
  readonly as?: string
}

const lists: readonly (keyof Seed)[] = [
  'principals',
  'groups',
  'resources',
  'roleAssignments',
  'transactions',
  'healthEvents',
  'companies',
]

/**
 * Reads plain data as a seed, and throws when it is not one. The requests it becomes judge the content of its
 * lists.
 */
export function readSeed(data: unknown, place: string): Seed {
  const unknown = Object.keys(Object(data)).find((name) => !lists.some((list) => list === name))
  if (unknown !== undefined) {
    throw new Error(`${place}: '${unknown}' is none of ${lists.join(', ')}`)
  }
  return Object(data) as Seed
}

/**
 * Returns the object ids of the principals and groups, by name. Throws `ClientError` with the refusal of what is
 * wrong.
 */
export async function applySeed(
  client: Client,
  seed: Seed,
  facts: {
    readonly tenantId: string
    readonly subscriptionId: string
    readonly words: VendorWords
  },
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  const answered = new Map<string, string>()
  const idOf = (name: string): string => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`the seed names '${name}', which is no principal of it`)
    return id
  }
  const filled = (text: string): string =>
    text
      .replaceAll('{subscription}', facts.subscriptionId)
      .replaceAll('{tenant}', facts.tenantId)
      .replaceAll(/\{([a-z][\w-]*)\}/gi, (text, name: string) => answered.get(name) ?? text)
      .replaceAll(/\{principal:([^}]+)\}/g, (_, name: string) => idOf(name))
  const send = async (method: string, path: string, body: object): Promise<unknown> => {
    const text = filled(JSON.stringify(body))
    const answer = await client.request(method, filled(path), { body: text })
    await client.waitForOperation(answer)
    return answer.body
  }
  for (const { name, type = 'user', password } of seed.principals ?? []) {
    const made =
      type === 'user'
        ? await send('POST', '/directory/users', {
            displayName: name,
            signInName: name,
            ...(password === undefined ? {} : { password }),
          })
        : await send('POST', '/directory/servicePrincipals', { displayName: name })
    ids.set(name, textOf(made, 'principalId') ?? '')
  }
  for (const { name, members = [] } of seed.groups ?? []) {
    const made = await send('POST', '/directory/groups', { displayName: name })
    const id = textOf(made, 'principalId') ?? ''
    ids.set(name, id)
    for (const member of members) {
      await client.request('PUT', `/directory/groups/${id}/members/${idOf(member)}`)
    }
  }
  for (const { path, body } of seed.resources ?? []) await send('PUT', path, body)
  const namespace = qualify(facts.words, 'Authorization')
  const assignments = seed.roleAssignments ?? []
  const roles =
    assignments.length === 0
      ? []
      : await client.list(`/providers/${namespace}/roleDefinitions?api-version=2022-04-01`)
  for (const [at, assignment] of assignments.entries()) {
    const { principal, role, scope = '/subscriptions/{subscription}' } = assignment
    const found = roles.find((one) => Object(one).properties?.roleName === role)
    if (found === undefined)
      throw new Error(`the seed names the role '${role}', which there is not`)
    const name = `5eed0000-0000-4000-8000-${String(at + 1).padStart(12, '0')}`
    await send(
      'PUT',
      `${scope}/providers/${namespace}/roleAssignments/${name}?api-version=2022-04-01`,
      { properties: { principalId: idOf(principal), roleDefinitionId: textOf(found, 'id') } },
    )
  }
  if (seed.transactions !== undefined) {
    const billing = qualify(facts.words, 'Billing')
    const profile = `/providers/${billing}/billingAccounts/{tenant}/billingProfiles/default`
    const path = `${profile}/importTransactions?api-version=2024-04-01`
    requireNoneRefused(await send('POST', path, importOf(seed.transactions)))
  }
  const rest = [seed.healthEvents, seed.companies].flatMap((one) => one ?? [])
  for (const { method = 'PUT', path, body, as } of rest) {
    const id = textOf(await send(method, path, body), 'id')
    if (as !== undefined && id !== undefined) answered.set(as, id)
  }
  return ids
}

/** All of them as one piece of an import. One without a name gets one by its place. */
function importOf(transactions: readonly SeedTransaction[]): object {
  const lines = transactions.map((one, at) => {
    const name = `5eed0000-0000-4000-8000-${String(at + 1).padStart(12, '0')}`
    return `${JSON.stringify({ name, ...one })}\n`
  })
  const place = { position: 0, digest: '', nextPosition: 1, nextDigest: 'seed', firstLine: 1 }
  return { name: 'seed', format: 'ndjson', ...place, text: lines.join('') }
}

function requireNoneRefused(answer: unknown): void {
  const { refused = [] } = Object(answer) as {
    readonly refused?: readonly { readonly line: number; readonly reason: string }[]
  }
  const [first] = refused
  if (first === undefined) return
  throw new Error(`the transaction ${first.line} of the seed is refused: ${first.reason}`)
}
