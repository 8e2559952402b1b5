/**
 * The template language with next to no expressions, for tests of what carries templates out: literal resources,
 * `dependsOn` by name, and strings that are `[parameters('x')]` or `[reference('id', 'version')]` as a whole.
 */

import type { Json, JsonObject, Need, NodeBody, PlanNode, Runtime } from '#template/plan.ts'
import { TemplateRefusal } from '#template/plan.ts'
import type { ParameterArgument, Read, TemplateLanguage } from '#template/template.ts'

interface Resource extends JsonObject {
  readonly type: string
  readonly apiVersion: string
  readonly name: string
}

type Declared = Readonly<Record<string, { readonly type: string }>>

const parameterCall = /^\[parameters\('(\w+)'\)\]$/
const referenceCall = /^\[reference\('([^']+)', '([^']+)'\)\]$/
const notBody = new Set(['type', 'apiVersion', 'name', 'dependsOn', 'scope', 'existing'])

export const literalLanguage: TemplateLanguage = {
  parseTemplate(template) {
    if (typeof template === 'string') return refused('expected an object')
    if (!Array.isArray(template['resources'])) return refused('resources: expected an array')
    // A test's own template.
    const declared = (template['parameters'] ?? {}) as unknown as Declared
    const parameters = Object.fromEntries(
      Object.entries(declared).map(([name, { type }]) => {
        const secure = type.toLowerCase().startsWith('secure')
        return [name, { type: 'string' as const, secure, required: true }]
      }),
    )
    const contentVersion = '1.0.0.0'
    const languageVersion = '1.0' as const
    const scope = 'resourceGroup' as const
    return {
      ok: true,
      value: { scope, languageVersion, contentVersion, parameters, source: template },
    }
  },
  parseParameters: (parameters) => ({
    ok: true,
    value: parameters as unknown as Readonly<Record<string, ParameterArgument>>,
  }),
  expand(template, given, context) {
    const missing = Object.keys(template.parameters).filter((name) => !(name in given))
    if (missing.length > 0) return refused(`parameters.${missing[0]}: is required`)
    const group = String(context.resourceGroup?.['id'] ?? context.subscription?.['id'])
    const resources = template.source['resources'] as unknown as readonly Resource[]
    const keyOf = new Map(resources.map((one) => [one.name, idOf(group, one).toLowerCase()]))
    const nodes = inOrder(resources).map((one): PlanNode => {
      const id = idOf(group, one)
      const wanted = (one['dependsOn'] ?? []) as readonly string[]
      return {
        key: id.toLowerCase(),
        id,
        type: one.type,
        apiVersion: one.apiVersion,
        name: one.name,
        existing: one['existing'] === true,
        nested: one.type.endsWith('/deployments'),
        dependsOn: wanted.map((name) => keyOf.get(name) ?? name),
        position: { line: 0, column: 0, path: one.name },
        needs: () => needsIn(one),
        evaluate: (runtime) => bodyOf(one, template.parameters, given, runtime),
      }
    })
    const outputs = Object.entries((template.source['outputs'] ?? {}) as JsonObject).map(
      ([name, one]) => {
        const { type, value } = one as { readonly type: string; readonly value: Json }
        const secure = type.toLowerCase().startsWith('secure')
        return {
          name,
          type,
          secure,
          needs: () => needsIn(value),
          evaluate: (runtime: Runtime) => {
            const paths: string[] = []
            const made = filled(value, template.parameters, given, runtime, '', paths)
            return { value: made, secure: paths.length > 0 }
          },
        }
      },
    )
    const parameters = Object.fromEntries(
      Object.entries(template.parameters).map(([name, { secure }]) => {
        const argument = given[name]
        const value = argument !== undefined && 'value' in argument ? argument.value : null
        return [name, { type: secure ? 'SecureString' : 'String', ...(secure ? {} : { value }) }]
      }),
    )
    return { ok: true, value: { nodes, outputs, parameters } }
  },
}

/** Every one after those it depends on. */
function inOrder(resources: readonly Resource[]): readonly Resource[] {
  const placed: Resource[] = []
  const place = (one: Resource): void => {
    if (placed.includes(one)) return
    for (const name of (one['dependsOn'] ?? []) as readonly string[]) {
      const before = resources.find((other) => other.name === name)
      if (before !== undefined) place(before)
    }
    placed.push(one)
  }
  for (const one of resources) place(one)
  return placed
}

function refused(message: string): Read<never> {
  return { ok: false, problems: [{ line: 0, column: 0, path: 'template', message }] }
}

function idOf(scope: string, { type, name, scope: own }: Resource): string {
  const [namespace = '', ...types] = type.split('/')
  const names = name.split('/')
  const path = types.map((word, at) => `${word}/${names[at]}`).join('/')
  return `${typeof own === 'string' ? own : scope}/providers/${namespace}/${path}`
}

function needsIn(value: Json): readonly Need[] {
  if (typeof value === 'string') {
    const [, id, apiVersion] = referenceCall.exec(value) ?? []
    if (id === undefined || apiVersion === undefined) return []
    return [{ kind: 'reference', key: id, id, apiVersion }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((one: Json) => needsIn(one))
}

function bodyOf(
  resource: Resource,
  declared: Parameters<typeof filled>[1],
  given: Readonly<Record<string, ParameterArgument>>,
  runtime: Runtime,
): NodeBody {
  const securePaths: string[] = []
  const body = Object.fromEntries(
    Object.entries(resource)
      .filter(([name]) => !notBody.has(name))
      .map(([name, one]) => [name, filled(one, declared, given, runtime, name, securePaths)]),
  )
  return { body, securePaths }
}

function filled(
  value: Json,
  declared: Readonly<Record<string, { readonly secure: boolean }>>,
  given: Readonly<Record<string, ParameterArgument>>,
  runtime: Runtime,
  path: string,
  securePaths: string[],
): Json {
  if (typeof value === 'string') {
    const name = parameterCall.exec(value)?.[1]
    const id = referenceCall.exec(value)?.[1]
    if (id !== undefined) return runtime.answer(id)?.value ?? null
    if (name === undefined) return value
    const argument = given[name]
    if (argument === undefined || !('value' in argument)) {
      throw new TemplateRefusal([{ line: 0, column: 0, path, message: `no parameter ${name}` }])
    }
    if (declared[name]?.secure === true) securePaths.push(path)
    return argument.value
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((one: Json, at) =>
      filled(one, declared, given, runtime, `${path}[${at}]`, securePaths),
    )
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      filled(one as Json, declared, given, runtime, `${path}.${name}`, securePaths),
    ]),
  )
}
