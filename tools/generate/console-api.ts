/**
 * The console's typed client, from the OpenAPI documents: for each operation that `console/src/api/operations.json` names,
 * its address and the types of its path, body and answer.
 */

interface Document {
  readonly namespace: string
  readonly version: string
  readonly document: object
}

type Schema = Readonly<Record<string, unknown>>

interface Operation {
  readonly requestBody?: { readonly content?: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
  readonly parameters?: readonly Schema[]
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

/** Throws when an operation is named that no document has. */
export function consoleApi(
  named: Readonly<Record<string, string>>,
  documents: readonly Document[],
): string {
  const entries = Object.entries(named).map(([name, text]) => {
    const [, provider = '', version = '', method = '', path = ''] =
      /^(\w+)\/(\S+) ([A-Z]+) (\S+)$/.exec(text) ?? []
    const found = documents.find(
      (one) => one.namespace.endsWith(`.${provider}`) && one.version === version,
    )
    // Documents made by our own generator a moment ago.
    const paths = (found?.document as { paths?: Record<string, Record<string, Operation>> })?.paths
    const operation = paths?.[path]?.[method.toLowerCase()]
    if (operation === undefined) throw new Error(`No OpenAPI document has ${name}: ${text}`)
    return { name, version, method, path, operation }
  })
  const types = entries.map(({ name, path, operation }) => {
    const words = [...path.matchAll(/\{(\w+)\}/g)].map(([, word]) => `${word}: string`)
    const body = bodyOf(operation.requestBody?.content)
    return `  ${name}: {
    path: { ${words.join('; ')} }
    body: ${body === undefined ? 'undefined' : typeOf(body, 2)}
    answer: ${typeOf(answerOf(operation), 2)}
  }`
  })
  const addresses = entries.map(
    ({ name, version, method, path }) =>
      `  ${name}: { method: '${method}', path: '${path}', version: '${version}' },`,
  )
  return [
    '/** Made by `npm run generate` from openapi/ and operations.json. */',
    '',
    'export interface Operations {',
    ...types,
    '}',
    '',
    'export const operations: {',
    '  readonly [K in keyof Operations]: {',
    '    readonly method: string',
    '    readonly path: string',
    '    readonly version: string',
    '  }',
    '} = {',
    ...addresses,
    '}',
    '',
  ].join('\n')
}

function bodyOf(content: Content | undefined): Schema | undefined {
  return content?.['application/json']?.schema
}

/** Of the first success that says what it is; `unknown` where none does. */
function answerOf({ responses }: Operation): Schema {
  const successes = Object.keys(responses).filter((status) => status.startsWith('2'))
  const described = successes.map((status) => bodyOf(responses[status]?.content))
  return described.find((schema) => schema !== undefined) ?? {}
}

function typeOf(schema: Schema, depth: number): string {
  if ('const' in schema) return JSON.stringify(schema['const'])
  const { enum: values, anyOf, oneOf, allOf, type } = schema
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' | ')
  for (const choices of [anyOf, oneOf]) {
    if (Array.isArray(choices)) return unionOf(choices, depth)
  }
  if (Array.isArray(allOf)) {
    // What stands around every item is typed by hand, beside these.
    const own = (allOf as readonly Schema[]).filter((one) => !('$ref' in one))
    return own.length === 0 ? 'unknown' : own.map((one) => typeOf(one, depth)).join(' & ')
  }
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `readonly (${typeOf((schema['items'] ?? {}) as Schema, depth)})[]`
    case 'object':
      return objectOf(schema, depth)
    default:
      return 'unknown'
  }
}

function unionOf(choices: readonly Schema[], depth: number): string {
  return [...new Set(choices.map((one) => typeOf(one, depth)))].join(' | ')
}

function objectOf(schema: Schema, depth: number): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  const required = (schema['required'] ?? []) as readonly string[]
  const patterns = Object.values((schema['patternProperties'] ?? {}) as Record<string, Schema>)
  const others = schema['additionalProperties']
  const more = typeof others === 'object' && others !== null ? [others as Schema] : []
  if (properties.length === 0) {
    const values = [...patterns, ...more]
    return `Readonly<Record<string, ${values.length === 0 ? 'unknown' : unionOf(values, depth)}>>`
  }
  const indent = '  '.repeat(depth + 1)
  const lines = properties.map(([name, one]) => {
    const optional = required.includes(name) ? '' : '?'
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${indent}readonly ${key}${optional}: ${typeOf(one, depth + 1)}`
  })
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`
}
