/** The fourteen kinds (facts 6.2): what each names, how it resolves, and what may be copied into what. Data. */

import Type, { type TSchema } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { serverTextProblem } from '#kernel/server-text.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'

type Family = 'file' | 'tree' | 'table' | 'none'

interface KindRule {
  readonly family: Family
  readonly required: readonly string[]
  readonly optional?: readonly string[]
}

const located = ['resourceGroup', 'storageAccountName', 'subscriptionId'] as const
const gen1 = ['accountName', 'resourceGroup', 'subscriptionId'] as const

const kindRules = {
  Blob: { family: 'file', required: ['containerName', 'filePath', ...located] },
  Container: { family: 'tree', required: ['containerName', ...located] },
  BlobFolder: { family: 'tree', required: ['containerName', 'prefix', ...located] },
  AdlsGen2FileSystem: { family: 'tree', required: ['fileSystem', ...located] },
  AdlsGen2Folder: { family: 'tree', required: ['fileSystem', 'folderPath', ...located] },
  AdlsGen2File: { family: 'file', required: ['fileSystem', 'filePath', ...located] },
  AdlsGen1Folder: { family: 'tree', required: ['folderPath', ...gen1] },
  AdlsGen1File: { family: 'file', required: ['fileName', 'folderPath', ...gen1] },
  KustoCluster: { family: 'none', required: ['kustoClusterResourceId'] },
  KustoDatabase: { family: 'none', required: ['kustoDatabaseResourceId'] },
  KustoTable: { family: 'none', required: ['kustoDatabaseResourceId'] },
  SqlDBTable: {
    family: 'table',
    required: ['databaseName', 'sqlServerResourceId', 'tableName'],
    optional: ['schemaName', 'watermarkColumn'],
  },
  SqlDWTable: {
    family: 'table',
    required: ['dataWarehouseName', 'schemaName', 'sqlServerResourceId', 'tableName'],
    optional: ['watermarkColumn'],
  },
  SynapseWorkspaceSqlPoolTable: {
    family: 'table',
    required: ['synapseWorkspaceSqlPoolTableResourceId'],
    optional: ['watermarkColumn'],
  },
} as const satisfies Readonly<Record<string, KindRule>>

/** The properties by which data sets of any kind name their location. */
export const placeFields: Readonly<Record<string, TSchema>> = Object.fromEntries(
  Object.values<KindRule>(kindRules)
    .flatMap(({ required, optional = [] }) => [...required, ...optional])
    .map((name) => [name, Type.String()]),
)

export type Kind = keyof typeof kindRules
export const kindNames: readonly Kind[] = Object.keys(kindRules) as Kind[] // the keys of a constant

/** Kinds that a mapping may not have: no such mapping kind exists, or nothing is copied for them. */
export function mappingRefusal(kind: Kind): string | undefined {
  if (kind === 'AdlsGen1Folder' || kind === 'AdlsGen1File') {
    return `the kind ${kind} is one of sources only: map it to AdlsGen2Folder, AdlsGen2File, Blob or BlobFolder`
  }
  return ruleOf(kind).family === 'none' ? notCopied(kind) : undefined
}

function notCopied(kind: Kind): string {
  return `the kind ${kind} is shared in place by its own engine, which is not part of this installation; export it to a storage account or a SQL table and share that`
}

/** Why a data set of one kind cannot be mapped to another; undefined when it can. */
export function pairRefusal(
  source: Kind,
  target: Kind,
  outputType: string | undefined,
): string | undefined {
  const from = ruleOf(source).family
  const to = ruleOf(target).family
  if (from === 'none') return notCopied(source)
  if (from === 'table' && to === 'file') {
    return outputType === undefined
      ? 'a table becomes a file only with outputType Csv or Parquet'
      : undefined
  }
  if (outputType !== undefined) return 'outputType is for tables that become files'
  if (from === to) return undefined
  return `a data set of the kind ${source} cannot be mapped to ${target}: files go to files, folders and containers to folders and containers, tables to tables or files`
}

export function ruleOf(kind: Kind): KindRule {
  return kindRules[kind]
}

export type KindProperties = Readonly<Record<string, unknown>>

const valueMax = 1024

/** What is wrong with the properties of a kind. */
export function kindProblems(kind: Kind, properties: unknown): readonly Problem[] {
  if (!isJsonObject(properties)) return [{ path: 'properties', message: 'expected an object' }]
  const { required, optional = [] } = ruleOf(kind)
  const problems: Problem[] = []
  for (const name of [...required, ...optional]) {
    const value = properties[name]
    const path = `properties.${name}`
    if (value === undefined || value === null) {
      if (required.includes(name)) problems.push({ path, message: `expected for the kind ${kind}` })
    } else if (typeof value !== 'string' || value.length === 0 || value.length > valueMax) {
      problems.push({ path, message: `expected text of 1 to ${valueMax} characters` })
    } else if (serverTextProblem(value) !== undefined) {
      problems.push({ path, message: serverTextProblem(value) ?? '' })
    } else if (pathNames.has(name) && isBadPath(value)) {
      problems.push({
        path,
        message: "a path has no empty, '.' or '..' segments and no backslashes",
      })
    } else if (containerNames.has(name) && !containerPattern.test(value)) {
      problems.push({ path, message: '3 to 63 lower-case letters, digits and hyphens' })
    }
  }
  return problems
}

