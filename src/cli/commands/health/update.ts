/** `health update`: replaces parts of an event; what is not said stays as it is. */

import { isRecord } from '#client/answer.ts'
import { type Command, defineCommand, LocalProblem } from '../../command.ts'
import { healthOptions, impactOf, readYaml, summaryOf, takeStep } from '../../health.ts'
import { apiOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'health update',
  summary: 'Replace parts of an event',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: {
    ...healthOptions,
    title: { type: 'string', value: 'text', summary: 'What it is about' },
    summary: { type: 'string', value: 'text', summary: 'What happened' },
    level: {
      type: 'string',
      value: 'level',
      choices: ['Critical', 'Error', 'Warning', 'Informational'],
      summary: 'How bad it is',
    },
    impact: {
      type: 'string',
      value: 'service=regions',
      multiple: true,
      summary: 'All services and regions it has an impact on now',
    },
    file: { type: 'string', short: 'f', value: 'file', summary: 'Properties, as YAML or JSON' },
    ...apiOptions,
  },
  examples: ["health update AB12CD34 --level Critical --title 'Groups do not start'"],
  async run(context, values) {
    const given = values.file === undefined ? {} : readYaml(values.file)
    if (!isRecord(given)) {
      throw new LocalProblem('InvalidFile', 'The file holds no properties of an event.')
    }
    const properties = {
      ...given,
      ...(values.title === undefined ? {} : { title: values.title }),
      ...(values.summary === undefined ? {} : { summary: values.summary }),
      ...(values.level === undefined ? {} : { eventLevel: values.level }),
      ...(values.impact.length === 0 ? {} : { impact: impactOf(values.impact, []) }),
    }
    const connection = context.connect(values)
    const event = await takeStep(connection, values, values.id, 'update', { properties })
    printRecord(context.terminal, values.json, values.json ? event : summaryOf(event))
    return 0
  },
})
