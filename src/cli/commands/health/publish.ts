/** `health publish`: publishes an event. */

import { type Command, defineCommand } from '../../command.ts'
import {
  eventOptions,
  eventProperties,
  healthOptions,
  newTrackingId,
  summaryOf,
  takeStep,
} from '../../health.ts'
import { connectionOptions } from '../../options.ts'
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
    ...eventOptions,
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
    touches: {
      type: 'string',
      value: 'subscription',
      multiple: true,
      summary: 'Only this subscription; all of them when left out',
    },
    sensitive: { type: 'boolean', summary: 'Its texts are shown only to those with the right' },
    ...connectionOptions,
  },
  examples: [
    "health publish 'Groups start slowly' --level Warning --impact 'Container Instances=West US'",
    'health publish --file advisory.yaml',
  ],
  async run(context, values) {
    const properties = {
      eventType: 'ServiceIssue',
      ...eventProperties(values, values.touches),
      ...(values.type === undefined ? {} : { eventType: values.type }),
      ...(values.sensitive ? { isEventSensitive: true } : {}),
    }
    const connection = context.connect(values)
    const id = values.id ?? newTrackingId()
    const event = await takeStep(connection, values, { id, step: 'publish' }, { properties })
    printRecord(context.terminal, event, summaryOf(event))
    return 0
  },
})
