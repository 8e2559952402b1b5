/** The pair of a signing key, apart from what is done with it: it can be begun before anything else is loaded. */

import { generateKeyPair, type KeyPairKeyObjectResult } from 'node:crypto'
import { promisify } from 'node:util'

const generate = promisify(generateKeyPair)

/** A new pair, by another thread. It takes a tenth of a second of a processor or more. */
export function makeSigningPair(): Promise<KeyPairKeyObjectResult> {
  return generate('rsa', { modulusLength: 2048, publicExponent: 0x10001 })
}
