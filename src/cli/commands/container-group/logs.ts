/** `container-group logs`: prints the log of a container. */

import { textOf } from '#client/answer.ts'
import { containerVersion, firstContainer, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { printData } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'container-group logs',
  summary: 'Print what a container of a group wrote',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: {
    ...groupOptions,
    container: { type: 'string', value: 'name', summary: 'Which; the first when left out' },
    tail: { type: 'string', value: 'lines', summary: 'Show only the last lines, this many' },
    timestamps: { type: 'boolean', summary: 'Each line opens with its time' },
  },
  examples: [
    'container-group logs web -g demo',
    'container-group logs pair -g demo --container sidecar --tail 20 --timestamps',
  ],
  async run(connection, values, context) {
    const path = await groupPath(connection, values, values.name)
    const version = { 'api-version': containerVersion }
    const container =
      values.container ??
      firstContainer((await connection.client.request('GET', path, { query: version })).body)
    const query = { ...version, tail: values.tail, timestamps: values.timestamps }
    const logs = `${path}/containers/${encodeURIComponent(container)}/logs`
    const { body } = await connection.client.request('GET', logs, { query })
    if (context.terminal.output.isData) printData(context.terminal, body)
    else context.terminal.out(textOf(body, 'content') ?? '')
  },
})
