/** The dispatcher: words → command → exit code. Knows how commands are found and nothing of what they do. */

import { didYouMean } from '../config/nearest-name.ts'
import { type Branch, type Found, findNode, readCatalogue } from './catalogue.ts'
import { UsageError } from './command.ts'
import { createContext, type ProgramFacts } from './context.ts'
import { reportFailure } from './failure.ts'
import { branchHelp, commandHelp, usageLine } from './help.ts'
import { parse } from './parse.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line; what it throws is a fault of ours. */
export async function main(
  words: readonly string[],
  terminal: Terminal,
  program: ProgramFacts,
): Promise<number> {
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
    const parsed = parse(command, found.rest)
    if (parsed.kind === 'help') {
      terminal.out(commandHelp(command))
      return 0
    }
    // `parse` made the values by this very command's declaration; see `defineCommand`.
    return await command.run(createContext(terminal, program), parsed.values as never)
  } catch (error) {
    // The program's edge: what a command throws is told here and nowhere else.
    const usage = `Usage: ${usageLine(command)}\nHelp:  armature ${command.name} --help`
    return reportFailure(terminal, error, usage)
  }
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

/** The words lead to no command: what they were meant to be, or the help of those there are. */
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
