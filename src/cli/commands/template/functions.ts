/** `template functions`: lists the functions of the template language, all or those that match a word. */

import { functionCatalogue } from '#template/functions/catalogue.ts'
import { type Command, defineCommand } from '../../command.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'template functions',
  summary: 'List the functions of the template language',
  arguments: [{ name: 'word', summary: 'Of a name, a group or a description', required: false }],
  options: {},
  examples: ['template functions', 'template functions date', 'template functions resourceId'],
  async run(context, values) {
    const word = (values.word ?? '').toLowerCase()
    const found = functionCatalogue.filter(({ name, group, doc }) =>
      [name, group, doc].some((text) => text.toLowerCase().includes(word)),
    )
    printRows(context.terminal, found, [
      { title: 'Function', of: (one) => `${one.name}(${one.parameters})` },
      { title: 'Group', of: (one) => one.group },
      { title: 'Gives', of: (one) => one.doc },
    ])
    return 0
  },
})
