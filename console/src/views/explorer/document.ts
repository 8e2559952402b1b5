/** An OpenAPI document of this installation, prepared for the explorer. */

import type { Parameter } from '../../components/try-it.tsx'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly readOnly?: boolean
  readonly default?: unknown
}

interface Described {
  readonly $ref?: string
  readonly name?: string
  readonly in?: Parameter['in']
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

interface OperationObject {
  readonly summary?: string
  readonly parameters?: readonly Described[]
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
  }
  readonly 'x-permission'?: string
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components?: { readonly parameters?: Readonly<Record<string, Described>> }
}

export interface Operation {
  readonly key: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly permission: string
  readonly parameters: readonly Parameter[]
  readonly sample: unknown
}

const methods = ['get', 'put', 'post', 'patch', 'delete', 'head']

export function operationsOf(document: OpenApi, version: string): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods
      .filter((method) => method in item)
      .map((method) => {
        const operation = item[method] as OperationObject
        const shared = (item['parameters'] ?? []) as readonly Described[]
        const schema = operation.requestBody?.content?.['application/json']?.schema
        return {
          key: `${method} ${path}`,
          method: method.toUpperCase(),
          path,
          summary: operation.summary ?? '',
          permission: operation['x-permission'] ?? '',
          parameters: parametersOf(document, [...shared, ...(operation.parameters ?? [])], {
            path,
            version,
          }),
          sample: schema === undefined ? undefined : sampleOf(schema, 0),
        }
      }),
  )
}

function parametersOf(
  { components }: OpenApi,
  given: readonly Described[],
  { path, version }: { readonly path: string; readonly version: string },
): readonly Parameter[] {
  const named = given.map((one) =>
    one.$ref === undefined
      ? one
      : (components?.parameters?.[one.$ref.split('/').at(-1) ?? ''] ?? one),
  )
  const found: Parameter[] = named.flatMap(
    ({ name, in: where, required = false, description, schema }) =>
      name === undefined || where === undefined
        ? []
        : [
            {
              name,
              in: where,
              required,
              description,
              value: name === 'api-version' ? version : textOf(schema?.default),
            },
          ],
  )
  const missing = [...path.matchAll(/\{([^}]+)\}/g)]
    .map(([, name = '']) => name)
    .filter((name) => !found.some((one) => one.name === name))
  return [...missing.map((name): Parameter => ({ name, in: 'path', required: true })), ...found]
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value)
}

const depthMax = 6

/** Required properties, and the properties at the top level. Optional ones below are left out. */
export function sampleOf(schema: Schema, depth: number): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  const [first] = schema.enum ?? []
  if (first !== undefined) return first
  const [either] = schema.anyOf ?? []
  if (either !== undefined) return sampleOf(either, depth)
  const type =
    typeof schema.type === 'string' ? schema.type : schema.type?.find((one) => one !== 'null')
  if (schema.properties !== undefined) {
    const entries = Object.entries(schema.properties).filter(
      ([name, one]) =>
        one.readOnly !== true &&
        depth < depthMax &&
        (schema.required?.includes(name) === true ||
          (depth === 0 && ['location', 'properties'].includes(name))),
    )
    return Object.fromEntries(entries.map(([name, one]) => [name, sampleOf(one, depth + 1)]))
  }
  if (type === 'array')
    return schema.items === undefined || depth >= depthMax
      ? []
      : [sampleOf(schema.items, depth + 1)]
  if (type === 'integer' || type === 'number') return 0
  if (type === 'boolean') return false
  if (type === 'object') return {}
  return ''
}
