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
import { connectionOptions } from '../../options.ts'
import { printData } from '../../output/print.ts'
import { changeLines } from '../../what-if.ts'
import { hasChanges, markdownOf } from '../../what-if-markdown.ts'

/** Not 1 or 2, which mean a failure or wrong usage. */
const exitChanges = 3

export const command: Command = defineCommand({
  name: 'deployment what-if',
  summary: 'Show what a deployment would change, property by property',
  notes:
    () => `+ is created, ~ is modified, - is deleted, = stays as it is, * is not part of the template, and
? cannot be foretold, with the reason. With --exit-code, 3 says that something would change.`,
  arguments: [{ name: 'name', summary: 'The name it would be deployed by' }],
  options: {
    ...placeOptions,
    ...templateOptions,
    short: { type: 'boolean', summary: 'List the resources without their properties' },
    format: {
      type: 'string',
      value: 'format',
      choices: ['text', 'markdown'],
      summary: 'Markdown is for a comment on a pull request',
    },
    'exit-code': {
      type: 'boolean',
      summary: `End with ${exitChanges} where something would change, or cannot be foretold`,
    },
    ...connectionOptions,
  },
  examples: [
    'deployment what-if first -g demo -f main.json -p count=4',
    'deployment what-if first -g demo -f main.json --format markdown --exit-code',
  ],
  async run(context, values) {
    const { terminal } = context
    const body = deploymentBody(terminal, values)
    const connection = context.connect(values)
    const path = await deploymentPath(connection, values, values.name)
    const query = { 'api-version': deploymentVersion }
    const accepted = await connection.client.request('POST', `${path}/whatIf`, { query, body })
    const answer = (await connection.client.waitForOperation(accepted)).body
    const changes = listOf(propertiesOf(answer), 'changes')
    if (context.terminal.output.isData) printData(terminal, answer)
    else if (values.format === 'markdown') terminal.out(markdownOf(values.name, changes))
    else {
      const lines = changeLines(terminal, changes, values.short)
      terminal.out(lines.map((line) => `${line}\n`).join(''))
    }
    return values['exit-code'] && hasChanges(changes) ? exitChanges : 0
  },
})
