/** `deployment list`: lists the deployments of a group, or of a subscription itself. */

import { propertyOf } from '#client/resource.ts'
import { deploymentPath, deploymentVersion, placeOptions } from '../../deployments.ts'
import { member } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'deployment list',
  summary: 'List the deployments of a group, or of a subscription itself',
  arguments: [],
  options: placeOptions,
  examples: ['deployment list -g demo'],
  async run(connection, values, context) {
    const path = await deploymentPath(connection, values)
    const query = { 'api-version': deploymentVersion }
    const rows = await connection.client.list(path, { query })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'STATE', of: (row) => propertyOf(row, 'provisioningState') },
      { title: 'MODE', of: (row) => propertyOf(row, 'mode') },
      { title: 'ENDED', of: (row) => propertyOf(row, 'timestamp') },
    ])
  },
})
