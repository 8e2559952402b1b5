/**
 * Search over groups and resources of every subscription that one may read, and over people. The server looks for
 * resources and people. Each subscription is read until enough was found.
 */

import { useQuery } from '@tanstack/react-query'
import { ApiFailure, call, send, sendNext } from '../api/client.ts'
import { quoted } from '../api/filter.ts'
import type { Envelope } from '../api/queries.ts'

/** As many as anybody reads. Whoever needs more types another word. */
const hitsMax = 12

interface Found {
  readonly hits: readonly Envelope[]
  /** There may be more. */
  readonly more: boolean
}

interface Page {
  readonly value: readonly Envelope[]
  readonly nextLink?: string
}

export function useFound(words: readonly string[], subscriptions: readonly string[]) {
  return useQuery<Found, ApiFailure>({
    queryKey: ['search', words, subscriptions],
    queryFn: ({ signal }) => search(words, subscriptions, signal),
    enabled: words.length > 0 && subscriptions.length > 0,
    // What was found stays while the next word is typed.
    placeholderData: (before) => before,
    meta: { live: false },
  })
}

async function search(
  words: readonly string[],
  subscriptions: readonly string[],
  signal: AbortSignal,
): Promise<Found> {
  const hits: Envelope[] = []
  const isFull = (): boolean => hits.length > hitsMax
  const read = async (first: Promise<{ readonly body: unknown }>): Promise<void> => {
    let page = (await first).body as Page
    for (;;) {
      hits.push(...page.value.filter((one) => hasWords(one, words)))
      if (page.nextLink === undefined || isFull()) return
      page = (await sendNext<Page>(page.nextLink, signal)).body
    }
  }
  for (const subscriptionId of subscriptions) {
    const path = { subscriptionId }
    if (!isFull()) await read(call('listGroups', { path }, signal))
    const query = { $filter: filterOf(words), $top: String(hitsMax + 1) }
    if (!isFull()) await read(call('listResources', { path, query }, signal))
  }
  return { hits: hits.slice(0, hitsMax), more: isFull() }
}

/** People, groups and applications of each kind that are shown. */
const peopleMax = 5

/** The kinds of the directory, as its addresses and the catalogue of texts name them. */
const kinds = ['users', 'groups', 'servicePrincipals'] as const

export interface FoundPerson {
  readonly id: string
  readonly displayName: string
  readonly kind: (typeof kinds)[number]
}

/** People, groups and applications whose name or sign-in name has all of the words. */
export function useFoundPeople(words: readonly string[], enabled: boolean) {
  return useQuery<readonly FoundPerson[], ApiFailure>({
    queryKey: ['search-people', words],
    queryFn: async ({ signal }) =>
      (await Promise.all(kinds.map((kind) => of(kind, signal)))).flat(),
    enabled: enabled && words.length > 0,
    placeholderData: (before) => before,
    meta: { live: false },
  })

  async function of(
    kind: FoundPerson['kind'],
    signal: AbortSignal,
  ): Promise<readonly FoundPerson[]> {
    const names = kind === 'users' ? ['displayName', 'userPrincipalName'] : ['displayName']
    const filter = words
      .map((word) => names.map((name) => `contains(${name},${quoted(word)})`).join(' or '))
      .map((any) => `(${any})`)
      .join(' and ')
    const query = { $filter: filter, $top: String(peopleMax) }
    const found = await send<{ readonly value: readonly Omit<FoundPerson, 'kind'>[] }>(
      'GET',
      `/v1.0/${kind}`,
      { query, signal },
    ).catch((failure: unknown) => {
      // Somebody may read people, and not applications.
      if (failure instanceof ApiFailure && failure.status === 403) return undefined
      throw failure
    })
    return (found?.body.value ?? []).map(({ id, displayName }) => ({ id, displayName, kind }))
  }
}

/** A filter that names tags with `and` is about one tag. So a tag is looked for by one word, or as `name=value`. */
function filterOf(words: readonly string[]): string {
  const [first = ''] = words
  const [name = '', ...value] = first.split('=')
  if (words.length === 1 && value.length > 0) {
    return `tagName eq ${quoted(name)} and tagValue eq ${quoted(value.join('='))}`
  }
  const places = ['name', 'resourceType', 'resourceGroup']
  if (words.length === 1) places.push('tagName', 'tagValue')
  return words
    .map((word) => places.map((place) => `substringof(${quoted(word)}, ${place})`).join(' or '))
    .map((any) => `(${any})`)
    .join(' and ')
}

/** The list of groups has no filter for names. Resources were filtered by the server. */
function hasWords(one: Envelope & { readonly tags?: object }, words: readonly string[]): boolean {
  if (/\/providers\//i.test(one.id)) return true
  const text = `${one.name} ${Object.entries(one.tags ?? {})
    .flat()
    .join(' ')}`.toLowerCase()
  return words.every((word) => text.includes(word.toLowerCase()))
}
