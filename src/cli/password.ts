/**
 * Reads passwords and other secrets for commands: from a file, standard input, a variable, or a prompt without
 * echo. Never from the command line.
 */

import { readVariable } from '../config.ts'
import { LocalProblem, UsageError } from './command.ts'
import type { Context } from './context.ts'
import type { Terminal } from './terminal.ts'

export const passwordForms =
  '`@file`, `-` for standard input, or `env:NAME`; asked for when left out'

/** Throws `UsageError` when there is nobody to ask, and `LocalProblem` when the source has none. */
export async function readPassword(
  context: Context,
  option: string,
  given: string | undefined,
  { keepsNewline = false } = {},
): Promise<string> {
  const found = await find(context, option, given)
  const password = keepsNewline ? found : found.replace(/\r?\n$/, '')
  if (password !== '') return password
  throw new LocalProblem('NoPassword', `There is no password in what \`--${option}\` names.`)
}

async function find(context: Context, option: string, given: string | undefined): Promise<string> {
  if (given === undefined) {
    const { terminal } = context
    if (terminal.size() === undefined) {
      throw new UsageError(`\`--${option}\` must be given where there is nobody to ask`)
    }
    return askUnseen(terminal, `${option}: `)
  }
  const variable = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(given)?.[1]
  if (variable !== undefined) {
    return readVariable(variable, context.program.sources?.environment) ?? ''
  }
  if (given !== '-' && !given.startsWith('@')) {
    // The given text may be the password, so the message does not repeat it.
    throw new UsageError(
      `\`--${option}\` takes \`@file\`, \`-\` or \`env:NAME\`: other users see command lines`,
    )
  }
  return context.readText(given)
}

/** Reads one line without echo. Throws `LocalProblem` when it is interrupted. */
async function askUnseen(terminal: Terminal, question: string): Promise<string> {
  terminal.error(question)
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const decoder = new TextDecoder()
  let typed = ''
  const stop = terminal.listen(async (bytes) => {
    if (bytes === undefined) return resolve(undefined)
    for (const character of decoder.decode(bytes, { stream: true })) {
      if (character === '\r' || character === '\n') return resolve(typed)
      if (character === '\u0003' || character === '\u0004') return resolve(undefined)
      const isErased = character === '\u007f' || character === '\b'
      typed = isErased ? typed.slice(0, -1) : typed + character
    }
  })
  const line = await promise
  stop()
  terminal.error('\n')
  if (line === undefined) throw new LocalProblem('NoPassword', 'No password was typed.')
  return line
}
