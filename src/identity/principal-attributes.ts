/**
 * Custom attributes of a principal, for conditions on the caller: rules for names and values, and how a change is
 * merged. Pure: returns or refuses.
 */

import type { PrincipalAttributes } from '#kernel/principal.ts'
import { refuseIdentity } from './errors.ts'
import type { IdentityLimits } from './limits.ts'
import { hasControl } from './principal-rules.ts'

type AttributeValue = PrincipalAttributes[string]

/** `null` removes an attribute. */
export type AttributeChange = Readonly<Record<string, AttributeValue | null>>

const namePattern = /^[A-Za-z][A-Za-z0-9-]{0,63}_[A-Za-z0-9_-]{1,128}$/

/** Names are compared without regard to case; the latest spelling is kept. */
export function changeAttributes(
  before: PrincipalAttributes,
  change: AttributeChange,
  limits: IdentityLimits,
): PrincipalAttributes {
  const after = new Map(
    Object.entries(before).map(([name, value]) => [name.toLowerCase(), { name, value }]),
  )
  for (const [name, value] of Object.entries(change)) {
    if (!namePattern.test(name)) {
      throw invalid(`'${name.slice(0, 100)}' is no attribute name such as 'Set_Attribute'`)
    }
    if (value === null) after.delete(name.toLowerCase())
    else after.set(name.toLowerCase(), { name, value: checkValue(name, value, limits) })
  }
  if (after.size > limits.attributesMax) {
    throw invalid(`there may be at most ${limits.attributesMax} attributes`)
  }
  return Object.fromEntries([...after.values()].map(({ name, value }) => [name, value]))
}

function checkValue(name: string, value: AttributeValue, limits: IdentityLimits): AttributeValue {
  const values: readonly unknown[] = typeof value === 'object' ? value : [value]
  if (values.length === 0 || values.length > limits.attributeValuesMax) {
    throw invalid(`${name} must have 1 to ${limits.attributeValuesMax} values`)
  }
  for (const one of values) {
    if (typeof one !== typeof values[0]) throw invalid(`the values of ${name} must be of one kind`)
    if (typeof one === 'number' && !Number.isSafeInteger(one)) {
      throw invalid(`${name} must be a whole number`)
    }
    if (typeof one === 'string' && (one.length > limits.nameLengthMax || hasControl(one))) {
      throw invalid(`${name} is longer than ${limits.nameLengthMax} or has control characters`)
    }
  }
  return value
}

function invalid(reason: string): Error {
  return refuseIdentity.InvalidPrincipal({ reason })
}
