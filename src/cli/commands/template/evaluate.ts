/** `template evaluate`: what one expression of the template language gives. No server is asked. */

import { evaluate } from '#template/evaluate.ts'
import {
  ExpressionError,
  parseExpression,
  parseTemplateString,
  type TemplateString,
} from '#template/expression.ts'
import { ExpressionScope } from '#template/expression-scope.ts'
import type { Json, JsonObject } from '#template/plan.ts'
import { parseParameters } from '#template/read-arguments.ts'
import { EvaluationError } from '#template/scope.ts'
import { type Command, defineCommand, LocalProblem, UsageError } from '../../command.ts'
import type { Context } from '../../context.ts'
import { exitFailed } from '../../failure.ts'
import { jsonOption } from '../../options.ts'
import { printJson, red } from '../../output/print.ts'
import { printable } from '../../output/table.ts'
import { sampleOptions, samplePlace } from '../../sample-place.ts'
import type { Terminal } from '../../terminal.ts'

export const command: Command = defineCommand({
  name: 'template evaluate',
  summary: 'Evaluate one expression of the template language',
  notes: () => `The expression may stand in brackets or without them. Parameters are written as
\`name=value\`, where a value that is JSON is taken as it, or come from a parameter file as \`@file\`.
Resource group and subscription are made up; nothing is asked of a server, so reference() is refused.`,
  arguments: [{ name: 'expression', summary: "Such as `concat('a', parameters('b'))`" }],
  options: {
    parameters: {
      type: 'string',
      short: 'p',
      value: 'argument',
      multiple: true,
      summary: 'A parameter as `name=value`, or a parameter file as `@file`; later ones win',
    },
    ...sampleOptions,
    ...jsonOption,
  },
  examples: [
    `template evaluate "format('{0}-{1:D3}', parameters('name'), 7)" --parameters name=web`,
    `template evaluate "uniqueString(resourceGroup().id)" -g shop`,
    `template evaluate "cidrSubnet('10.0.0.0/16', 24, 3)" --json`,
  ],
  async run(context, values) {
    const { expression: text, json } = values
    const parameters = await parametersOf(context, values.parameters)
    const place = samplePlace(values, context.config().words)
    const value = outcomeOf(
      context.terminal,
      text,
      new ExpressionScope({ context: place, parameters }),
    )
    if (value === undefined) return exitFailed
    if (typeof value === 'string' && !json) context.terminal.out(`${value}\n`)
    else printJson(context.terminal, value)
    return 0
  },
})

/** Undefined when it has none; why was printed. */
function outcomeOf(terminal: Terminal, text: string, scope: ExpressionScope): Json | undefined {
  try {
    const read = readText(text)
    return read.kind === 'literal' ? read.value : evaluate(read.expression, scope)
  } catch (error) {
    if (!(error instanceof ExpressionError || error instanceof EvaluationError)) throw error
    const code = error instanceof ExpressionError ? 'InvalidExpression' : 'ExpressionFailed'
    terminal.error(`${red(terminal, code)}: ${printable(error.message)}\n`)
    terminal.error(pointedAt(text, error.at ?? 0))
    return undefined
  }
}

function readText(text: string): TemplateString {
  if (text.startsWith('[')) return parseTemplateString(text)
  return { kind: 'expression', expression: parseExpression(text) }
}

/** The line of the text that the offset is in, and a mark below the place. */
function pointedAt(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  const line = text.slice(start, end < 0 ? undefined : end)
  return `  ${printable(line)}\n  ${' '.repeat(printable(line.slice(0, at - start)).length)}^\n`
}

async function parametersOf(context: Context, given: readonly string[]): Promise<JsonObject> {
  const parameters = new Map<string, Json>()
  for (const argument of given) {
    const read = argument.startsWith('@') ? await context.readText(argument) : undefined
    const named = read === undefined ? [inline(argument)] : fromFile(argument.slice(1), read)
    for (const [name, value] of named) {
      for (const known of parameters.keys()) {
        if (known.toLowerCase() === name.toLowerCase()) parameters.delete(known)
      }
      parameters.set(name, value)
    }
  }
  return Object.fromEntries(parameters)
}

function inline(argument: string): readonly [string, Json] {
  const equals = argument.indexOf('=')
  if (equals < 1) throw new UsageError('`--parameters` is of the form `name=value` or `@file`')
  const text = argument.slice(equals + 1)
  try {
    // It came out of a JSON parser.
    return [argument.slice(0, equals), JSON.parse(text) as Json]
  } catch {
    // What is no JSON is a string: JSON.parse has no other way to say no.
    return [argument.slice(0, equals), text]
  }
}

function fromFile(file: string, text: string): readonly (readonly [string, Json])[] {
  const read = parseParameters(text)
  if (!read.ok) {
    const [problem] = read.problems
    const where = problem === undefined ? '' : `:${problem.line}:${problem.column}`
    throw new LocalProblem('InvalidParameters', `${file}${where}: ${problem?.message ?? ''}`)
  }
  return Object.entries(read.value).map(([name, argument]) => {
    if ('value' in argument) return [name, argument.value]
    throw new LocalProblem('InvalidParameters', `${file}: the value of '${name}' is in a vault`)
  })
}
