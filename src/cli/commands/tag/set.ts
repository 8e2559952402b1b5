/** `tag set`: adds tags to a scope, or changes them. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { pairsOf, scopeOptions } from '../../scope-place.ts'
import { changeTags, tagsPath } from '../../tags.ts'

export const command: Command = defineCommand({
  name: 'tag set',
  summary: 'Set tags of a resource, a group or a subscription; others stay',
  arguments: [{ name: 'tag', summary: '`name=value`, several if wanted', multiple: true }],
  options: { ...scopeOptions, ...connectionOptions },
  examples: ['tag set owner=ada stage=test -g demo'],
  async run(context, values) {
    const tags = pairsOf(values.tag)
    const connection = context.connect(values)
    const path = await tagsPath(connection, values)
    printRecord(context.terminal, await changeTags(connection, path, 'Merge', tags))
    return 0
  },
})
