/** `deployment cancel`: stops a running deployment; what it has created stays. */

import { deploymentPath, deploymentVersion, placeOptions } from '../../deployments.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'deployment cancel',
  summary: 'Stop a deployment that runs; what it has made stays',
  arguments: [{ name: 'name', summary: 'The name of the deployment' }],
  options: placeOptions,
  examples: ['deployment cancel first -g demo'],
  async run(connection, values, context) {
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    await connection.client.request('POST', `${path}/cancel`, { query })
    context.terminal.error(`${values.name} is called off.\n`)
  },
})
