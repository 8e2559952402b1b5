/** The stored shape of a server: where it is and how to sign in. The password is sealed and never shown. */

import type { Seal } from '#kernel/ports.ts'

export type SqlServer =
  | {
      readonly kind: 'PostgreSql'
      /** The id at the first PUT, as a key: what the seal is bound to. */
      readonly place: string
      readonly host: string
      readonly port: number
      readonly login: string
      readonly tls: 'off' | 'verify'
      readonly sealedPassword: string
    }
  /** A folder of DuckDB files that is called as the server, below the folder the operator set. */
  | { readonly kind: 'DuckDb' }
  /** A name and no address: nobody connects to it. */
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
