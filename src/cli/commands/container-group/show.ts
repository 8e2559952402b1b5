/** `container-group show`: shows a container group with the states of its containers. */

import { type Command, defineCommand } from '../../command.ts'
import { containerVersion, groupPath, summaryOf } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'container-group show',
  summary: 'Show one container group and the states of its containers',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...connectionOptions },
  examples: ['container-group show web -g demo', 'container-group show web -g demo --json'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await groupPath(connection, values, values.name)
    const query = { 'api-version': containerVersion }
    const { body } = await connection.client.request('GET', path, { query })
    printRecord(context.terminal, body, summaryOf(body))
    return 0
  },
})
