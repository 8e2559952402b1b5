/** A UUID made from a text: the same text, the same name, so that saying a thing twice does it once. Pure. */

import { createHash } from 'node:crypto'
import { hyphenate } from '#kernel/uuid.ts'

/** Any fixed UUID would do; this one is nobody else's. */
const namespaceBytes = Buffer.from('6f1d6e0a5c1b4d0e9a53c0f4b7d2e813', 'hex')

/** Version 5 of RFC 9562. */
export function uuidOf(text: string): string {
  const bytes = createHash('sha1').update(namespaceBytes).update(text).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return hyphenate(bytes.toString('hex'))
}
