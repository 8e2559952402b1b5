/** `config list`: lists the defaults of options. */

import { type Command, defineCommand } from '../../command.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'config list',
  summary: 'List what options mean when they are not given',
  arguments: [],
  options: {},
  examples: ['config list'],
  async run(context) {
    printRecord(context.terminal, context.home().defaults())
    return 0
  },
})
