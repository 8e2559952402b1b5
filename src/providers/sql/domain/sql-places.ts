/**
 * Servers as locations to copy from and to. It checks no permission: the writer of a reference to a server had
 * `useAction` on it.
 */

import type { Seal } from '#kernel/ports.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import {
  openPassword,
  type PostgresServer,
  type SqlServer,
  sqlServerType,
} from '../resources/servers/model.ts'

type SqlPlace =
  | {
      readonly kind: 'postgres'
      readonly host: string
      readonly port: number
      readonly user: string
      readonly password: string
      readonly tls: PostgresServer['tls']
    }
  | { readonly kind: 'duckdb'; readonly root: string; readonly folder: string }

interface SqlPlaces {
  /** The action needed to refer to a server; without the vendor word. */
  readonly useAction: string
  /** Undefined when there is no such server, it has no address, or its password does not open. */
  find(id: ResourceId): Promise<SqlPlace | undefined>
}

export function openSqlPlaces(parts: {
  readonly reader: Reader
  readonly seal: Seal
  /** An absolute path: the folder of servers that are DuckDB files. */
  readonly root: string
}): SqlPlaces {
  return {
    useAction: `${sqlServerType}/write`,
    async find(id) {
      const found = await parts.reader.get(id)
      if (found === undefined) return undefined
      // The id is of that type, and so is its model.
      const model = found.model as SqlServer
      if (model.kind === 'DuckDb') {
        return { kind: 'duckdb', root: parts.root, folder: nameOf(found.id).toLowerCase() }
      }
      if (model.kind === 'Unreachable') return undefined
      const password = openPassword(parts.seal, model)
      if (password === undefined) return undefined
      const { host, port, login: user, tls } = model
      return { kind: 'postgres', host, port, user, password, tls }
    },
  }
}
