/** Identifiers and secrets out of the machine's own randomness. */

import { randomBytes, randomUUID } from 'node:crypto'
import type { Ids } from '#kernel/ports.ts'

export const randomIds: Ids = {
  uuid: () => randomUUID(),
  // Never a hyphen in front: pasted behind an option of a command line it would be taken for another option.
  secret: (bytes) => randomBytes(bytes).toString('base64url').replace(/^-/, 'A'),
}
