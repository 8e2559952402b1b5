/** `open`: opens the console in this machine's browser. */

import { spawn } from 'node:child_process'
import { type Command, defineCommand } from '../command.ts'
import { notRunning } from '../credential.ts'
import { printText } from '../output/print.ts'

/** The command that opens an address, by platform. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

export const command: Command = defineCommand({
  name: 'open',
  summary: 'Open the installation in a browser',
  arguments: [],
  options: { print: { type: 'boolean', summary: 'Print the address, and open nothing' } },
  examples: ['open', 'open --print'],
  async run(context, { print }) {
    const home = context.home()
    const running = home.running()
    if (running === undefined) throw notRunning(home)
    const { url } = running
    printText(context.terminal, url)
    if (print) return 0
    const [program = 'xdg-open', ...words] = openers[process.platform] ?? ['xdg-open']
    const child = spawn(program, [...words, url], { stdio: 'ignore', detached: true })
    await new Promise<void>((resolve) => {
      child.once('spawn', resolve)
      child.once('error', () => {
        context.terminal.error(`There is no ${program} here: open the address yourself.\n`)
        resolve()
      })
    })
    child.unref()
    return 0
  },
})
