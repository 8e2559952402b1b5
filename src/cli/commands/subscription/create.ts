/** `subscription create`: creates a subscription. */

import { isUuid } from '#kernel/uuid.ts'
import { UsageError } from '../../command.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { apiVersions } from '../../resource-path.ts'
import { uuidOf } from '../../uuid-of.ts'

export const command = defineRemoteCommand({
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
  },
  examples: ['subscription create --name production'],
  async run({ client, url }, values, context) {
    const id = values.id ?? uuidOf(`subscription|${url}|${values.name}`)
    if (!isUuid(id)) throw new UsageError(`\`--id ${id}\` is no UUID`)
    const { body } = await client.request('PUT', `/subscriptions/${id}`, {
      query: { 'api-version': apiVersions.subscriptions },
      body: { displayName: values.name },
    })
    printRecord(context.terminal, body)
  },
})
