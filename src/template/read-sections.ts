/** Reads parameters, variables, user functions and outputs of a template, and collects the problems. */

import { type DeclaredNames, nameChecker } from './check-names.ts'
import { type CompileDependencies, compile, compileCopy } from './compile.ts'
import {
  type FunctionSection,
  type OutputSection,
  type ParameterSection,
  templateLimits,
  type VariableSection,
} from './document.ts'
import { sizeOf } from './expansion.ts'
import { type Field, fieldOf, isArray, isObject, kindOf, membersOf, refuseTwice } from './fields.ts'
import type { JsonObject } from './plan.ts'
import type { Problems } from './problems.ts'
import { childPath } from './template-path.ts'
import {
  allowedText,
  type Definitions,
  isSecure,
  readSchema,
  resolved,
  type Schema,
} from './types.ts'

type Members = readonly (readonly [name: string, field: Field])[]

export function readParameters(
  members: Members,
  definitions: Definitions,
  deps: CompileDependencies,
): ReadonlyMap<string, ParameterSection> {
  const { problems } = deps
  refuseTwice(members, 'the parameter', problems)
  return new Map(
    members.map(([name, field]) => {
      const schema = typed(readSchema(field, problems), field, definitions, problems)
      const given = isObject(field.value)
        ? fieldOf(field.value, field.path, 'defaultValue')
        : undefined
      const section: ParameterSection = {
        name,
        schema,
        secure: isSecure(schema, definitions),
        defaultValue: given === undefined ? undefined : compile(given.value, given.path, deps),
        allowsDefault:
          given !== undefined && schema.allowed?.texts.has(allowedText(given.value)) === true,
        path: field.path,
      }
      return [name.toLowerCase(), section]
    }),
  )
}

/** Without a type any value is accepted: compilers write none for `any`. */
function typed(schema: Schema, field: Field, definitions: Definitions, problems: Problems): Schema {
  if (schema.type !== undefined) return schema
  if (schema.reference === undefined) return { ...schema, type: 'any' }
  const target = resolved(schema, definitions)
  if (target === undefined) problems.add(field.path, "its '$ref' leads to no type")
  return schema
}

export function readVariables(
  members: Members,
  deps: CompileDependencies,
): ReadonlyMap<string, VariableSection> {
  const { problems } = deps
  const sections = members.flatMap(([name, { value, path }]): readonly VariableSection[] => {
    if (name.toLowerCase() !== 'copy' || !isArray(value)) {
      const compiled = compile(value, path, deps, 'loops')
      return [{ name, value: { kind: 'value', value: compiled }, path }]
    }
    return value.flatMap((one, at) => {
      const here = childPath(path, at)
      if (!isObject(one)) {
        problems.add(here, `expected an object, not ${kindOf(one)}`)
        return []
      }
      const copy = compileCopy(one, here, deps)
      if (copy === undefined) return []
      if (copy.name.kind !== 'static' || typeof copy.name.value !== 'string') {
        problems.add(childPath(here, 'name'), "a variable's name is a plain string")
        return []
      }
      return [{ name: copy.name.value, value: { kind: 'copy', copy }, path: here }]
    })
  })
  const names = sections.map(
    ({ name, path }) => [name, { value: null, path }] as readonly [string, Field],
  )
  refuseTwice(names, 'the variable', problems)
  if (sections.length > templateLimits.variables) {
    problems.add(
      sections[templateLimits.variables]?.path,
      `a template has at most ${templateLimits.variables} variables; this has ${sections.length}`,
    )
  }
  return new Map(sections.map((section) => [section.name.toLowerCase(), section]))
}

/** The names of variables, before their values are read. */
export function variableNames(members: Members): ReadonlySet<string> {
  return new Set(
    members.flatMap(([name, { value }]) => {
      if (name.toLowerCase() !== 'copy' || !isArray(value)) return [name.toLowerCase()]
      return value.flatMap((one) =>
        isObject(one) && typeof one['name'] === 'string' ? [one['name'].toLowerCase()] : [],
      )
    }),
  )
}

interface FunctionField {
  readonly name: string
  readonly field: Field
}

