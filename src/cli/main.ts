/** The dispatcher: words → command → exit code. It knows how to find commands, not what they do. */

import { writeExactIntegers } from '#kernel/exact-json.ts'
import { didYouMean } from '../config/nearest-name.ts'
import { type Branch, type Found, findNode, readCatalogue } from './catalogue.ts'
import { type Command, LocalProblem, UsageError } from './command.ts'
import { type Context, createContext, type ProgramFacts } from './context.ts'
import { reportFailure } from './failure.ts'
import { branchHelp, commandHelp, usageLine } from './help.ts'
import { chooseOutput } from './output/choose-output.ts'
import { parse } from './parse.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line. An error it throws is a bug. */
export async function main(
  words: readonly string[],
  terminal: Terminal,
  program: ProgramFacts,
): Promise<number> {
  writeExactIntegers()
  const root = readCatalogue()
  const [first] = words
  if (first === undefined) return showHelp(root, [], terminal)
  if (first === '--version' || first === '-v') {
    terminal.out(`${program.version}\n`)
    return 0
  }
  if (first === 'help') return showHelp(root, words.slice(1), terminal)
  const found = findNode(root, words)
  if (found.node.kind === 'branch') return atBranch(found.node, found, terminal)
  const command = await found.node.load()
  try {
    const home = () => createContext(terminal, program).home()
    const parsed = parse(command, found.rest, () => home().defaults())
    if (parsed.kind === 'help') {
      terminal.out(commandHelp(command))
      return 0
    }
    // `parse` made the values by this command's declaration; see `defineCommand`.
    const values = parsed.values as never
    const output = await chooseOutput(values)
    const context = createContext({ ...terminal, output }, program)
    await confirm(command, context, values)
    return await command.run(context, values)
  } catch (error) {
    // Errors of a command are reported only here.
    const usage = `Usage: ${usageLine(command)}\nHelp:  armature ${command.name} --help`
    return reportFailure(terminal, error, usage)
  }
}

/** Asks the command's question. Throws `LocalProblem` when the answer is no. */
async function confirm(
  command: Command,
  context: Context,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (command.confirm === undefined || values['yes'] === true) return
  const prompt = await command.confirm(context, values as never)
  if (prompt === undefined) return
  const answer = await context.terminal.ask(`${prompt.text} [y/N] `)
  if (answer === undefined && prompt.unattended === undefined) return
  if (answer === undefined) throw new LocalProblem('NotConfirmed', `${prompt.unattended}`)
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new LocalProblem('NotConfirmed', 'Nothing is done.')
}

async function showHelp(
  root: Branch,
  words: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const found = findNode(root, words)
  if (found.node.kind === 'leaf') {
    terminal.out(commandHelp(await found.node.load()))
    return 0
  }
  if (found.rest.length > 0) return atBranch(found.node, found, terminal)
  terminal.out(await branchHelp(found.node, found.path))
  return 0
}

/** The words lead to no command: prints what was probably meant, or the help. */
async function atBranch(
  branch: Branch,
  { path, rest }: Found,
  terminal: Terminal,
): Promise<number> {
  const [word] = rest
  if (word === '--help' || word === '-h') {
    terminal.out(await branchHelp(branch, path))
    return 0
  }
  const names = [...branch.children.keys()]
  const typed = [...path, word ?? ''].join(' ').trim()
  const what = word?.startsWith('-') ? 'option' : 'command'
  const message =
    word === undefined
      ? `\`${typed}\` needs one more word: ${names.join(', ')}`
      : `unknown ${what} \`${typed}\`${didYouMean(word, names)}`
  const help = `Help: ${['armature', ...path, '--help'].join(' ')}`
  return reportFailure(terminal, new UsageError(message), help)
}
