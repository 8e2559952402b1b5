/**
 * Reads parameter files and bare maps of arguments. A `value` is literal. An `expression` is evaluated here, from
 * external inputs alone, so that everything after this knows values only.
 */
import { compile } from './compile.ts'
import {
  type Field,
  fieldOf,
  isObject,
  kindOf,
  membersOf,
  objectOf,
  refuseTwice,
} from './fields.ts'
import { LoneScope } from './lone-scope.ts'
import type { JsonObject } from './plan.ts'
import { Problems } from './problems.ts'
import { open } from './read-template.ts'
import type { ParameterArgument, Read } from './template.ts'
import { childPath } from './template-path.ts'

export function parseParameters(
  parameters: string | JsonObject,
): Read<Readonly<Record<string, ParameterArgument>>> {
  const opened = open(parameters)
  if (!opened.ok) return opened
  const { value, locate } = opened.value
  const problems = new Problems(locate)
  if (!isObject(value)) {
    problems.add(undefined, `parameters are an object, not ${kindOf(value)}`)
    return { ok: false, problems: problems.list }
  }
  const isFile = isParameterFile(value)
  const members = isFile
    ? membersOf(fieldOf(value, undefined, 'parameters'), "'parameters'", problems)
    : Object.entries(value).map(([name, one]): readonly [string, Field] => [
        name,
        { value: one, path: childPath(undefined, name) },
      ])
  refuseTwice(members, 'the argument', problems)
  const scope = new LoneScope(isFile ? readInputs(value, problems) : {})
  const made: Record<string, ParameterArgument> = Object.create(null)
  for (const [name, field] of members) {
    const argument = readArgument(field, scope, problems)
    if (argument !== undefined) made[name] = argument
  }
  return problems.isEmpty ? { ok: true, value: made } : { ok: false, problems: problems.list }
}

function isParameterFile(given: JsonObject): boolean {
  const inside = fieldOf(given, undefined, 'parameters')
  return (
    typeof given['$schema'] === 'string' ||
    typeof given['contentVersion'] === 'string' ||
    (Object.keys(given).length === 1 && inside !== undefined && !isArgument(inside))
  )
}

function isArgument({ value, path }: Field): boolean {
  if (!isObject(value)) return false
  return ['value', 'reference', 'expression'].some((one) => fieldOf(value, path, one) !== undefined)
}

/** The values of external inputs. Their definitions are for the tools that supply them. */
function readInputs(file: JsonObject, problems: Problems): JsonObject {
  const inputs = membersOf(fieldOf(file, undefined, 'externalInputs'), "'externalInputs'", problems)
  return objectOf(
    inputs.flatMap(([name, { value, path }]) => {
      const given = isObject(value) ? fieldOf(value, path, 'value') : undefined
      if (given !== undefined) return [[name, given.value] as const]
      problems.add(path, "expected an object with 'value'")
      return []
    }),
  )
}

function readArgument(
  { value, path }: Field,
  scope: LoneScope,
  problems: Problems,
): ParameterArgument | undefined {
  const given = isObject(value) ? fieldOf(value, path, 'value') : undefined
  if (given !== undefined) return { value: given.value }
  const expression = isObject(value) ? fieldOf(value, path, 'expression') : undefined
  if (expression !== undefined) return evaluated(expression, scope, problems)
  const reference = isObject(value) ? fieldOf(value, path, 'reference') : undefined
  if (!isObject(reference?.value)) {
    const wanted =
      "expected an object with 'value', with 'reference' to a secret, or with 'expression'"
    problems.add(path, wanted)
    return undefined
  }
  const vault = fieldOf(reference.value, reference.path, 'keyVault')
  const id = isObject(vault?.value) ? fieldOf(vault.value, vault.path, 'id')?.value : undefined
  const secretName = fieldOf(reference.value, reference.path, 'secretName')?.value
  const version = fieldOf(reference.value, reference.path, 'secretVersion')?.value
  if (typeof id !== 'string' || typeof secretName !== 'string') {
    problems.add(reference.path, "a reference needs 'keyVault' with an 'id', and a 'secretName'")
    return undefined
  }
  const secretVersion = typeof version === 'string' ? { secretVersion: version } : {}
  return { reference: { keyVault: { id }, secretName, ...secretVersion } }
}

function evaluated(
  { value, path }: Field,
  scope: LoneScope,
  problems: Problems,
): ParameterArgument | undefined {
  const compiled = compile(value, path, { problems, check: () => undefined })
  if (compiled.kind === 'broken') return undefined
  if (compiled.kind !== 'expression') {
    problems.add(path, "expected an expression in brackets, such as [externalInputs('name')]")
    return undefined
  }
  const done = scope.try(compiled.expression)
  if (done.kind === 'value') return { value: done.value }
  if (done.kind === 'failed') problems.add(path, done.error.message, done.error.at)
  return undefined
}