/** The members of every namespace, before any is read: they may refer to each other. */
export function functionFields(
  section: Field | undefined,
  problems: Problems,
): readonly FunctionField[] {
  if (section === undefined || section.value === null) return []
  if (!isArray(section.value)) {
    problems.add(section.path, `'functions' has to be an array, not ${kindOf(section.value)}`)
    return []
  }
  const fields = section.value.flatMap((value, at): readonly FunctionField[] => {
    const path = childPath(section.path, at)
    const namespace = isObject(value) ? fieldOf(value, path, 'namespace')?.value : undefined
    const members = isObject(value) ? fieldOf(value, path, 'members') : undefined
    if (typeof namespace !== 'string' || members === undefined) {
      problems.add(path, "expected an object with 'namespace' and 'members'")
      return []
    }
    return membersOf(members, "'members'", problems).map(([name, field]) => ({
      name: `${namespace}.${name}`,
      field,
    }))
  })
  refuseTwice(
    fields.map(({ name, field }) => [name, field]),
    'the function',
    problems,
  )
  return fields
}

interface FunctionDependencies {
  readonly definitions: Definitions
  readonly definitionsSize: number
  readonly declared: DeclaredNames
}

export function readFunctions(
  fields: readonly FunctionField[],
  { definitions, definitionsSize, declared }: FunctionDependencies,
  problems: Problems,
): ReadonlyMap<string, FunctionSection> {
  const sections = fields.flatMap(({ name, field }): readonly FunctionSection[] => {
    const { value, path } = field
    const output = isObject(value) ? fieldOf(value, path, 'output') : undefined
    const result = isObject(output?.value) ? fieldOf(output.value, output.path, 'value') : undefined
    if (!isObject(value) || output === undefined || result === undefined) {
      problems.add(path, "a function needs an 'output' with a 'value'")
      return []
    }
    const parameters = functionParameters(fieldOf(value, path, 'parameters'), problems)
    const names = new Set(parameters.map((one) => one.name.toLowerCase()))
    // A function sees its own parameters and no variables.
    const inside = { ...declared, parameters: names, variables: new Set<string>() }
    const parts = { problems, check: nameChecker(inside, problems) }
    const schema = typed(readSchema(output, problems), output, definitions, problems)
    const compiled = compile(result.value, result.path, parts)
    const weight = (sizeOf(value, templateLimits.characters) + definitionsSize) >>> 4
    return [{ name, parameters, output: { schema, value: compiled }, weight, path }]
  })
  return new Map(sections.map((section) => [section.name.toLowerCase(), section]))
}

function functionParameters(
  field: Field | undefined,
  problems: Problems,
): readonly { readonly name: string; readonly schema: Schema }[] {
  if (field === undefined || field.value === null) return []
  if (!isArray(field.value)) {
    problems.add(field.path, `expected an array, not ${kindOf(field.value)}`)
    return []
  }
  return field.value.flatMap((value, at) => {
    const path = childPath(field.path, at)
    const name = isObject(value) ? fieldOf(value, path, 'name')?.value : undefined
    if (typeof name === 'string') return [{ name, schema: readSchema({ value, path }, problems) }]
    problems.add(path, "expected an object with 'name' and 'type'")
    return []
  })
}

export function readOutputs(
  members: Members,
  definitions: Definitions,
  deps: CompileDependencies,
): readonly OutputSection[] {
  const { problems } = deps
  refuseTwice(members, 'the output', problems)
  return members.flatMap(([name, { value, path }]) => {
    if (isObject(value)) return readOutput(name, { value, path }, definitions, deps)
    problems.add(path, `expected an object, not ${kindOf(value)}`)
    return []
  })
}

function readOutput(
  name: string,
  field: Field & { readonly value: JsonObject },
  definitions: Definitions,
  deps: CompileDependencies,
): readonly OutputSection[] {
  const { value: output, path } = field
  const { problems } = deps
  const at = (member: string): Field | undefined => fieldOf(output, path, member)
  const schema = typed(readSchema(field, problems), field, definitions, problems)
  const condition = at('condition')
  const value = at('value')
  const copy = at('copy')
  const shared = {
    name,
    schema,
    secure: isSecure(schema, definitions),
    condition: condition === undefined ? undefined : compile(condition.value, condition.path, deps),
    path,
  }
  if (isObject(copy?.value)) {
    const count = fieldOf(copy.value, copy.path, 'count')
    const input = fieldOf(copy.value, copy.path, 'input')
    if (count !== undefined && input !== undefined) {
      const compiled = {
        count: compile(count.value, count.path, deps),
        input: compile(input.value, input.path, deps),
      }
      return [{ ...shared, value: { kind: 'copy', ...compiled } }]
    }
  }
  if (value === undefined) {
    problems.add(path, "an output needs a 'value', or a 'copy' with 'count' and 'input'")
    return []
  }
  return [{ ...shared, value: { kind: 'value', value: compile(value.value, value.path, deps) } }]
}
