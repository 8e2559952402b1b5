/** `template evaluate`: prints the value of one expression of the template language, without a server. */

import { evaluate } from '#template/evaluate.ts'
import {
  ExpressionError,
  parseExpression,
  parseTemplateString,
  type TemplateString,
} from '#template/expression.ts'
import { ExpressionScope } from '#template/expression-scope.ts'
import type { Json, JsonObject } from '#template/plan.ts'
import { EvaluationError } from '#template/scope.ts'
import { type Command, defineCommand, LocalProblem } from '../../command.ts'
import type { Context } from '../../context.ts'
import { exitFailed } from '../../failure.ts'
import { printData, printText, red } from '../../output/print.ts'
import { printable } from '../../output/table.ts'
import { sampleOptions, samplePlace } from '../../sample-place.ts'
import { argumentsOf, parametersOption } from '../../template-parameters.ts'
import type { Terminal } from '../../terminal.ts'

export const command: Command = defineCommand({
  name: 'template evaluate',
  summary: 'Evaluate one expression of the template language',
  notes: () => `The expression may stand in brackets or without them. Parameters are written as
\`name=value\`, where a value that is JSON is taken as it, or come from a parameter file as \`@file\`.
Resource group and subscription are made up; nothing is asked of a server, so reference() is refused.`,
  arguments: [{ name: 'expression', summary: "Such as `concat('a', parameters('b'))`" }],
  options: {
    ...parametersOption,
    ...sampleOptions,
  },
  examples: [
    `template evaluate "format('{0}-{1:D3}', parameters('name'), 7)" --parameters name=web`,
    `template evaluate "uniqueString(resourceGroup().id)" -g shop`,
    `template evaluate "cidrSubnet('10.0.0.0/16', 24, 3)" --json`,
  ],
  async run(context, values) {
    const { expression: text } = values
    const parameters = await parametersOf(context, values.parameters)
    const place = samplePlace(values, context.config().words)
    const value = outcomeOf(
      context.terminal,
      text,
      new ExpressionScope({ context: place, parameters }),
    )
    if (value === undefined) return exitFailed
    if (typeof value === 'string') printText(context.terminal, value)
    else printData(context.terminal, value)
    return 0
  },
})

/** Undefined when it has no value; the reason was printed. */
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

/** The line of the text at the offset, with a mark below the position. */
function pointedAt(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  const line = text.slice(start, end < 0 ? undefined : end)
  return `  ${printable(line)}\n  ${' '.repeat(printable(line.slice(0, at - start)).length)}^\n`
}

async function parametersOf(context: Context, given: readonly string[]): Promise<JsonObject> {
  const made = Object.entries(await argumentsOf(context, given)).map(([name, argument]) => {
    if ('value' in argument) return [name, argument.value] as const
    throw new LocalProblem('InvalidParameters', `the value of '${name}' is in a vault`)
  })
  return Object.fromEntries(made)
}
