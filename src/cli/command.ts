/**
 * The declaration of a command: its arguments, options and examples. Parsing, `--help` and the tests read it. A
 * command sees the command line only through it.
 */

import type { Context } from './context.ts'

export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  /** Default: true. */
  readonly required?: boolean
  /** Takes all remaining words. Only the last argument of a command may have it. */
  readonly multiple?: boolean
  readonly choices?: readonly string[]
}

export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  readonly summary: string
  readonly short?: string
  /** The placeholder in the help: `--scope <path>`. */
  readonly value?: string
  readonly required?: boolean
  /** May be given more than once. */
  readonly multiple?: boolean
  readonly choices?: readonly string[]
}

export interface Confirmation {
  readonly text: string
  /**
   * The refusal where nobody can be asked. Without one the command continues, since a script means what it says.
   */
  readonly unattended?: string
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

type ValueOf<O extends OptionSpec> = O['type'] extends 'boolean'
  ? boolean
  : O extends { readonly multiple: true }
    ? readonly string[]
    : O extends { readonly required: true }
      ? string
      : string | undefined

/** The values `run` gets: options and arguments by name. Required ones are always there. */
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
  /** As typed: `role assignment create`. Equal to the file's path below `commands/`. */
  readonly name: string
  readonly summary: string
  /** Longer notes for the help. */
  readonly notes?: () => string
  readonly arguments: A
  readonly options: O
  /** Whole command lines without the program's name. */
  readonly examples: readonly string[]
  /**
   * The question asked before the command runs, when somebody is at a terminal; undefined asks nothing. Adds
   * `--yes` to the command.
   */
  confirm?(context: Context, values: Values<A, O>): Promise<Confirmation | undefined>
  /** Returns the exit code. Throws `UsageError`, `LocalProblem`, and the client's errors. */
  run(context: Context, values: Values<A, O>): Promise<number>
}

/**
 * Declares a command. Its types are erased here: `parse` gives each command exactly the values that its declaration
 * asks for.
 */
export function defineCommand<const A extends readonly ArgumentSpec[], const O extends OptionSpecs>(
  command: Command<A, O>,
): Command {
  return command as unknown as Command
}

/** The command line is wrong. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** Something on this machine is missing or wrong (no server, no such file). Exit code 1. */
export class LocalProblem extends Error {
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LocalProblem'
    this.code = code
  }
}
