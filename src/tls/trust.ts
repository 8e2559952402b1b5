/** Lets this process trust an authority besides those that it trusts anyway. */

import { existsSync, readFileSync } from 'node:fs'
import * as tls from 'node:tls'

/** Versions of Node before 22.19 cannot: they read `NODE_EXTRA_CA_CERTS` at their start and nothing after it. */
export function trustAuthority(file: string): void {
  if (typeof tls.setDefaultCACertificates !== 'function' || !existsSync(file)) return
  const authority = readFileSync(file, 'utf8')
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority])
}
