/**
 * What a command says about itself, as data: its arguments, options and examples are where parsing, `--help`
 * and the tests read from. A command has no other way to see the command line.
 */

import type { Context } from './context.ts'

interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  /** Default true. */
  readonly required?: boolean
  /** Takes all words that are left: the last argument of its command. */
  readonly multiple?: boolean
}

export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  readonly summary: string
  readonly short?: string
  /** Placeholder in the help: `--scope <path>`. */
  readonly value?: string
  readonly required?: boolean
  /** May be given more than once. */
  readonly multiple?: boolean
  readonly choices?: readonly string[]
}

export interface Confirmation {
  readonly text: string
  /** Where nobody can be asked: the refusal. Without one it goes on, since a script means what it says. */
  readonly unattended?: string
}

type OptionSpecs = Readonly<Record<string, OptionSpec>>

type ValueOf<O extends OptionSpec> = O['type'] extends 'boolean'
  ? boolean
  : O extends { readonly multiple: true }
    ? readonly string[]
    : O extends { readonly required: true }
      ? string
      : string | undefined

/** What `run` is given: options by name, arguments by name. Required ones are there. */
export type Values<A extends readonly ArgumentSpec[], O extends OptionSpecs> = {
  readonly [K in keyof O]: ValueOf<O[K]>
} & {
  readonly [K in A[number] as K['name']]: K extends { readonly multiple: true }
    ? readonly string[]
    : K extends { readonly required: false }
      ? string | undefined
      : string
}

export interface Command<
  A extends readonly ArgumentSpec[] = readonly ArgumentSpec[],
  O extends OptionSpecs = OptionSpecs,
> {
  /** As typed: `role assignment create`. The same as the file's path below `commands/`. */
  readonly name: string
  readonly summary: string
  /** What a line of summary cannot hold; printed in the help. */
  readonly notes?: () => string
  readonly arguments: A
  readonly options: O
  /** Whole command lines without the program's name. */
  readonly examples: readonly string[]
  /** What is asked before it runs, where somebody is at a terminal; undefined asks nothing. Gives the command `--yes`. */
  confirm?(context: Context, values: Values<A, O>): Promise<Confirmation | undefined>
  /** The exit code. Throws `UsageError`, `LocalProblem`, and what the client throws. */
  run(context: Context, values: Values<A, O>): Promise<number>
}

/**
 * Declares a command. Its types are erased here, once: `parse` hands each command exactly the values its own
 * declaration asks for.
 */
export function defineCommand<const A extends readonly ArgumentSpec[], const O extends OptionSpecs>(
  command: Command<A, O>,
): Command {
  return command as unknown as Command
}

/** The command line is not one this program knows. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** Something on this side is not as it must be (nothing runs, a file is missing). Exit code 1. */
export class LocalProblem extends Error {
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LocalProblem'
    this.code = code
  }
}
