/** Fills the words in braces of the tables: what of a resource stands there, or an invented value that stays the same. */

import { createHash, createHmac } from 'node:crypto'
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
  /** The installation's address, without scheme and port. */
  readonly host: string
  /** The body, for paths in it. */
  readonly body: unknown
  /** What keys are made of. Where it is left out, `{key:…}` stays empty. */
  readonly keySeed?: string | undefined
}

const word = /\{([a-zA-Z0-9.]+)(?::([^{}]*))?\}/g

/** What a script says that it puts out: an invented text for each name. Nothing runs it. */
export const scriptOutputs = '{scriptOutputs}'
const scriptOutput =
  /DeploymentScriptOutputs\s*(?:\[\s*['"]([^'"\]]{1,100})['"]\s*\]|\.(\w{1,100}))\s*=/gi
const outputsMax = 100

function outputsOfScript(filling: Filling, place: string): Readonly<Record<string, unknown>> {
  const script = plainWord('properties.scriptContent', filling) ?? ''
  const names = [...script.matchAll(scriptOutput)].flatMap(
    ([, quoted, plain]) => quoted ?? plain ?? [],
  )
  return Object.fromEntries(
    names
      .slice(0, outputsMax)
      .map((name) => [name, fillText('{hex:16}', filling, `${place}.${name}`)]),
  )
}

/** The value with its words filled in; undefined where one of them stands for nothing. `place` tells its places apart. */
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
  return members.some(([, one]) => one === undefined) ? undefined : Object.fromEntries(members)
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

/** What stands at a path; names are found in any case. */
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
      // `item` is the same for the same item, whatever resource names it.
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
