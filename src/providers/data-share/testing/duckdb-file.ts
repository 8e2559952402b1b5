/** DuckDB files of the servers of tests. Test support only. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Sharing } from './start.ts'

export const duckdb = { location: 'here', properties: { kind: 'DuckDb' } }

export const serverAt = (group: string, name: string): string =>
  `${group}/providers/Vendor.Sql/servers/${name}`

/** Runs in one of the installation's files, opened as briefly as possible. */
export async function inFile(
  { root }: Sharing,
  server: string,
  text: string,
): Promise<readonly (readonly unknown[])[]> {
  mkdirSync(join(root, 'databases', server), { recursive: true })
  const instance = await DuckDBInstance.create(join(root, 'databases', server, 'shop.duckdb'))
  const connection = await instance.connect()
  const read = await connection.runAndReadAll(text)
  connection.closeSync()
  instance.closeSync()
  return read.getRowsJson()
}
