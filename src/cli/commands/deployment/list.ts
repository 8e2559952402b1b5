/** `deployment list`: lists the deployments of a group, or of a subscription itself. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import { deploymentPath, deploymentVersion, placeOptions } from '../../deployments.ts'
import { member } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'deployment list',
  summary: 'List the deployments of a group, or of a subscription itself',
  arguments: [],
  options: { ...placeOptions, ...connectionOptions },
  examples: ['deployment list -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await deploymentPath(connection, values)
    const query = { 'api-version': deploymentVersion }
    const rows = await connection.client.list(path, { query })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'STATE', of: (row) => propertyOf(row, 'provisioningState') },
      { title: 'MODE', of: (row) => propertyOf(row, 'mode') },
      { title: 'ENDED', of: (row) => propertyOf(row, 'timestamp') },
    ])
    return 0
  },
})
