/**
 * Schemas that the operator gives for types that no provider serves. The files are OpenAPI documents and JSON
 * Schemas as they are published. They become one schema for each type and api-version. Every reference has to lead
 * into one of these files.
 */

import type { TSchema } from 'typebox'
import { compareApiVersions, isApiVersion, nearestApiVersion } from '#kernel/api-version.ts'
import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import { foreignMark } from '#plane/check.ts'

export interface SchemaFile {
  readonly name: string
  readonly content: unknown
}

/** The error for a file that cannot be used. The operator reads its message. */
export class SchemaFileError extends Error {
  constructor(file: string, reason: string) {
    super(`the schema file ${file} cannot be used: ${reason}`)
    this.name = 'SchemaFileError'
  }
}

export interface GivenSchemas {
  /** The types with a schema, spelled as in their files, with their api-versions. */
  readonly types: ReadonlyMap<
    string,
    { readonly type: string; readonly versions: readonly string[] }
  >
  /** The schema of this api-version, or of the latest one before it. */
  bodyOf(type: string, version: string): TSchema | undefined
}

interface Found {
  readonly type: string
  readonly version: string
  readonly schema: unknown
  readonly file: string
}

/** Throws `SchemaFileError`. */
export function readSchemas(files: readonly SchemaFile[]): GivenSchemas {
  const found = files.flatMap((file) => [...openApiBodies(file), ...definedResources(file)])
  for (const { name } of files) {
    if (!found.some(({ file }) => file === name) && !isReferred(name, files)) {
      throw new SchemaFileError(name, 'it describes no body of a resource')
    }
  }
  const whole = files.map((file, at) => rebased(file, at, files))
  const byType = new Map<string, Map<string, TSchema>>()
  for (const one of found) {
    const versions = byType.get(one.type.toLowerCase()) ?? new Map<string, TSchema>()
    const at = files.findIndex(({ name }) => name === one.file)
    const own = rebased({ name: one.file, content: one.schema }, at, files)
    // A schema is an object. Its references lead into `files`.
    versions.set(one.version, {
      ...(own as object),
      files: reachedFrom(own, whole),
      [foreignMark]: true,
    } as TSchema)
    byType.set(one.type.toLowerCase(), versions)
  }
  const spelled = new Map(found.map(({ type }) => [type.toLowerCase(), type]))
  return {
    types: new Map(
      [...byType].map(([key, versions]) => [
        key,
        { type: spelled.get(key) ?? key, versions: [...versions.keys()].sort(compareApiVersions) },
      ]),
    ),
    bodyOf(type, version) {
      const versions = byType.get(type.toLowerCase())
      if (versions === undefined) return undefined
      const dates = [...versions.keys()].sort(compareApiVersions)
      return versions.get(version) ?? versions.get(nearestApiVersion(dates, version) ?? '')
    },
  }
}

