/** Sides of tables for the contract suite: a database of a PostgreSQL server, and a file of DuckDB. */

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { Client, escapeIdentifier } from 'pg'
import type { PostgresServer } from '#stores/testing/postgres-server.ts'
import type { DuckdbTable, PostgresTable } from '../engine.ts'
import { stageFolder } from '../names.ts'
import type { TableSide } from './tables-contract.ts'

const schema = 'Sales "x"'
const table = 'orders'

function named(sql: string): string {
  const quoted = escapeIdentifier(schema)
  return sql.replaceAll('TABLE', `${quoted}.${table}`).replaceAll('SCHEMA', quoted)
}

interface PostgresSide extends TableSide, AsyncDisposable {
  readonly location: PostgresTable
  readonly client: Client
}

export async function postgresSide(server: PostgresServer): Promise<PostgresSide> {
  const address = await server.createDatabase()
  const url = new URL(address)
  const client = new Client({ connectionString: address })
  await client.connect()
  return {
    client,
    location: {
      kind: 'postgres',
      host: url.hostname,
      port: Number(url.port),
      database: url.pathname.slice(1),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      tls: 'off',
      schema,
      table,
    },
    run: async (sql) => void (await client.query(named(sql))),
    rows: async (sql) => (await client.query({ text: named(sql), rowMode: 'array' })).rows,
    async leftovers() {
      const { rows } = await client.query<{ name: string }>(
        "select relname as name from pg_class where relkind = 'r' and relname like 'armature_%'",
      )
      return rows.map(({ name }) => name)
    },
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}

export function duckdbSide(
  root: string,
  folder: string,
): TableSide & { readonly location: DuckdbTable } {
  const path = join(root, folder, 'shop.duckdb')
  mkdirSync(join(root, folder), { recursive: true })
  // For as short as it takes, as everybody does who shares a file.
  const rows: TableSide['rows'] = async (sql) => {
    const instance = await DuckDBInstance.create(path)
    const connection = await instance.connect()
    try {
      await connection.run("set TimeZone = 'UTC'")
      const read = await connection.runAndReadAll(named(sql))
      // Texts only are asked for.
      return read.getRowsJson() as unknown as readonly (readonly (string | null)[])[]
    } finally {
      connection.closeSync()
      instance.closeSync()
    }
  }
  return {
    location: { kind: 'duckdb', root, folder, database: 'shop', schema, table },
    run: async (sql) => void (await rows(sql)),
    rows,
    async leftovers() {
      const stages = join(root, stageFolder)
      return readdirSync(root).includes(stageFolder)
        ? readdirSync(stages).filter((name) => name !== 'spill')
        : []
    },
  }
}
