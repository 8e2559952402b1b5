/**
 * Converts texts that were sealed before a sealed text named its key. It runs once, before the first version that
 * knows the new form serves. The list of places is closed: nothing new is sealed in the old form.
 */

import type { SealPurpose } from '#kernel/seal-purposes.ts'
import { wrapEarlier } from '#sealing/sealed-text.ts'
import type { SealingKey } from '#sealing/sealing-key.ts'
import type { SqlRow, Store } from '#stores/store.ts'
import { type TextPlace, textPlaces } from './text-places.ts'
import { type Position, walkStep } from './walk.ts'

const columns: Readonly<
  Record<string, { readonly column: string; readonly purpose: SealPurpose }>
> = {
  identity_signing_keys: { column: 'private_key', purpose: 'identity' },
  identity_oauth_states: { column: 'payload', purpose: 'identity' },
}

const purposes: readonly (readonly [RegExp, SealPurpose])[] = [
  [/\.secrets\//, 'secrets'],
  [/\.containerinstance\//, 'containers'],
  [/\.resources\//, 'deployments'],
  [/\.apimanagement\//, 'authorizations'],
  [/\.storage\//, 'storage'],
  [/\.sql\//, 'sql'],
  [/\.dbforpostgresql\//, 'postgres'],
]

const bare = /^[A-Za-z0-9_-]{38,}$/
const names = new Set([
  'sealed',
  'sealedKey',
  'sealedParameters',
  'sealedPassword',
  'sealedPasswords',
  'sealedSecret',
  'sealedVerifier',
])

export async function adoptEarlierSeals(store: Store, key: SealingKey): Promise<void> {
  const places = (await textPlaces(store.sql)).filter(
    ({ table }) => table === 'resources' || columns[table] !== undefined,
  )
  const change = (text: string, place: TextPlace, column: string, row: SqlRow): string => {
    const known = columns[place.table]
    if (known !== undefined) return known.column === column ? wrap(key, known.purpose, text) : text
    if (column !== 'document') return text
    const purpose = purposes.find(([pattern]) => pattern.test(String(row['type'])))?.[1]
    return purpose === undefined ? text : changeDocument(text, key, purpose)
  }
  let position: Position | undefined
  do {
    const step = await walkStep({ store, places, change, keep: async () => {} }, position)
    position = step.next
  } while (position !== undefined)
}

function wrap(key: SealingKey, purpose: SealPurpose, text: string): string {
  return bare.test(text) ? wrapEarlier(key, purpose, text) : text
}

function changeDocument(text: string, key: SealingKey, purpose: SealPurpose): string {
  let found = false
  // The plane writes this, and it is always an object.
  const { tags } = JSON.parse(text) as { readonly tags?: unknown }
  const document = JSON.parse(text, (name: string, value: unknown) => {
    // The secret parts of a container group map places to sealed texts.
    if (purpose === 'containers' && name === 'secrets' && isTextMap(value)) {
      found = true
      return Object.fromEntries(
        Object.entries(value).map(([place, sealed]) => [place, wrap(key, purpose, sealed)]),
      )
    }
    if (!names.has(name) || typeof value !== 'string') return value
    found = true
    return wrap(key, purpose, value)
  }) as object
  // A tag may have any name.
  return found ? JSON.stringify(tags === undefined ? document : { ...document, tags }) : text
}

function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => typeof one === 'string')
  )
}
