/** Shared by the commands of deployments: paths, options, their api-version, and the body. */

import { readFileSync } from 'node:fs'
import { parseExactJson } from '#kernel/exact-json.ts'
import { templateLanguage } from '#template/language.ts'
import type { JsonObject, TemplateProblem } from '#template/plan.ts'
import type { ParameterArgument, ParsedTemplate, Read } from '#template/template.ts'
import { LocalProblem, UsageError } from './command.ts'
import type { Connection } from './context.ts'
import { subscriptionOption } from './options.ts'
import { printable } from './output/table.ts'
import { extensionPath, resourceGroupPath, subscriptionOf } from './resource-path.ts'
import type { Terminal } from './terminal.ts'

export const deploymentVersion = '2025-03-01'

export const placeOptions = {
  'resource-group': {
    type: 'string',
    short: 'g',
    value: 'name',
    summary: 'The resource group to deploy to; the subscription itself when left out',
  },
  ...subscriptionOption,
} as const

export const templateOptions = {
  'template-file': {
    type: 'string',
    short: 'f',
    value: 'file',
    required: true,
    summary: 'The template',
  },
  parameters: {
    type: 'string',
    short: 'p',
    value: 'argument',
    multiple: true,
    summary: 'A parameter as `name=value`, or a parameter file as `@file`; later ones win',
  },
  mode: {
    type: 'string',
    value: 'mode',
    choices: ['Incremental', 'Complete'],
    summary: 'Complete also deletes what the group holds and the template lacks',
  },
  location: {
    type: 'string',
    value: 'name',
    summary: 'Where the record of a deployment to a subscription lives',
  },
} as const

export interface DeploymentPlace {
  readonly 'resource-group': string | undefined
  readonly subscription: string | undefined
}

interface DeploymentBody {
  readonly location?: string
  readonly properties: {
    readonly mode: string
    readonly template: JsonObject
    readonly parameters: Readonly<Record<string, ParameterArgument>>
  }
}

interface TemplateValues {
  readonly 'template-file': string
  readonly parameters: readonly string[]
  readonly mode: string | undefined
  readonly location: string | undefined
}

/** `{scope}/providers/{Vendor}.Resources/deployments[/{name}]`. */
export async function deploymentPath(
  connection: Connection,
  place: DeploymentPlace,
  name?: string,
): Promise<string> {
  const list = extensionPath(connection.words, await scopeOf(connection, place), type)
  return name === undefined ? list : `${list}/${encodeURIComponent(name)}`
}

/** The list of a deployment's operations: a path without `providers` (template facts 5). */
export async function operationsPath(
  connection: Connection,
  place: DeploymentPlace,
  name: string,
): Promise<string> {
  const scope = await scopeOf(connection, place)
  return `${scope}/deployments/${encodeURIComponent(name)}/operations`
}

const type = 'Resources/deployments'

async function scopeOf(connection: Connection, place: DeploymentPlace): Promise<string> {
  const subscription = await subscriptionOf(connection, place.subscription)
  const group = place['resource-group']
  return group === undefined
    ? `/subscriptions/${encodeURIComponent(subscription)}`
    : resourceGroupPath(subscription, group)
}

/**
 * Makes the body of a deployment from its files. All problems are printed at once with line and column, before
 * anything is sent. Throws `LocalProblem` and `UsageError`.
 */
export function deploymentBody(terminal: Terminal, values: TemplateValues): DeploymentBody {
  const file = values['template-file']
  const template = accepted(terminal, file, templateLanguage.parseTemplate(readFile(file)))
  const parameters: Record<string, ParameterArgument> = {}
  for (const argument of values.parameters) {
    Object.assign(
      parameters,
      argument.startsWith('@')
        ? fileArguments(terminal, argument.slice(1))
        : inlineArgument(argument, template),
    )
  }
  const { mode = 'Incremental', location } = values
  return {
    ...(location === undefined ? {} : { location }),
    properties: { mode, template: template.source, parameters },
  }
}

function fileArguments(
  terminal: Terminal,
  file: string,
): Readonly<Record<string, ParameterArgument>> {
  return accepted(terminal, file, templateLanguage.parseParameters(readFile(file)))
}

/** The declared type decides how the text is read: `3` is a number only for an `int`. */
function inlineArgument(
  argument: string,
  template: ParsedTemplate,
): Readonly<Record<string, ParameterArgument>> {
  const equals = argument.indexOf('=')
  // The value may be a secret, so the message does not repeat it.
  if (equals < 1) throw new UsageError('`--parameters` is of the form `name=value` or `@file`')
  const name = argument.slice(0, equals)
  const text = argument.slice(equals + 1)
  const declared = Object.entries(template.parameters).find(
    ([one]) => one.toLowerCase() === name.toLowerCase(),
  )
  if (declared === undefined) {
    const known = Object.keys(template.parameters).join(', ') || 'none'
    throw new UsageError(`the template declares no parameter \`${name}\`; it has: ${known}`)
  }
  const kind = declared[1].type
  if (kind === 'string' || kind === 'securestring') return { [name]: { value: text } }
  return { [name]: { value: jsonValue(name, kind, text) } }
}

function jsonValue(name: string, kind: string, text: string): JsonObject[string] {
  try {
    // The value came from a JSON parser.
    return parseExactJson(text) as JsonObject[string]
  } catch {
    // JSON.parse reports bad text only by throwing.
    throw new UsageError(`\`${name}\` is of type ${kind}: its value is written as JSON`)
  }
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // Converts errors of the file system.
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem('FileUnreadable', `${path} cannot be read: ${reason}`, { cause: error })
  }
}

function accepted<T>(terminal: Terminal, file: string, read: Read<T>): T {
  if (read.ok) return read.value
  terminal.error(read.problems.map((problem) => `${problemLine(file, problem)}\n`).join(''))
  const count = read.problems.length
  throw new LocalProblem(
    'InvalidTemplate',
    `${file} has ${count} ${count === 1 ? 'problem' : 'problems'}; nothing was sent.`,
  )
}

function problemLine(file: string, { line, column, path, message }: TemplateProblem): string {
  const where = line > 0 ? `${file}:${line}:${column}` : file
  return printable(`${where}: ${path === '' ? '' : `${path}: `}${message}`)
}
