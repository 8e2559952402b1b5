/** `tag show`: shows the tags of a scope. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { scopeOptions } from '../../scope-place.ts'
import { readTags, tagsPath } from '../../tags.ts'

export const command = defineRemoteCommand({
  name: 'tag show',
  summary: 'Show the tags of a resource, a group or a subscription',
  arguments: [],
  options: scopeOptions,
  examples: ['tag show -g demo'],
  async run(connection, values, context) {
    printRecord(context.terminal, await readTags(connection, await tagsPath(connection, values)))
  },
})
