/** Finds the certificate authority that https clients must trust: that of the server of this home. */

import { createHash, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalProblem } from './command.ts'
import type { Home } from './home.ts'

/** The file. Throws `LocalProblem` when this installation has no https. */
export function findAuthority(home: Home): string {
  const file = home.running()?.authorityFile ?? join(home.folder, 'tls', 'ca.pem')
  if (existsSync(file)) return file
  throw new LocalProblem(
    'NoHttps',
    `The installation with the home ${home.folder} has no https. Start it with ARMATURE_TLS=auto, or with certificate and key from files.`,
  )
}

/** `AB:CD:…`, as browsers and certificate stores show it. */
export function fingerprintOf(file: string): string {
  return new X509Certificate(readFileSync(file)).fingerprint256
}

/** A name for certificate stores that identifies the installation. */
export function storeNameOf(file: string): string {
  const hash = createHash('sha256').update(new X509Certificate(readFileSync(file)).raw)
  return `armature-${hash.digest('hex').slice(0, 8)}`
}