const pathNames = new Set(['filePath', 'prefix', 'folderPath', 'fileName'])
const containerNames = new Set(['containerName', 'fileSystem'])
const containerPattern = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/

function isBadPath(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  if (/[\u0000-\u001f\u007f\\]/.test(value)) return true
  return trimmed(value)
    .split('/')
    .some((one) => one === '' || one === '.' || one === '..')
}

function trimmed(path: string): string {
  return path.replace(/^\/|\/$/g, '')
}

export type Resolved =
  | {
      readonly kind: 'objects'
      readonly account: ResourceId
      readonly shape: 'file' | 'tree'
      readonly container: string
      readonly path: string
    }
  | {
      readonly kind: 'table'
      readonly server: ResourceId
      readonly database: string
      readonly schema: string
      readonly table: string
      readonly watermarkColumn: string | undefined
    }

/** The container for folders of a first-generation account, which has none itself. */
const gen1Container = 'root'

/** What a kind's properties name; undefined for a malformed id or a Kusto kind. */
export function resolveKind(
  kind: Kind,
  properties: KindProperties,
  words: VendorWords,
): Resolved | undefined {
  const text = (name: string): string => String(properties[name] ?? '')
  const { family } = ruleOf(kind)
  if (family === 'none') return undefined
  if (family === 'table') return resolveTable(kind, text, words)
  const name = kind.startsWith('AdlsGen1') ? text('accountName') : text('storageAccountName')
  const account = parseResourceId(
    `/subscriptions/${text('subscriptionId')}/resourceGroups/${text('resourceGroup')}/providers/${qualify(words, 'Storage')}/storageAccounts/${name}`,
  )
  if (account === undefined || account.segments.at(-1)?.types.length !== 1) return undefined
  const path = {
    Blob: text('filePath'),
    Container: '',
    BlobFolder: text('prefix'),
    AdlsGen2FileSystem: '',
    AdlsGen2Folder: text('folderPath'),
    AdlsGen2File: text('filePath'),
    AdlsGen1Folder: text('folderPath'),
    AdlsGen1File: `${trimmed(text('folderPath'))}/${text('fileName')}`,
  }[kind as Exclude<Kind, `Kusto${string}` | `S${string}`>] // families were told apart above
  const container = kind.startsWith('AdlsGen1')
    ? gen1Container
    : text(kind.startsWith('AdlsGen2') ? 'fileSystem' : 'containerName')
  return { kind: 'objects', account, shape: family, container, path: trimmed(path) }
}

function resolveTable(
  kind: Kind,
  text: (name: string) => string,
  words: VendorWords,
): Resolved | undefined {
  const column = text('watermarkColumn')
  const watermarkColumn = column === '' ? undefined : column
  if (kind === 'SynapseWorkspaceSqlPoolTable') {
    const id = parseResourceId(text('synapseWorkspaceSqlPoolTableResourceId'))
    const last = id?.segments.at(-1)
    const shape = 'workspaces/sqlpools/schemas/tables'
    if (id === undefined || last?.types.join('/').toLowerCase() !== shape) return undefined
    const [workspace = '', database = '', schema = '', table = ''] = last.names
    const scope = id.text.slice(0, id.text.toLowerCase().lastIndexOf('/providers/'))
    // A workspace is the registered server of its name in its group.
    const server = parseResourceId(
      `${scope}/providers/${qualify(words, 'Sql')}/servers/${workspace}`,
    )
    return server === undefined
      ? undefined
      : { kind: 'table', server, database, schema, table, watermarkColumn }
  }
  const server = parseResourceId(text('sqlServerResourceId'))
  const last = server?.segments.at(-1)
  const isServer =
    last?.types.join('/').toLowerCase() === 'servers' &&
    last.namespace?.toLowerCase() === qualify(words, 'Sql').toLowerCase()
  if (server === undefined || !isServer) return undefined
  return {
    kind: 'table',
    server,
    database: text(kind === 'SqlDBTable' ? 'databaseName' : 'dataWarehouseName'),
    schema: text('schemaName') === '' ? 'dbo' : text('schemaName'),
    table: text('tableName'),
    watermarkColumn,
  }
}

/** The path of what a kind names, for the consumer's list of sources. */
export function shownPath(resolved: Resolved | undefined): string | undefined {
  if (resolved === undefined) return undefined
  return resolved.kind === 'objects'
    ? [resolved.container, resolved.path].filter((one) => one !== '').join('/')
    : `${resolved.database}/${resolved.schema}/${resolved.table}`
}
