/** `stop`: stops the server of this home, and waits until it has ended. */

import { type Command, defineCommand, LocalProblem } from '../command.ts'
import { isAlive, readSeconds, stopProcess, waitUntil } from '../running-server.ts'

export const command: Command = defineCommand({
  name: 'stop',
  summary: 'Stop the server of this home, after its running requests',
  arguments: [],
  options: {
    timeout: { type: 'string', value: 'seconds', summary: 'How long to wait; 60 when left out' },
  },
  examples: ['stop'],
  async run(context, { timeout = '60' }) {
    const seconds = readSeconds(timeout)
    const running = context.home().running()
    if (running === undefined || !isAlive(running.pid)) {
      context.terminal.error('None is running.\n')
      return 0
    }
    stopProcess(running, 'SIGTERM')
    if (!(await waitUntil(seconds, () => !isAlive(running.pid)))) {
      throw new LocalProblem(
        'StillRunning',
        `Process ${running.pid} still runs after ${seconds} seconds.`,
      )
    }
    context.terminal.error(`Stopped ${running.url}.\n`)
    return 0
  },
})
