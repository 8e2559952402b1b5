/** Makes the texts of `--help` from the declarations of the commands. */

import { join } from 'node:path'
import { type Branch, leavesOf } from './catalogue.ts'
import type { Command, OptionSpec } from './command.ts'
import { nounSummaries } from './nouns.ts'
import { formatPairs } from './output/table.ts'
import { allOptions, summaryOf } from './parse.ts'

const program = 'armature'
/** Beside the sources in a checkout, beside the bundles in the package. */
const firstPage = join(import.meta.dirname, '../../docs/start.md')

/** The help of the whole program, or of one noun. Loads the summaries it lists. */
export async function branchHelp(branch: Branch, path: readonly string[]): Promise<string> {
  const lines: (readonly [string, string])[] = []
  for (const [word, child] of branch.children) {
    if (child.kind === 'leaf') lines.push([word, (await child.load()).summary])
  }
  const nouns: (readonly [string, string])[] = []
  for (const [word, child] of branch.children) {
    if (child.kind === 'leaf') continue
    const verbs = leavesOf(child).map((leaf) =>
      leaf.name
        .split(' ')
        .slice(path.length + 1)
        .join(' '),
    )
    const summary = nounSummaries[[...path, word].join(' ')] ?? ''
    nouns.push([word, `${summary}\n${verbs.join(', ')}`])
  }
  const words = [program, ...path].join(' ')
  const about =
    path.length === 0
      ? 'A self-hosted resource-management control plane.'
      : (nounSummaries[path.join(' ')] ?? '')
  return joinSections([
    about,
    `Usage: ${words} <command> [options]`,
    lines.length === 0 ? '' : `Commands:\n${formatPairs(lines)}`,
    nouns.length === 0
      ? ''
      : `${lines.length === 0 ? 'Commands' : 'More commands, by what they are about'}:\n${formatPairs(nouns)}`,
    `Run \`${words} <command> --help\` for the options and examples of one.${
      path.length === 0
        ? `\nThe settings of the server are listed by \`armature serve --help\`.\nThe guides begin with ${firstPage}.`
        : ''
    }`,
  ])
}

export function commandHelp(command: Command): string {
  const options = Object.entries(allOptions(command))
  return joinSections([
    command.summary,
    `Usage: ${usageLine(command)}`,
    command.arguments.length === 0
      ? ''
      : `Arguments:\n${formatPairs(command.arguments.map((a) => [`<${a.name}>`, summaryOf(a)]))}`,
    `Options:\n${formatPairs(options.map(([name, spec]) => [optionForm(name, spec), optionText(spec)]))}`,
    command.notes?.() ?? '',
    command.examples.length === 0
      ? ''
      : `Examples:\n${command.examples.map((example) => `  ${program} ${example}`).join('\n')}`,
  ])
}

/** The usage line: required parts first, then `[options]`. */
export function usageLine(command: Command): string {
  const required = Object.entries(command.options).filter(([, spec]) => spec.required)
  return [
    program,
    command.name,
    ...command.arguments.map(argumentForm),
    ...required.map(([name, spec]) => `--${name} <${spec.value ?? 'value'}>`),
    '[options]',
  ].join(' ')
}

function argumentForm({ name, required, multiple }: Command['arguments'][number]): string {
  const word = multiple === true ? `${name}…` : name
  return required === false ? `[${word}]` : `<${word}>`
}

function optionForm(name: string, spec: OptionSpec): string {
  const short = spec.short === undefined ? '    ' : `-${spec.short}, `
  const value = spec.type === 'boolean' ? '' : ` <${spec.value ?? 'value'}>`
  return `${short}--${name}${value}`
}

function optionText(spec: OptionSpec): string {
  const required = spec.required ? '; required' : ''
  const multiple = spec.multiple ? '; may be repeated' : ''
  return `${summaryOf(spec)}${required}${multiple}`
}

function joinSections(sections: readonly string[]): string {
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}
