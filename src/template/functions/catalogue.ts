/** All functions of the language. A function that is not listed here does not exist; the reference is made from it. */
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

/** By the name as it is written in the reference, and in lower case, which is how odd spellings are found. */
const byName: ReadonlyMap<string, TemplateFunction> = new Map(
  functions.flatMap((one) => [[one.name, one] as const, [one.name.toLowerCase(), one] as const]),
)

/** What the reference says of every function, in the order of groups and names; `list*` stands for its kind. */
export const functionCatalogue: readonly FunctionDescription[] = [...functions, listFunction].sort(
  (one, two) => compare(one.group, two.group) || compare(one.name, two.name),
)

function compare(one: string, two: string): number {
  return one < two ? -1 : Number(one > two)
}

/** Without regard to case. Whatever begins with `list` is a POST to a resource, whose provider knows its name. */
export function functionNamed(name: string): TemplateFunction | undefined {
  const found = byName.get(name)
  if (found !== undefined) return found
  const lower = name.toLowerCase()
  return byName.get(lower) ?? (lower.startsWith('list') ? listFunction : undefined)
}
