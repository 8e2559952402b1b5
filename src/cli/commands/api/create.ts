/** `api create`: creates an API of a service, or changes it. */

import { apis } from '../../api-management.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { putResource } from '../../resource-commands.ts'

export const command = defineRemoteCommand({
  name: 'api create',
  summary: 'Make an API of a service, or change it',
  arguments: [{ name: 'name', summary: 'Its name' }],
  options: {
    path: { type: 'string', value: 'path', required: true, summary: 'Where it is at the gateway' },
    title: { type: 'string', value: 'text', summary: 'What it is called; its name when left out' },
    'service-url': { type: 'string', value: 'address', summary: 'Where its backend is' },
    ...apis.options,
  },
  examples: ['api create pets -g demo -s pets --path pets --service-url http://127.0.0.1:3000'],
  async run(connection, values, context) {
    const serviceUrl = values['service-url']
    const properties = {
      displayName: values.title ?? values.name,
      path: values.path,
      protocols: ['https'],
      ...(serviceUrl === undefined ? {} : { serviceUrl }),
    }
    const path = await apis.path(connection, values, values.name)
    printRecord(context.terminal, await putResource(connection, path, apis.version, { properties }))
  },
})
