/** Ids derived from a text, so that they are the same each time. */

import { createHash } from 'node:crypto'
import { hyphenate } from '#kernel/uuid.ts'

/** The same for the same text, in the form of a random one. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return hyphenate(`${hex.slice(0, 12)}4${hex.slice(13, 16)}a${hex.slice(17)}`)
}
