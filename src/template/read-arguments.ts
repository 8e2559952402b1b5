/** Reads parameter files and bare maps of arguments. Their values are literal, never expressions. */
import { type Field, fieldOf, isObject, kindOf, membersOf, refuseTwice } from './fields.ts'
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
  const members = argumentFields(value, problems)
  refuseTwice(members, 'the argument', problems)
  const made: Record<string, ParameterArgument> = Object.create(null)
  for (const [name, field] of members) {
    const argument = readArgument(field, problems)
    if (argument !== undefined) made[name] = argument
  }
  return problems.isEmpty ? { ok: true, value: made } : { ok: false, problems: problems.list }
}

function argumentFields(
  given: JsonObject,
  problems: Problems,
): readonly (readonly [string, Field])[] {
  const inside = fieldOf(given, undefined, 'parameters')
  const isFile =
    typeof given['$schema'] === 'string' ||
    typeof given['contentVersion'] === 'string' ||
    (Object.keys(given).length === 1 && inside !== undefined && !isArgument(inside))
  if (isFile) return membersOf(inside, "'parameters'", problems)
  return Object.entries(given).map(([name, value]) => [
    name,
    { value, path: childPath(undefined, name) },
  ])
}

function isArgument({ value, path }: Field): boolean {
  if (!isObject(value)) return false
  return (
    fieldOf(value, path, 'value') !== undefined || fieldOf(value, path, 'reference') !== undefined
  )
}

function readArgument({ value, path }: Field, problems: Problems): ParameterArgument | undefined {
  const given = isObject(value) ? fieldOf(value, path, 'value') : undefined
  if (given !== undefined) return { value: given.value }
  const reference = isObject(value) ? fieldOf(value, path, 'reference') : undefined
  if (!isObject(reference?.value)) {
    problems.add(path, "expected an object with 'value', or with 'reference' to a secret")
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
