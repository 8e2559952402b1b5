/**
 * Makes the key pair of a signing key. It is a file of its own so that a start can begin with it before anything
 * else is loaded.
 */

import { generateKeyPair, type KeyPairKeyObjectResult } from 'node:crypto'
import { promisify } from 'node:util'

const generate = promisify(generateKeyPair)

/** A new pair, made on another thread. It takes a tenth of a second of processor time or more. */
export function makeSigningPair(): Promise<KeyPairKeyObjectResult> {
  return generate('rsa', { modulusLength: 2048, publicExponent: 0x10001 })
}
