/** `config unset`: removes the default of an option. */

import { type Command, defineCommand } from '../../command.ts'
import { defaultNames, readDefault } from '../../defaults.ts'

export const command: Command = defineCommand({
  name: 'config unset',
  summary: 'Take back what an option means when it is not given',
  arguments: [{ name: 'name', summary: 'The name of the option', choices: defaultNames }],
  options: {},
  examples: ['config unset resource-group'],
  async run(context, { name }) {
    const home = context.home()
    const { [readDefault(name)]: before, ...others } = home.defaults()
    home.writeDefaults(others)
    context.terminal.error(before === undefined ? 'There was none.\n' : `${name} was ${before}.\n`)
    return 0
  },
})
