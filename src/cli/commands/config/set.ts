/** `config set`: sets the default of an option for this home. */

import { type Command, defineCommand } from '../../command.ts'
import { defaultNames, readDefault } from '../../defaults.ts'

export const command: Command = defineCommand({
  name: 'config set',
  summary: 'Set what an option means when it is not given',
  notes: () =>
    'Commands that ask a server use it. A default resource group stands in only where a group must be given.',
  arguments: [
    { name: 'name', summary: 'The name of the option', choices: defaultNames },
    { name: 'value', summary: 'Its value' },
  ],
  options: {},
  examples: ['config set resource-group demo', 'config set output yaml'],
  async run(context, { name, value }) {
    const home = context.home()
    home.writeDefaults({ ...home.defaults(), [readDefault(name, value)]: value })
    context.terminal.error(`${name} is ${value} from now on, with the home ${home.folder}.\n`)
    return 0
  },
})
