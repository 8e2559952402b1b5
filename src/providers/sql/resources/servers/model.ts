/** The stored form of a server: its address and credentials. The password is sealed and never shown. */

import type { Seal } from '#kernel/ports.ts'

export type SqlServer =
  | {
      readonly kind: 'PostgreSql'
      /** The id at the first PUT, as a key: the context of the seal. */
      readonly place: string
      readonly host: string
      readonly port: number
      readonly login: string
      readonly tls: 'off' | 'verify'
      readonly sealedPassword: string
    }
  /** A folder of DuckDB files with the server's name, below the operator's folder. */
  | { readonly kind: 'DuckDb' }
  /** A name without an address: nobody connects to it. */
  | { readonly kind: 'Unreachable'; readonly login?: string }

export type PostgresServer = Extract<SqlServer, { readonly kind: 'PostgreSql' }>

export const sqlServerType = 'Sql/servers'

export function sealPassword(seal: Seal, place: string, password: string): string {
  return seal.seal(password, `sql server password\n${place}`)
}

export function openPassword(
  seal: Seal,
  { place, sealedPassword }: PostgresServer,
): string | undefined {
  return seal.open(sealedPassword, `sql server password\n${place}`)
}
