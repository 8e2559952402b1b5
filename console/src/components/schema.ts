/**
 * What a form needs of the JSON schema of a body: its fields, a change at a path, and the problems of a refusal.
 */

export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly default?: unknown
}

interface Problem {
  readonly message: string
  readonly target?: string
  readonly details?: readonly Problem[]
}

export type Path = readonly (string | number)[]
type Kind = 'object' | 'list' | 'texts' | 'map' | 'text' | 'number' | 'boolean' | 'choice' | 'json'

export function typeOf(schema: Schema): string | undefined {
  return typeof schema.type === 'string' ? schema.type : schema.type?.find((one) => one !== 'null')
}

/** Which kind of input a value of the schema needs. */
export function kindOf(schema: Schema): Kind {
  if (choicesOf(schema).length > 0) return 'choice'
  const type = typeOf(schema)
  if (type === 'string') return 'text'
  if (type === 'boolean') return 'boolean'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'array' && schema.items !== undefined) {
    if (typeOf(schema.items) === 'string' && choicesOf(schema.items).length === 0) return 'texts'
    return kindOf(schema.items) === 'object' ? 'list' : 'json'
  }
  if (Object.keys(schema.properties ?? {}).length > 0) return 'object'
  return isMapOfTexts(schema) ? 'map' : 'json'
}

export function choicesOf({ enum: values, anyOf = [], const: only }: Schema): readonly string[] {
  const all = values ?? (only === undefined ? anyOf.map((one) => one.const) : [only])
  return all.every((one) => typeof one === 'string') ? (all as readonly string[]) : []
}

function isMapOfTexts({ patternProperties, additionalProperties }: Schema): boolean {
  const [one = additionalProperties] = Object.values(patternProperties ?? {})
  return typeof one === 'object' && typeOf(one) === 'string'
}

/** Required properties come first. */
export function fieldsOf({ properties = {}, required = [] }: Schema) {
  const all = Object.entries(properties)
    .filter(([, { readOnly }]) => readOnly !== true)
    .map(([name, schema]) => ({ name, schema, required: required.includes(name) }))
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)]
}

/** `undefined` removes the value. */
export function changedAt(whole: unknown, [first, ...rest]: Path, value: unknown): unknown {
  if (first === undefined) return value
  if (typeof first === 'number') {
    const list = Array.isArray(whole) ? [...(whole as readonly unknown[])] : []
    const changed = changedAt(list[first], rest, value)
    if (changed === undefined) list.splice(first, 1)
    else list[first] = changed
    return list
  }
  const { [first]: before, ...others } = Object(whole) as Readonly<Record<string, unknown>>
  const changed = changedAt(before, rest, value)
  if (changed === undefined) return others
  // A changed property keeps its position.
  return { ...(Object(whole) as object), [first]: changed }
}

/** Required properties with empty values, so that the form begins with their fields. */
export function beginOf(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  const kind = kindOf(schema)
  if (kind === 'list') return [beginOf(schema.items ?? {})]
  if (kind === 'texts') return []
  if (kind === 'map') return {}
  if (kind !== 'object') return undefined
  const needed = fieldsOf(schema).filter((one) => one.required)
  const begun = needed.map(({ name, schema: one }) => [name, beginOf(one)] as const)
  return Object.fromEntries(begun.filter(([, value]) => value !== undefined))
}

/** The properties of a resource that a write accepts. The server sets the others. */
export function writable(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => writable(schema.items ?? {}, one))
  const { properties } = schema
  if (typeof value !== 'object' || value === null || kindOf(schema) !== 'object') return value
  const taken = Object.entries(value).filter(
    ([name]) => properties?.[name] !== undefined && properties[name].readOnly !== true,
  )
  return Object.fromEntries(
    taken.map(([name, one]) => [name, writable(properties?.[name] ?? {}, one)]),
  )
}

/** `properties.containers[0].name`, the form that refusals use. */
export function pathText(path: Path): string {
  return path.reduce<string>(
    (text, one) =>
      typeof one === 'number' ? `${text}[${one}]` : text === '' ? one : `${text}.${one}`,
    '',
  )
}

/** Each problem by the property that it names, in lower case. */
export function problemsByPath(problem: Problem | undefined): ReadonlyMap<string, string> {
  const all = problem === undefined ? [] : [problem, ...(problem.details ?? [])]
  return new Map(
    all.flatMap(({ target, message }) =>
      target === undefined ? [] : [[target.toLowerCase(), message] as const],
    ),
  )
}
