/** All functions of the language. The reference is generated from this list. */
import { arrayFunctions } from './array.ts'
import { cidrFunctions } from './cidr.ts'
import { comparisonFunctions } from './comparison.ts'
import { dateFunctions } from './date.ts'
import type { FunctionDescription, TemplateFunction } from './define.ts'
import { deploymentFunctions } from './deployment.ts'
import { lambdaFunctions } from './lambda.ts'
import { logicalFunctions } from './logical.ts'
import { numericFunctions } from './numeric.ts'
import { objectFunctions } from './object.ts'
import { listFunction, resourceFunctions } from './resource.ts'
import { scopeFunctions } from './scope.ts'
import { stringFunctions } from './string.ts'
import { uriFunctions } from './uri.ts'

const functions: readonly TemplateFunction[] = [
  ...arrayFunctions,
  ...cidrFunctions,
  ...comparisonFunctions,
  ...dateFunctions,
  ...deploymentFunctions,
  ...lambdaFunctions,
  ...logicalFunctions,
  ...numericFunctions,
  ...objectFunctions,
  ...resourceFunctions,
  ...scopeFunctions,
  ...stringFunctions,
  ...uriFunctions,
]

/** By the name in the reference, and in lower case for other spellings. */
const byName: ReadonlyMap<string, TemplateFunction> = new Map(
  functions.flatMap((one) => [[one.name, one] as const, [one.name.toLowerCase(), one] as const]),
)

/** The reference's entries, in order of groups and names. `list*` stands for all functions of that kind. */
export const functionCatalogue: readonly FunctionDescription[] = [...functions, listFunction].sort(
  (one, two) => compare(one.group, two.group) || compare(one.name, two.name),
)

function compare(one: string, two: string): number {
  return one < two ? -1 : Number(one > two)
}

/** Without regard to case. A name that begins with `list` is a POST to a resource; its provider knows the name. */
export function functionNamed(name: string): TemplateFunction | undefined {
  const found = byName.get(name)
  if (found !== undefined) return found
  const lower = name.toLowerCase()
  return byName.get(lower) ?? (lower.startsWith('list') ? listFunction : undefined)
}
