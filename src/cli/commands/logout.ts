/** `logout`: removes the session of `login`. */

import { type Command, defineCommand } from '../command.ts'

export const command: Command = defineCommand({
  name: 'logout',
  summary: 'Forget the session; later commands act as the local owner again',
  arguments: [],
  options: {},
  examples: ['logout'],
  async run(context) {
    const existed = context.home().removeSession()
    context.terminal.error(existed ? 'Signed out.\n' : 'There was no session.\n')
    return 0
  },
})
