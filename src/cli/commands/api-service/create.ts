/** `api-service create`: creates an API management service. */

import { apiServices } from '../../api-management.ts'
import { missingGroup } from '../../group-place.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { putResource } from '../../resource-commands.ts'

export const command = defineRemoteCommand({
  name: 'api-service create',
  summary: 'Make an API management service',
  arguments: [{ name: 'name', summary: 'Its name' }],
  options: {
    location: { type: 'string', value: 'name', summary: 'Where; local when left out' },
    publisher: { type: 'string', value: 'name', summary: 'Who publishes its APIs' },
    email: { type: 'string', value: 'address', summary: 'How the publisher is reached' },
    ...apiServices.options,
  },
  examples: ['api-service create pets -g demo --publisher "Pet shop"'],
  confirm: missingGroup,
  async run(connection, values, context) {
    const path = await apiServices.path(connection, values, values.name)
    const body = {
      location: values.location ?? 'local',
      sku: { name: 'Developer', capacity: 1 },
      properties: {
        publisherName: values.publisher ?? 'Armature',
        publisherEmail: values.email ?? 'owner@example.net',
      },
    }
    const made = await putResource(connection, path, apiServices.version, body)
    printRecord(context.terminal, made)
  },
})
