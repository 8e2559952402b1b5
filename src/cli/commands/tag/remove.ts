/** `tag remove`: removes tags of a scope. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { scopeOptions } from '../../scope-place.ts'
import { changeTags, readTags, tagsPath } from '../../tags.ts'

export const command = defineRemoteCommand({
  name: 'tag remove',
  summary: 'Remove tags of a resource, a group or a subscription, whatever their values',
  arguments: [{ name: 'name', summary: 'The name of a tag, several if wanted', multiple: true }],
  options: scopeOptions,
  examples: ['tag remove stage -g demo'],
  async run(connection, values, context) {
    const path = await tagsPath(connection, values)
    const there = Object.entries(Object(await readTags(connection, path)))
    const wanted = new Set(values.name.map((name) => name.toLowerCase()))
    // The operation removes a tag only when its value matches.
    const removed = there.filter(([name]) => wanted.has(name.toLowerCase()))
    const tags = Object.fromEntries(removed.map(([name, value]) => [name, String(value)]))
    printRecord(context.terminal, await changeTags(connection, path, 'Delete', tags))
  },
})
