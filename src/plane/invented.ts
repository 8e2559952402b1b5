/**
 * Values that are invented for resources that nothing real stands behind. They are the same each time for the same
 * resource and property, and their form follows from the property's name. None of them is a secret.
 */

import { createHash } from 'node:crypto'
import { hyphenate } from '#kernel/uuid.ts'

/** Looks like a random UUID. Its second half marks it as invented. */
export function inventedUuid(text: string): string {
  return marked(createHash('sha256').update(`generic ${text}`).digest('hex'))
}

function marked(hex: string): string {
  const first = `${hex.slice(0, 12)}4${hex.slice(13, 16)}`
  const mark = createHash('sha256').update(`invented ${first}`).digest('hex')
  return hyphenate(`${first}a${mark.slice(0, 15)}`)
}

/** Whether it was invented for a document's principal. Nobody can sign in as such a principal. */
export function isInventedUuid(text: string): boolean {
  return marked(text.toLowerCase().replaceAll('-', '')) === text.toLowerCase()
}

/** An invented list is empty. */
type Invented = string | number | boolean | readonly never[]

interface Read {
  readonly id: string
  /** The last name of the id, in lower case. */
  readonly name: string
  /** The last name of the property's path, in lower case. */
  readonly last: string
  readonly key: string
}

const addressOf = ({ name, last }: Read): string => `${last}.${name}.example`

// biome-ignore format: a table is read as a table.
const byName: readonly (readonly [RegExp, (read: Read) => Invented])[] = [
  [/(principal|client|tenant|object|application|customer|immutable|unique|internal)_?(id|identifier)$|guid$|uuid$/, ({ key }) => inventedUuid(key)],
  [/(uri|url|endpoint|issuer)$/, (read) => `https://${addressOf(read)}/`],
  [/(fqdn|domain|hostname|host|dnsname|server)$/, addressOf],
  [/(ip|ipaddress|ipv4address|address)$/, () => '203.0.113.4'],
  [/(prefix|cidr|range)$/, () => '203.0.113.0/24'],
  [/(ports?|count|size|capacity|number|length|instances)$/, () => 1],
  [/^(is|has|enable|allow)|enabled$/, () => true],
  [/(time|date|timestamp|expiry)$/, () => '2026-01-01T00:00:00Z'],
  [/(state|status)$/, () => 'Succeeded'],
  [/id$/, ({ id, last }) => `${id}/${last}`],
  [/(?<!s|u|dn|addresse)s$/, () => []],
]

/** What an expression gets for a path of such a resource, where the answer has no value. */
export function inventedValue(id: string, path: string): Invented {
  const last = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  const name = id.slice(id.lastIndexOf('/') + 1).toLowerCase()
  const read: Read = { id, name, last, key: `${id}\n${path}`.toLowerCase() }
  const found = byName.find(([pattern]) => pattern.test(last))
  return found?.[1](read) ?? `${last}-${name}`
}
