/** `container-group show`: shows a container group with the states of its containers. */

import { containerVersion, groupPath, summaryOf } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'container-group show',
  summary: 'Show one container group and the states of its containers',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: groupOptions,
  examples: ['container-group show web -g demo', 'container-group show web -g demo --json'],
  async run(connection, values, context) {
    const path = await groupPath(connection, values, values.name)
    const query = { 'api-version': containerVersion }
    const { body } = await connection.client.request('GET', path, { query })
    printRecord(context.terminal, body, summaryOf(body))
  },
})
