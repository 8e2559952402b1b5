/**
 * Which attributes a condition may speak of, and of which type their values are. Attributes of role
 * assignments, of principals and of the environment are known by name; those of other types are whatever
 * their types declare, so their names are taken as they come and a missing one makes its comparison false.
 */

import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Source } from './nodes.ts'
import type { OperandType } from './operators.ts'

interface KnownAttribute {
  /** The key that evaluation uses. */
  readonly key: string
  /** `undefined`: any; the value decides when it is known. */
  readonly type: OperandType | undefined
}

interface UnknownAttribute {
  readonly expected: string
}

/** The attributes of a role assignment (facts 2.7), as the type's own hook returns them. */
const assignmentAttributes: Readonly<Record<string, OperandType>> = {
  RoleDefinitionId: 'guid',
  PrincipalId: 'guid',
  PrincipalType: 'string',
}

/** Without a type in front. `UtcHour` (0 to 23) and `UtcWeekday` (1 is Monday) are our own. */
const environment: Readonly<Record<string, OperandType>> = {
  UtcNow: 'moment',
  UtcHour: 'number',
  UtcWeekday: 'number',
  isPrivateLink: 'boolean',
}

const pathPattern = /^[A-Za-z][A-Za-z0-9.]*(?:\/[A-Za-z0-9._-]+)+$/
const keyMarker = '<$key_case_sensitive$>'
const valueMarker = '<$value_case_sensitive$>'
const nameMax = 600

export function findAttribute(
  source: Source,
  text: string,
  words: VendorWords,
): KnownAttribute | UnknownAttribute {
  switch (source) {
    case 'Environment':
      return environmentAttribute(text, words)
    case 'Principal':
      return principalAttribute(text, words)
    case 'Request':
    case 'Resource':
      return typeAttribute(source, text, words)
    default:
      return source satisfies never
  }
}

function environmentAttribute(text: string, words: VendorWords): KnownAttribute | UnknownAttribute {
  const known: Record<string, OperandType> = {
    ...environment,
    [qualify(words, 'Network/privateEndpoints')]: 'string',
    [qualify(words, 'Network/virtualNetworks/subnets')]: 'string',
  }
  const lower = text.toLowerCase()
  const found = Object.entries(known).find(([name]) => name.toLowerCase() === lower)
  if (found === undefined) return { expected: `one of ${Object.keys(known).join(', ')}` }
  return { key: lower, type: found[1] }
}

function principalAttribute(text: string, words: VendorWords): KnownAttribute | UnknownAttribute {
  const prefix = `${qualify(words, 'Directory')}/CustomSecurityAttributes/Id:`
  const name = text.slice(prefix.length)
  if (text.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase() || !isName(name)) {
    return { expected: `${prefix}{set}_{attribute}` }
  }
  return { key: name.toLowerCase(), type: undefined }
}

function typeAttribute(
  source: Source,
  text: string,
  words: VendorWords,
): KnownAttribute | UnknownAttribute {
  const lower = text.toLowerCase()
  // The older form of the sub-operation test (facts 2.7). No request here has a sub-operation.
  if (source === 'Request' && lower === 'suboperation') return { key: lower, type: 'string' }
  const colon = text.indexOf(':')
  const path = text.slice(0, Math.max(0, colon))
  const name = text.slice(colon + 1)
  if (colon < 0 || !pathPattern.test(path) || !isName(name)) {
    return { expected: `${words.namespace}.{namespace}/{type}:{attribute}` }
  }
  if (path.toLowerCase() === qualify(words, 'Authorization/roleAssignments').toLowerCase()) {
    const known = Object.entries(assignmentAttributes).find(
      ([one]) => one.toLowerCase() === name.toLowerCase(),
    )
    if (known === undefined) {
      return { expected: `${path}: and one of ${Object.keys(assignmentAttributes).join(', ')}` }
    }
    return { key: lower, type: known[1] }
  }
  return markedAttribute(path, name)
}

/**
 * `{type}/tags:{Key}<$key_case_sensitive$>`; otherwise tag names are compared without regard to case (facts 9.2).
 */
function markedAttribute(path: string, name: string): KnownAttribute | UnknownAttribute {
  let rest = name
  let sensitive = false
  for (;;) {
    const lower = rest.toLowerCase()
    if (lower.endsWith(keyMarker)) {
      sensitive = true
      rest = rest.slice(0, -keyMarker.length)
    } else if (lower.endsWith(valueMarker)) {
      // The operator's name says whether the case of values counts.
      rest = rest.slice(0, -valueMarker.length)
    } else break
  }
  if (rest === '' || rest.includes('<$')) return { expected: `${keyMarker} or ${valueMarker}` }
  const at = path.toLowerCase()
  if (!at.endsWith('/tags')) return { key: `${at}:${rest.toLowerCase()}`, type: undefined }
  return { key: `${at}:${sensitive ? `${rest}${keyMarker}` : rest.toLowerCase()}`, type: 'string' }
}

function isName(name: string): boolean {
  return name.trim() !== '' && name.length <= nameMax && !/\p{Cc}/u.test(name)
}
