/** `deployment what-if`: shows what a deployment would change, property by property, and changes nothing. */

import { listOf, propertiesOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import {
  deploymentBody,
  deploymentPath,
  deploymentVersion,
  placeOptions,
  templateOptions,
} from '../../deployments.ts'
import { apiOptions } from '../../options.ts'
import { printJson } from '../../output/print.ts'
import { changeLines } from '../../what-if.ts'

export const command: Command = defineCommand({
  name: 'deployment what-if',
  summary: 'Show what a deployment would change, property by property',
  notes:
    () => `+ is created, ~ is modified, - is deleted, = stays as it is, * is not part of the template, and
? cannot be foretold, with the reason.`,
  arguments: [{ name: 'name', summary: 'The name it would be deployed by' }],
  options: {
    ...placeOptions,
    ...templateOptions,
    short: { type: 'boolean', summary: 'List the resources without their properties' },
    ...apiOptions,
  },
  examples: ['deployment what-if first -g demo -f main.json -p count=4'],
  async run(context, values) {
    const { terminal } = context
    const body = deploymentBody(terminal, values)
    const connection = context.connect(values)
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    const accepted = await connection.client.request('POST', `${path}/whatIf`, { query, body })
    const answer = (await connection.client.waitForOperation(accepted)).body
    if (values.json) {
      printJson(terminal, answer)
      return 0
    }
    const changes = listOf(propertiesOf(answer), 'changes')
    const lines = changeLines(terminal, changes, values.short)
    terminal.out(lines.map((line) => `${line}\n`).join(''))
    return 0
  },
})
