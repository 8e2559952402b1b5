/** `deployment show`: shows a deployment with its outputs. */

import { printDeployment } from '../../deployment-outcome.ts'
import { deploymentPath, deploymentVersion, placeOptions } from '../../deployments.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'deployment show',
  summary: 'Show a deployment and its outputs',
  arguments: [{ name: 'name', summary: 'The name of the deployment' }],
  options: placeOptions,
  examples: ['deployment show first -g demo'],
  async run(connection, values, context) {
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    const { body } = await connection.client.request('GET', path, { query })
    printDeployment(context.terminal, body)
  },
})
