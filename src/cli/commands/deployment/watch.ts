/** `deployment watch`: draws the graph of a deployment until it ends. */

import { type Command, defineCommand } from '../../command.ts'
import { printOutcome } from '../../deployment-outcome.ts'
import { watchDeployment } from '../../deployment-progress.ts'
import { placeOptions } from '../../deployments.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'deployment watch',
  summary: 'Draw the graph of a deployment until it ends',
  arguments: [{ name: 'name', summary: 'The name of the deployment' }],
  options: { ...placeOptions, ...connectionOptions },
  examples: ['deployment watch first -g demo'],
  async run(context, values) {
    const { terminal } = context
    const connection = context.connect(values)
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
