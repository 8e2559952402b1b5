/** `deployment watch`: draws the graph of a deployment until it ends. */

import { printOutcome } from '../../deployment-outcome.ts'
import { watchDeployment } from '../../deployment-progress.ts'
import { placeOptions } from '../../deployments.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'deployment watch',
  summary: 'Draw the graph of a deployment until it ends',
  arguments: [{ name: 'name', summary: 'The name of the deployment' }],
  options: placeOptions,
  examples: ['deployment watch first -g demo'],
  async run(connection, values, context) {
    const { terminal } = context
    const draws = terminal.interactive && !context.terminal.output.isData
    const watched = await watchDeployment(
      terminal,
      connection,
      { place: values, name: values.name },
      draws,
    )
    return printOutcome(terminal, watched)
  },
})
