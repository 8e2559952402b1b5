/** Reads template parameters from the command line: `name=value`, or a parameter file as `@file`. */

import { parseExactJson } from '#kernel/exact-json.ts'
import type { Json } from '#template/plan.ts'
import { parseParameters } from '#template/read-arguments.ts'
import type { ParameterArgument } from '#template/template.ts'
import { LocalProblem, UsageError } from './command.ts'
import type { Context } from './context.ts'

export const parametersOption = {
  parameters: {
    type: 'string',
    short: 'p',
    value: 'argument',
    multiple: true,
    summary: 'A parameter as `name=value`, or a parameter file as `@file`; later ones win',
  },
} as const

type Arguments = Readonly<Record<string, ParameterArgument>>

export async function argumentsOf(context: Context, given: readonly string[]): Promise<Arguments> {
  const made = new Map<string, ParameterArgument>()
  for (const argument of given) {
    const read = argument.startsWith('@') ? await context.readText(argument) : undefined
    const named =
      read === undefined ? [inline(argument)] : Object.entries(fromFile(argument.slice(1), read))
    for (const [name, one] of named) {
      for (const known of made.keys()) {
        if (known.toLowerCase() === name.toLowerCase()) made.delete(known)
      }
      made.set(name, one)
    }
  }
  return Object.fromEntries(made)
}

function inline(argument: string): readonly [string, ParameterArgument] {
  const equals = argument.indexOf('=')
  if (equals < 1) throw new UsageError('`--parameters` is of the form `name=value` or `@file`')
  const text = argument.slice(equals + 1)
  try {
    // The value came from a JSON parser.
    return [argument.slice(0, equals), { value: parseExactJson(text) as Json }]
  } catch {
    // Text that is not JSON is a string; JSON.parse reports it only by throwing.
    return [argument.slice(0, equals), { value: text }]
  }
}

function fromFile(file: string, text: string): Arguments {
  const read = parseParameters(text)
  if (read.ok) return read.value
  const [problem] = read.problems
  const where = problem === undefined ? '' : `:${problem.line}:${problem.column}`
  throw new LocalProblem('InvalidParameters', `${file}${where}: ${problem?.message ?? ''}`)
}
