/** The hash of a template: of its JSON without spaces, in the order of its names. */

import { createHash } from 'node:crypto'

export function templateHash(text: string): string {
  const digest = createHash('sha256').update(text).digest()
  return digest.readBigUInt64BE().toString()
}
