/** `logs`: prints the output of a detached server. */

import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, defineCommand, LocalProblem, UsageError } from '../command.ts'
import { printData } from '../output/print.ts'
import { logFileOf } from '../running-server.ts'

const everyMilliseconds = 200

export const command: Command = defineCommand({
  name: 'logs',
  summary: 'Print what a detached server wrote (`serve --detach`)',
  arguments: [],
  options: {
    tail: { type: 'string', value: 'lines', summary: 'Show only the last lines, this many' },
    follow: { type: 'boolean', short: 'f', summary: 'Go on with what it writes' },
  },
  examples: ['logs --tail 50', 'logs --follow'],
  async run({ terminal, home }, { tail, follow }) {
    const file = logFileOf(home())
    if (tail !== undefined && !/^\d{1,9}$/.test(tail)) {
      throw new UsageError(`\`--tail ${tail}\` is no number of lines`)
    }
    if (!existsSync(file)) {
      throw new LocalProblem('NoLog', `${file} is not there: start with \`serve --detach\`.`)
    }
    let shown = statSync(file).size
    const lines = readFileSync(file, 'utf8').slice(0, shown).split('\n')
    const from = tail === undefined ? 0 : Math.max(0, lines.length - 1 - Number(tail))
    const latest = lines.slice(from)
    if (terminal.output.isData && !follow) {
      printData(terminal, latest.slice(0, -1))
      return 0
    }
    terminal.out(latest.join('\n'))
    let stopped = !follow
    if (follow) terminal.onStop(() => (stopped = true))
    while (!stopped) {
      await sleep(everyMilliseconds)
      const size = statSync(file).size
      // Another start began the file again.
      if (size < shown) shown = 0
      if (size === shown) continue
      for await (const chunk of createReadStream(file, { start: shown, end: size - 1 })) {
        terminal.out(chunk)
      }
      shown = size
    }
    return 0
  },
})
