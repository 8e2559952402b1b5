/** `deployment create`: deploys a template, and draws its progress. */

import { type Command, defineCommand } from '../../command.ts'
import { printDeployment, printOutcome } from '../../deployment-outcome.ts'
import { watchDeployment } from '../../deployment-progress.ts'
import {
  deploymentBody,
  deploymentPath,
  deploymentVersion,
  placeOptions,
  templateOptions,
} from '../../deployments.ts'
import { missingGroup } from '../../group-place.ts'
import { connectionOptions, noWaitOption } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'deployment create',
  summary: 'Carry a template out',
  notes:
    () => `The template is read here first: what is wrong with it is told with its line and column. Every
resource is then checked by the server before the first one is written.`,
  arguments: [{ name: 'name', summary: 'The name of the deployment' }],
  options: { ...placeOptions, ...templateOptions, ...noWaitOption, ...connectionOptions },
  examples: [
    'deployment create first -g demo -f main.json -p @main.parameters.json',
    'deployment create first -g demo -f main.json -p name=orders -p count=3',
  ],
  confirm: missingGroup,
  async run(context, values) {
    const { terminal } = context
    const body = deploymentBody(terminal, values)
    const connection = context.connect(values)
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    const accepted = await connection.client.request('PUT', path, { query, body })
    if (values['no-wait']) {
      printDeployment(terminal, accepted.body)
      return 0
    }
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
