/** Identifiers and secrets from the machine's randomness. */

import { randomBytes, randomUUID } from 'node:crypto'
import type { Ids } from '#kernel/ports.ts'

export const randomIds: Ids = {
  uuid: () => randomUUID(),
  // A secret never begins with a hyphen: after an option of a command line it would look like another option.
  secret: (bytes) => randomBytes(bytes).toString('base64url').replace(/^-/, 'A'),
}
