/** `deployment validate`: checks a template and each of its resources, and changes nothing. */

import { textOf } from '#client/answer.ts'
import { listOf, propertiesOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import {
  deploymentBody,
  deploymentPath,
  deploymentVersion,
  placeOptions,
  templateOptions,
} from '../../deployments.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'deployment validate',
  summary: 'Check a template and what would become of each of its resources',
  arguments: [{ name: 'name', summary: 'The name it would be deployed by' }],
  options: { ...placeOptions, ...templateOptions, ...connectionOptions },
  examples: ['deployment validate first -g demo -f main.json -p @main.parameters.json'],
  async run(context, values) {
    const { terminal } = context
    const body = deploymentBody(terminal, values)
    const connection = context.connect(values)
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    const accepted = await connection.client.request('POST', `${path}/validate`, { query, body })
    const answer = (await connection.client.waitForOperation(accepted)).body
    const rows = listOf(propertiesOf(answer), 'validatedResources')
    printRows(terminal, rows, [{ title: 'VALID RESOURCE', of: (row) => textOf(row, 'id') ?? '' }])
    return 0
  },
})
