/** `deployment show`: shows a deployment with its outputs. */

import { type Command, defineCommand } from '../../command.ts'
import { printDeployment } from '../../deployment-outcome.ts'
import { deploymentPath, deploymentVersion, placeOptions } from '../../deployments.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'deployment show',
  summary: 'Show a deployment and its outputs',
  arguments: [{ name: 'name', summary: 'The name of the deployment' }],
  options: { ...placeOptions, ...connectionOptions },
  examples: ['deployment show first -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    const { body } = await connection.client.request('GET', path, { query })
    printDeployment(context.terminal, body)
    return 0
  },
})
