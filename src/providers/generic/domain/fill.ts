/**
 * Fills the words in braces of the tables with values of the resource, or with invented values that stay the same.
 */

import { createHash, createHmac } from 'node:crypto'
import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'
import {
  nameOf,
  parentOf,
  type ResourceId,
  resourceGroupOf,
  scopeOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { inventedUuid } from '#plane/invented.ts'

export interface Filling {
  readonly id: ResourceId
  readonly location: string | undefined
  readonly tenantId: string
  /** The host name of the installation, without scheme and port. */
  readonly host: string
  /** The body that paths refer to. */
  readonly body: unknown
  /** Keys are derived from it. If it is left out, `{key:…}` stays empty. */
  readonly keySeed?: string | undefined
}

const word = /\{([a-zA-Z0-9.]+)(?::([^{}]*))?\}/g

/** The outputs that a script declares, with an invented text for each name. The script does not run. */
export const scriptOutputs = '{scriptOutputs}'
const scriptOutput =
  /DeploymentScriptOutputs\s*(?:\[\s*['"]([^'"\]]{1,100})['"]\s*\]|\.(\w{1,100}))\s*=/gi
const outputsMax = 100

function outputsOfScript(filling: Filling, place: string): Readonly<Record<string, unknown>> {
  const script = plainWord('properties.scriptContent', filling) ?? ''
  const names: string[] = []
  for (const [, quoted, plain] of script.matchAll(scriptOutput)) {
    names.push(quoted ?? plain ?? '')
    if (names.length === outputsMax) break
  }
  return Object.fromEntries(
    names.map((name) => [name, fillText('{hex:16}', filling, `${place}.${name}`)]),
  )
}

/**
 * Returns the value with its words filled in, or undefined if one of them has no value. `place` gives different
 * places different invented values.
 */
export function fill(value: unknown, filling: Filling, place: string): unknown {
  if (value === scriptOutputs) return outputsOfScript(filling, place)
  if (typeof value === 'string') return fillText(value, filling, place)
  if (Array.isArray(value)) {
    const items = value.map((one, at) => fill(one, filling, `${place}[${at}]`))
    return items.includes(undefined) ? undefined : items
  }
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(
    ([name, one]) => [name, fill(one, filling, `${place}.${name}`)] as const,
  )
  return members.some(([, one]) => one === undefined) ? undefined : fromMembers(members)
}

function fillText(text: string, filling: Filling, place: string): string | undefined {
  let whole = true
  const filled = text.replace(word, (all, name: string, argument: string = '') => {
    const found = wordValue(name, argument, filling, place)
    if (found === undefined) whole = false
    return found ?? all
  })
  return whole ? filled : undefined
}

/** Returns the value at a path. Names ignore case. */
export function memberAt(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return value
  if (Array.isArray(value)) return memberAt(value[Number(first)], rest)
  if (!isJsonObject(value)) return undefined
  const name = Object.keys(value).find((one) => one.toLowerCase() === first.toLowerCase())
  return name === undefined ? undefined : memberAt(value[name], rest)
}

function wordValue(
  name: string,
  argument: string,
  filling: Filling,
  place: string,
): string | undefined {
  const { id, keySeed } = filling
  const digest = (): string =>
    createHash('sha256').update(`${id.key}\n${place.toLowerCase()}`).digest('hex')
  switch (name) {
    case 'uuid':
      // `item` gives the same value for the same item, whichever resource names it.
      if (argument === 'item') return inventedUuid(place.toLowerCase())
      return inventedUuid(`${id.key}\n${argument === '' ? place : argument}`)
    case 'hex':
      return digest().slice(0, Number(argument))
    case 'digits':
      return BigInt(`0x${digest()}`).toString().slice(0, Number(argument))
    case 'octet':
      return String(1 + (Number.parseInt(digest().slice(0, 6), 16) % 254))
    case 'base64':
      return Buffer.from(argument).toString('base64')
    case 'key':
      return keySeed && createHmac('sha256', keySeed).update(argument).digest('base64')
    case 'lower':
      return plainWord(argument, filling)?.toLowerCase()
    default:
      return plainWord(name, filling)
  }
}

function plainWord(name: string, filling: Filling): string | undefined {
  const { id, location, tenantId, host, body } = filling
  if (name.includes('.')) {
    const found = memberAt(body, name.split('.'))
    return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined
  }
  switch (name) {
    case 'name':
      return nameOf(id)
    case 'parent':
      return nameOf(parentOf(id))
    case 'root':
      return id.segments.at(-1)?.names[0]
    case 'id':
      return id.text
    case 'scope':
      return scopeOf(id).text
    case 'namespace':
      return id.segments.at(-1)?.namespace
    case 'location':
      return (location ?? 'local').replace(/\s/g, '').toLowerCase()
    case 'subscriptionId':
      return subscriptionOf(id) ?? ''
    case 'resourceGroup':
      return resourceGroupOf(id) ?? ''
    case 'tenantId':
      return tenantId
    case 'host':
      return host
    default:
      return undefined
  }
}
