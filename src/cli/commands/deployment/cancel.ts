/** `deployment cancel`: stops a running deployment; what it has created stays. */

import { type Command, defineCommand } from '../../command.ts'
import { deploymentPath, deploymentVersion, placeOptions } from '../../deployments.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'deployment cancel',
  summary: 'Stop a deployment that runs; what it has made stays',
  arguments: [{ name: 'name', summary: 'The name of the deployment' }],
  options: { ...placeOptions, ...connectionOptions },
  examples: ['deployment cancel first -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    await connection.client.request('POST', `${path}/cancel`, { query })
    context.terminal.error(`${values.name} is called off.\n`)
    return 0
  },
})
