/** `health publish`: makes an event known to those it touches. */

import { isRecord } from '#client/answer.ts'
import { type Command, defineCommand, LocalProblem } from '../../command.ts'
import {
  healthOptions,
  impactOf,
  newTrackingId,
  readYaml,
  summaryOf,
  takeStep,
} from '../../health.ts'
import { apiOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'health publish',
  summary: 'Make an event known to those it touches',
  notes:
    () => `Everything an event may hold can be given in a YAML or JSON file of its properties; options stand
before what the file says.`,
  arguments: [{ name: 'title', required: false, summary: 'What it is about' }],
  options: {
    ...healthOptions,
    id: { type: 'string', value: 'id', summary: 'The tracking id; a fresh one when left out' },
    type: {
      type: 'string',
      value: 'type',
      choices: [
        'ServiceIssue',
        'PlannedMaintenance',
        'HealthAdvisory',
        'RCA',
        'EmergingIssues',
        'SecurityAdvisory',
        'Billing',
      ],
      summary: 'ServiceIssue when left out',
    },
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
      summary: 'A service and the regions, like `Container Instances=West US,East US`',
    },
    touches: {
      type: 'string',
      value: 'subscription',
      multiple: true,
      summary: 'Only this subscription; all of them when left out',
    },
    summary: { type: 'string', value: 'text', summary: 'What happened' },
    sensitive: { type: 'boolean', summary: 'Its texts are shown only to those with the right' },
    file: { type: 'string', short: 'f', value: 'file', summary: 'Properties of the event' },
    ...apiOptions,
  },
  examples: [
    "health publish 'Groups start slowly' --level Warning --impact 'Container Instances=West US'",
    'health publish --file advisory.yaml',
  ],
  async run(context, values) {
    const given = values.file === undefined ? {} : readYaml(values.file)
    if (!isRecord(given)) {
      throw new LocalProblem('InvalidFile', 'The file holds no properties of an event.')
    }
    const properties = {
      eventType: 'ServiceIssue',
      ...given,
      ...(values.title === undefined ? {} : { title: values.title }),
      ...(values.type === undefined ? {} : { eventType: values.type }),
      ...(values.level === undefined ? {} : { eventLevel: values.level }),
      ...(values.summary === undefined ? {} : { summary: values.summary }),
      ...(values.impact.length === 0 ? {} : { impact: impactOf(values.impact, values.touches) }),
      ...(values.sensitive ? { isEventSensitive: true } : {}),
    }
    const connection = context.connect(values)
    const id = values.id ?? newTrackingId()
    const event = await takeStep(connection, values, id, 'publish', { properties })
    printRecord(context.terminal, values.json, values.json ? event : summaryOf(event))
    return 0
  },
})
