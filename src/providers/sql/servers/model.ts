/** The stored shape of a server: where it is and how to sign in. The password is sealed and never shown. */

import type { Seal } from '#kernel/ports.ts'

export interface SqlServer {
  /** The id at the first PUT, as a key: what the seal is bound to. */
  readonly place: string
  readonly host: string
  readonly port: number
  readonly login: string
  readonly tls: 'off' | 'verify'
  readonly sealedPassword: string
}

export const sqlServerType = 'Sql/servers'

export function sealPassword(seal: Seal, place: string, password: string): string {
  return seal.seal(password, `sql server password\n${place}`)
}

export function openPassword(seal: Seal, { place, sealedPassword }: SqlServer): string | undefined {
  return seal.open(sealedPassword, `sql server password\n${place}`)
}
