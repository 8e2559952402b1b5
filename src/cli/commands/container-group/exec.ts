/** `container-group exec`: runs a command inside a container, with standard input as its input. */

import { textOf } from '#client/answer.ts'
import { LocalProblem } from '../../command.ts'
import { containerVersion, firstContainer, groupPath } from '../../container-groups.ts'
import { converse, streamAddress } from '../../converse.ts'
import { groupOptions } from '../../group-place.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'container-group exec',
  summary: 'Run a command in a container of a group',
  notes: () =>
    'At a terminal the command gets one of the same size. Its exit code is the one of this command.',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: {
    ...groupOptions,
    container: { type: 'string', value: 'name', summary: 'Which; the first when left out' },
    command: {
      type: 'string',
      value: 'words',
      required: true,
      summary: 'The command and its arguments; quotes keep blanks together',
    },
  },
  examples: [
    'container-group exec web -g demo --command /bin/sh',
    'container-group exec pair -g demo --container sidecar --command "ls -l /shared"',
  ],
  async run(connection, values, context) {
    const { client } = connection
    const path = await groupPath(connection, values, values.name)
    const query = { 'api-version': containerVersion }
    const container =
      values.container ?? firstContainer((await client.request('GET', path, { query })).body)
    const size = context.terminal.size()
    const { body } = await client.request(
      'POST',
      `${path}/containers/${encodeURIComponent(container)}/exec`,
      {
        query,
        body: {
          command: values.command,
          ...(size === undefined ? {} : { terminalSize: { rows: size.rows, cols: size.columns } }),
        },
      },
    )
    const uri = textOf(body, 'webSocketUri')
    const password = textOf(body, 'password')
    if (uri === undefined || password === undefined) {
      throw new LocalProblem('NoStream', 'The answer names no stream.')
    }
    return converse(streamAddress(connection, uri), password, context.terminal)
  },
})
