/** Makes a UUID from a text, so that repeating a command has no further effect. Pure. */

import { createHash } from 'node:crypto'
import { hyphenate } from '#kernel/uuid.ts'

/** A fixed UUID that nobody else uses. */
const namespaceBytes = Buffer.from('6f1d6e0a5c1b4d0e9a53c0f4b7d2e813', 'hex')

/** Version 5 of RFC 9562. */
export function uuidOf(text: string): string {
  const bytes = createHash('sha1').update(namespaceBytes).update(text).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return hyphenate(bytes.toString('hex'))
}
