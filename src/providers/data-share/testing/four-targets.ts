/**
 * A subscription with four mappings: a folder, blobs, a table of PostgreSQL and one of DuckDB, three items each. A
 * round writes its number into every source, so that what a reader sees tells whether it is of one round.
 */

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { DuckDBInstance } from '@duckdb/node-api'
import { Client } from 'pg'
import type { CopyLocation } from '#engines/copy/engine.ts'
import { emulator } from '#engines/copy/testing/azurite.ts'
import { consumer, type Sharing, sourceGroup, targetGroup } from './start.ts'

type Target = CopyLocation['kind']
export const targets: readonly Target[] = ['folder', 'blobs', 'postgres', 'duckdb']
export const itemsEach = 3

export interface Around {
  readonly root: string
  /** Of a blob service. */
  readonly endpoint: string
  /** Both sides by one name: the service copies by itself. */
  readonly isOneService: boolean
  /** Of its own for each world. */
  readonly containers: { readonly source: string; readonly target: string }
  /** Addresses of two databases. */
  readonly from: string
  readonly to: string
}

const items = Array.from({ length: itemsEach }, (_, n) => n)

/** Declares it all; once for a store. */
export async function declareFour(sharing: Sharing, around: Around): Promise<void> {
  await sharing.prepare()
  const storage = (group: string, name: string) =>
    `${group}/providers/Vendor.Storage/storageAccounts/${name}`
  const servers = (group: string, name: string) => `${group}/providers/Vendor.Sql/servers/${name}`
  const blobService = (endpoint: string) => ({
    location: 'here',
    properties: {
      kind: 'BlobService',
      endpoint,
      accountName: emulator.account,
      accountKey: emulator.key,
    },
  })
  const giving = around.isOneService
    ? around.endpoint
    : around.endpoint.replace('127.0.0.1', 'localhost')
  const sides = [
    { group: sourceGroup, blobs: 'cloudgive', endpoint: giving, lake: 'lake' },
    { group: targetGroup, blobs: 'cloudtake', endpoint: around.endpoint, lake: 'pond' },
  ]
  for (const { group, blobs, endpoint, lake } of sides) {
    const url = new URL(around.from)
    const postgres = {
      location: 'here',
      properties: {
        fullyQualifiedDomainName: url.hostname,
        port: Number(url.port),
        administratorLogin: decodeURIComponent(url.username),
        administratorLoginPassword: decodeURIComponent(url.password),
      },
    }
    const duckdb = { location: 'here', properties: { kind: 'DuckDb' } }
    await sharing.call('PUT', storage(group, blobs), blobService(endpoint), consumer)
    await sharing.call('PUT', servers(group, 'db'), postgres, consumer)
    await sharing.call('PUT', servers(group, lake), duckdb, consumer)
  }
  const table = (group: string, server: string, databaseName: string, schemaName: string) => ({
    databaseName,
    schemaName,
    sqlServerResourceId: servers(group, server),
    tableName: 'orders',
  })
  const database = (address: string) => new URL(address).pathname.slice(1)
  const watermarkColumn = 'round'
  const pairs = [
    [
      'folder',
      'BlobFolder',
      { containerName: 'data', prefix: 'in' },
      { containerName: 'got', prefix: 'all' },
    ],
    [
      'blobs',
      'Container',
      { storageAccountName: 'cloudgive', containerName: around.containers.source },
      { storageAccountName: 'cloudtake', containerName: around.containers.target },
    ],
    [
      'postgres',
      'SqlDBTable',
      { ...table(sourceGroup, 'db', database(around.from), 'public'), watermarkColumn },
      table(targetGroup, 'db', database(around.to), 'public'),
    ],
    [
      'duckdb',
      'SqlDBTable',
      { ...table(sourceGroup, 'lake', 'shop', 'main'), watermarkColumn },
      table(targetGroup, 'pond', 'shop', 'main'),
    ],
  ] as const
  for (const [name, kind, source, target] of pairs) {
    const dataSetId = await sharing.share(name, kind, source)
    await sharing.map(name, kind, { dataSetId, ...target })
  }
}

const makeTable = 'create table if not exists orders (id int primary key, round int)'
const fillTable = (round: number): string =>
  `insert into orders values ${items.map((n) => `(${n}, ${round})`).join(', ')}
    on conflict (id) do update set round = excluded.round`

/** Every item of every source is of this round. */
export async function writeRound(sharing: Sharing, around: Around, round: number): Promise<void> {
  for (const n of items) sharing.write('giver', `data/in/f${n}.txt`, String(round))
  const container = containerOf(around, around.containers.source)
  await container.createIfNotExists()
  for (const n of items) {
    await container.getBlockBlobClient(`b${n}.txt`).uploadData(Buffer.from(String(round)))
  }
  await inPostgres(around.from, makeTable)
  await inPostgres(around.from, fillTable(round))
  await inDuckdb(around, 'lake', makeTable)
  await inDuckdb(around, 'lake', fillTable(round))
}

/** The rounds that a reader of a target finds, one for each item. */
export async function seenRounds(around: Around, target: Target): Promise<readonly number[]> {
  switch (target) {
    case 'folder': {
      const folder = join(around.root, 'taker/got/all')
      return readdirSync(folder).map((name) => Number(readFileSync(join(folder, name), 'utf8')))
    }
    case 'blobs': {
      const container = containerOf(around, around.containers.target)
      const seen: number[] = []
      for await (const { name } of container.listBlobsFlat()) {
        seen.push(Number(await container.getBlobClient(name).downloadToBuffer()))
      }
      return seen
    }
    case 'postgres':
      return inPostgres(around.to, 'select round::int from orders')
    case 'duckdb':
      return inDuckdb(around, 'pond', 'select round::int from orders')
    default:
      return target satisfies never
  }
}

function containerOf({ endpoint }: Around, name: string) {
  const credential = new StorageSharedKeyCredential(emulator.account, emulator.key)
  return new BlobServiceClient(endpoint, credential).getContainerClient(name)
}

async function inPostgres(address: string, sql: string): Promise<readonly number[]> {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    const { rows } = await client.query<[number]>({ text: sql, rowMode: 'array' })
    return rows.map(([one]) => one)
  } finally {
    await client.end()
  }
}

async function inDuckdb({ root }: Around, server: string, sql: string): Promise<readonly number[]> {
  const folder = join(root, 'databases', server)
  mkdirSync(folder, { recursive: true })
  const instance = await DuckDBInstance.create(join(folder, 'shop.duckdb'))
  const connection = await instance.connect()
  try {
    const read = await connection.runAndReadAll(sql)
    return read.getRowsJson().map(([one]) => Number(one))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
