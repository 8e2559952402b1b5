/** Rules for names in this namespace (facts 3.2; contract, Limits). */

import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { NameRule } from '#plane/declare/wire.ts'
import { refuseFields } from '../errors.ts'

export const serviceName = {
  pattern: /^[a-zA-Z](?:[a-zA-Z0-9-]{0,48}[a-zA-Z0-9])?$/,
  rule: '1 to 50 letters, digits and hyphens, a letter first and no hyphen last',
} as const satisfies NameRule

/** An id contains none of these characters. */
export const idPattern = '^[^*#&+:<>?]+$'

/** Names of 1 to so many characters; a bad one is refused like any wrong field. */
export function idRule(lengthMax: number): NameRule {
  const rule = `1 to ${lengthMax} characters, none of * # & + : < > ?`
  return {
    pattern: new RegExp(`^[^*#&+:<>?]{1,${lengthMax}}$`),
    rule,
    refuse: () => refuseFields([{ path: 'name', message: `must be ${rule}` }]),
  }
}

const revisionMark = /;rev=([1-9][0-9]{0,8})$/i

/** `pets;rev=2` is the second revision of `pets`; a name without a mark is the current one. */
export function revisionOf(id: ResourceId): string | undefined {
  return revisionMark.exec(nameOf(id))?.[1]
}