/** The files that references lead to, directly or through other files. */
function reachedFrom(
  schema: unknown,
  whole: readonly unknown[],
): Readonly<Record<string, unknown>> {
  const reached = new Map<string, unknown>()
  const walk = (value: unknown): void => {
    for (const [, at = ''] of JSON.stringify(value).matchAll(/"\$ref":"#\/files\/(\d+)\//g)) {
      if (reached.has(at)) continue
      reached.set(at, whole[Number(at)])
      walk(whole[Number(at)])
    }
  }
  walk(schema)
  return Object.fromEntries(reached)
}

function isReferred(name: string, files: readonly SchemaFile[]): boolean {
  return files.some(
    (file) => file.name !== name && JSON.stringify(file.content).includes(`${name}#`),
  )
}

/** Paths `…/providers/{namespace}/{type}/{name}…` with the body of their PUT. */
function openApiBodies({ name, content }: SchemaFile): readonly Found[] {
  const document = isJsonObject(content) ? content : {}
  const { paths, info } = document
  if (!isJsonObject(paths)) return []
  const version = String(isJsonObject(info) ? info['version'] : '').toLowerCase()
  if (!isApiVersion(version)) {
    throw new SchemaFileError(name, `info.version is no api-version: '${version}'`)
  }
  return Object.entries(paths).flatMap(([path, item]) => {
    const put = isJsonObject(item) ? item['put'] : undefined
    const type = typeOfPath(path)
    const schema = isJsonObject(put) ? bodyOfPut(put) : undefined
    return type === undefined || schema === undefined ? [] : [{ type, version, schema, file: name }]
  })
}

function bodyOfPut({ parameters, requestBody }: JsonObject): unknown {
  const content = isJsonObject(requestBody) ? requestBody['content'] : undefined
  const json = isJsonObject(content) ? content['application/json'] : undefined
  if (isJsonObject(json)) return json['schema']
  const listed = Array.isArray(parameters) ? parameters.filter(isJsonObject) : []
  return listed.find((one) => one['in'] === 'body')?.['schema']
}

/** Undefined for a path that has a variable in place of a type. */
function typeOfPath(path: string): string | undefined {
  const [namespace, ...rest] = path.split('/providers/').at(-1)?.split('/') ?? []
  const words = rest.filter((_, at) => at % 2 === 0)
  const isWhole = rest.length > 0 && rest.length % 2 === 0
  if (namespace === undefined || !isWhole || [namespace, ...words].join().includes('{')) {
    return undefined
  }
  return [namespace, ...words].join('/')
}

/** Template schemas: each entry of `resourceDefinitions` has a type and its api-versions as the only values. */
function definedResources({ name, content }: SchemaFile): readonly Found[] {
  const document = isJsonObject(content) ? content : {}
  const all = ['resourceDefinitions', 'extension_resourceDefinitions'].flatMap((section) => {
    const defined = document[section]
    return isJsonObject(defined) ? Object.values(defined) : []
  })
  return [...all, document].flatMap((schema) => {
    if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return []
    const { type, apiVersion, ...properties } = schema['properties']
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    // The body of a request has none of these members.
    const kept = required.filter((one) => !['type', 'apiVersion', 'name'].includes(String(one)))
    return onlyTexts(type).flatMap((one) =>
      onlyTexts(apiVersion).map((version) => ({
        type: one,
        version: version.toLowerCase(),
        schema: { ...schema, properties: { ...properties, name: {} }, required: kept },
        file: name,
      })),
    )
  })
}

function onlyTexts(schema: unknown): readonly string[] {
  if (!isJsonObject(schema)) return []
  const { enum: listed, const: only } = schema
  return (Array.isArray(listed) ? listed : [only]).filter((one) => typeof one === 'string')
}

/** The content with its references rewritten to lead into the `files` of the schema. */
function rebased({ name, content }: SchemaFile, at: number, files: readonly SchemaFile[]): unknown {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (!isJsonObject(value)) return value
    const members = Object.entries(value).flatMap(([key, one]): readonly [string, unknown][] => {
      // The ids of published files would change the base of references. The flags belong to an older draft.
      if ((key === 'id' || key === '$id' || key === '$schema') && typeof one === 'string') return []
      if (key.startsWith('exclusive') && typeof one === 'boolean') return []
      // A required read-only property is a rule for answers. A request need not contain it.
      if (key === 'required' && Array.isArray(one)) return [[key, one.filter(isWritten(value))]]
      if (key !== '$ref' || typeof one !== 'string') return [[key, walk(one)]]
      return [[key, reference(one)]]
    })
    return Object.fromEntries(members)
  }
  const reference = (text: string): string => {
    const [file = '', pointer = ''] = text.split('#')
    const base = file.split('/').at(-1)
    const target = file === '' ? at : files.findIndex((one) => one.name === base)
    if (target < 0 || memberOf(files[target]?.content, pointer) === undefined) {
      throw new SchemaFileError(name, `'${text}' leads to nothing in the folder`)
    }
    return `#/files/${target}${pointer}`
  }
  return walk(content)
}

function isWritten({ properties }: JsonObject): (name: unknown) => boolean {
  return (name) => {
    const one = isJsonObject(properties) ? properties[String(name)] : undefined
    return !isJsonObject(one) || one['readOnly'] !== true
  }
}

function memberOf(content: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((value: unknown, part) => {
      const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
      return isJsonObject(value) || Array.isArray(value) ? (value as JsonObject)[name] : undefined
    }, content)
}
