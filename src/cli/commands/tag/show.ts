/** `tag show`: shows the tags of a scope. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { scopeOptions } from '../../scope-place.ts'
import { readTags, tagsPath } from '../../tags.ts'

export const command: Command = defineCommand({
  name: 'tag show',
  summary: 'Show the tags of a resource, a group or a subscription',
  arguments: [],
  options: { ...scopeOptions, ...connectionOptions },
  examples: ['tag show -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    printRecord(context.terminal, await readTags(connection, await tagsPath(connection, values)))
    return 0
  },
})
