/** Turns the words after a command's name into its values, or throws a message that says what is wrong. */

import { parseArgs } from 'node:util'
import { didYouMean } from '../config/nearest-name.ts'
import { type ArgumentSpec, type Command, type OptionSpec, UsageError } from './command.ts'
import { outputOptions } from './output/choose-output.ts'

/** Values for options that were not given, by name. */
type Defaults = Readonly<Record<string, string>>

type Parsed =
  | { readonly kind: 'help' }
  | { readonly kind: 'run'; readonly values: Readonly<Record<string, unknown>> }

/** Throws `UsageError`. Defaults are read after the words were checked, and only by commands that use a server. */
export function parse(
  command: Command,
  words: readonly string[],
  defaults: () => Defaults = () => ({}),
): Parsed {
  const specs = allOptions(command)
  const { tokens } = parseArgs({
    args: [...words],
    // Not strict: the faults are reported in our own words below.
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(specs).map(([name, { type, short }]) => [
        name,
        short === undefined ? { type } : { type, short },
      ]),
    ),
  })
  const positionals: string[] = []
  const given = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined
    if (spec === undefined) {
      const known = Object.keys(specs).map((name) => `--${name}`)
      throw new UsageError(`unknown option \`${token.rawName}\`${didYouMean(token.rawName, known)}`)
    }
    const value = checkValue(token.rawName, spec, token.value, token.inlineValue === true)
    given.set(token.name, [...(given.get(token.name) ?? []), value])
  }
  if (given.has('help')) return { kind: 'help' }
  const values = argumentValues(command, positionals)
  if (Object.hasOwn(command.options, 'url')) fillIn(specs, given, defaults())
  return { kind: 'run', values: { ...optionValues(specs, given), ...values } }
}

const helpOption = {
  help: { type: 'boolean', short: 'h', summary: 'Show this help' },
} as const satisfies Record<string, OptionSpec>

const yesOption = {
  yes: { type: 'boolean', short: 'y', summary: 'Do it without asking' },
} as const satisfies Record<string, OptionSpec>

/** The command's own options, and those every command has. */
export function allOptions(command: Command): Readonly<Record<string, OptionSpec>> {
  // Every delete takes it, so that a script need not know which of them ask.
  const mayAsk = command.confirm !== undefined || command.name.endsWith(' delete')
  return { ...command.options, ...(mayAsk ? yesOption : {}), ...outputOptions, ...helpOption }
}

/** A default fills in a required option, or an option that has no meaning when left out. */
function fillIn(
  specs: Readonly<Record<string, OptionSpec>>,
  given: Map<string, string[]>,
  defaults: Defaults,
): void {
  for (const [name, value] of Object.entries(defaults)) {
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
    if (spec === undefined || given.has(name)) continue
    if (name === 'resource-group' && spec.required !== true) continue
    // `--json` also chooses the output form.
    if (name === 'output' && given.has('json')) continue
    given.set(name, [value])
  }
}

function checkValue(
  rawName: string,
  spec: OptionSpec,
  value: string | undefined,
  inline: boolean,
): string {
  if (spec.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`\`${rawName}\` takes no value`)
    return ''
  }
  if (value === undefined) throw new UsageError(`\`${rawName}\` needs a value`)
  if (!inline && value.startsWith('-') && value.length > 1) {
    throw new UsageError(
      `\`${rawName}\` needs a value; if \`${value}\` is meant, write \`${rawName}=${value}\``,
    )
  }
  checkChoice(rawName, spec, value)
  return value
}

function checkChoice(name: string, { choices }: ArgumentSpec | OptionSpec, value: string): void {
  if (choices === undefined || choices.includes(value)) return
  throw new UsageError(
    `\`${name}\` is one of ${choices.join(', ')}, not \`${value}\`${didYouMean(value, choices)}`,
  )
}

/** The summary of an argument or option, with the values it may have. */
export function summaryOf({ summary, choices }: ArgumentSpec | OptionSpec): string {
  return choices === undefined ? summary : `${summary} (${choices.join(', ')})`
}

function optionValues(
  specs: Readonly<Record<string, OptionSpec>>,
  given: ReadonlyMap<string, readonly string[]>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const missing: string[] = []
  for (const [name, spec] of Object.entries(specs)) {
    const list = given.get(name) ?? []
    if (spec.required && list.length === 0) missing.push(`--${name}`)
    if (list.length > 1 && !spec.multiple && spec.type === 'string') {
      throw new UsageError(`\`--${name}\` is given more than once`)
    }
    if (spec.type === 'boolean') values[name] = list.length > 0
    else values[name] = spec.multiple ? list : list[0]
  }
  if (missing.length > 0) throw new UsageError(`${missing.join(' and ')} must be given`)
  return values
}

function argumentValues(command: Command, positionals: readonly string[]): Record<string, unknown> {
  const isOpen = command.arguments.at(-1)?.multiple === true
  const extra = positionals[command.arguments.length]
  if (extra !== undefined && !isOpen) throw new UsageError(`\`${extra}\` is one argument too many`)
  const values: Record<string, unknown> = {}
  for (const [index, spec] of command.arguments.entries()) {
    const value = positionals[index]
    if (value === undefined && spec.required !== false) {
      throw new UsageError(`<${spec.name}> must be given: ${summaryOf(spec)}`)
    }
    if (value !== undefined) checkChoice(`<${spec.name}>`, spec, value)
    values[spec.name] = spec.multiple === true ? positionals.slice(index) : value
  }
  return values
}
