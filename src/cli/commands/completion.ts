/** `completion`: prints a script with which a shell completes this program's words. */

import { type Branch, leavesOf, readCatalogue } from '../catalogue.ts'
import { type Command, defineCommand } from '../command.ts'
import { type Completion, completionScript, type Shell, shells } from '../completion-script.ts'
import { printText } from '../output/print.ts'
import { allOptions } from '../parse.ts'

export const command: Command = defineCommand({
  name: 'completion',
  summary: 'Print a script that completes commands in bash, zsh or fish',
  notes: () => `bash:  source <(armature completion bash)          in ~/.bashrc
zsh:   source <(armature completion zsh)           in ~/.zshrc, after compinit
fish:  armature completion fish | source           in ~/.config/fish/config.fish`,
  arguments: [{ name: 'shell', summary: 'The shell', choices: shells }],
  options: {},
  examples: ['completion bash > ~/.local/share/bash-completion/completions/armature'],
  async run({ terminal }, { shell }) {
    const table = await completions(readCatalogue())
    printText(terminal, completionScript(shell as Shell, table).trimEnd())
    return 0
  },
})

async function completions(root: Branch): Promise<readonly Completion[]> {
  const commands = await Promise.all(leavesOf(root).map((leaf) => leaf.load()))
  const branches = (branch: Branch, path: readonly string[]): Completion[] => [
    { path: path.join(' '), words: [...branch.children.keys()], values: {} },
    ...[...branch.children].flatMap(([word, child]) =>
      child.kind === 'branch' ? branches(child, [...path, word]) : [],
    ),
  ]
  return [
    ...branches(root, []),
    ...commands.map((command) => {
      const options = Object.entries(allOptions(command))
      const choices = options.flatMap(([name, { choices = [] }]) =>
        choices.length === 0 ? [] : [[`--${name}`, choices] as const],
      )
      return {
        path: command.name,
        words: [...(command.arguments[0]?.choices ?? []), ...options.map(([name]) => `--${name}`)],
        values: Object.fromEntries(choices),
      }
    }),
  ]
}
