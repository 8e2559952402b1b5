/** `subscription create`: creates a subscription. */

import { isUuid } from '#kernel/uuid.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { apiVersions } from '../../resource-path.ts'
import { uuidOf } from '../../uuid-of.ts'

export const command: Command = defineCommand({
  name: 'subscription create',
  summary: 'Create a subscription, or rename one',
  arguments: [],
  options: {
    name: { type: 'string', value: 'text', required: true, summary: 'The display name' },
    id: {
      type: 'string',
      value: 'uuid',
      summary:
        'Its id; made from the name when left out, so that the same name is the same subscription',
    },
    ...connectionOptions,
  },
  examples: ['subscription create --name production'],
  async run(context, values) {
    const { client, url } = context.connect(values)
    const id = values.id ?? uuidOf(`subscription|${url}|${values.name}`)
    if (!isUuid(id)) throw new UsageError(`\`--id ${id}\` is no UUID`)
    const { body } = await client.request('PUT', `/subscriptions/${id}`, {
      query: { 'api-version': apiVersions.subscriptions },
      body: { displayName: values.name },
    })
    printRecord(context.terminal, body)
    return 0
  },
})
