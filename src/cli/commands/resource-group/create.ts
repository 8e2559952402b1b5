/** `resource-group create`: creates or updates a resource group. */

import { textOf } from '#client/answer.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { type Command, defineCommand, LocalProblem, UsageError } from '../../command.ts'
import type { Connection } from '../../context.ts'
import { connectionOptions, noWaitOption, subscriptionOption } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { apiVersions, resourceGroupPath, subscriptionOf } from '../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'resource-group create',
  summary: 'Create a resource group, or change its tags',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: {
    location: {
      type: 'string',
      value: 'name',
      summary: 'Where; the installation’s first location when left out',
    },
    tag: { type: 'string', value: 'name=value', multiple: true, summary: 'A tag' },
    ...subscriptionOption,
    ...noWaitOption,
    ...connectionOptions,
  },
  examples: ['resource-group create demo', 'resource-group create demo --tag owner=ada --json'],
  async run(context, values) {
    const tags = Object.fromEntries(values.tag.map(parseTag))
    const connection = context.connect(values)
    const subscription = await subscriptionOf(connection, values.subscription)
    const location = values.location ?? (await firstLocation(connection, subscription))
    const path = resourceGroupPath(subscription, values.name)
    const accepted = await connection.client.request('PUT', path, {
      query: { 'api-version': apiVersions.resourceGroups },
      body: { location, ...(values.tag.length === 0 ? {} : { tags }) },
    })
    const answer = values['no-wait'] ? accepted : await connection.client.waitForOperation(accepted)
    printRecord(context.terminal, answer.body)
    return 0
  },
})

function parseTag(text: string): readonly [string, string] {
  const equals = text.indexOf('=')
  if (equals < 1) throw new UsageError(`\`--tag ${text}\` is not of the form \`name=value\``)
  return [text.slice(0, equals), text.slice(equals + 1)]
}

async function firstLocation({ client }: Connection, subscription: string): Promise<string> {
  const path = `/subscriptions/${encodeURIComponent(subscription)}/locations`
  const query = { 'api-version': apiVersions.subscriptions }
  const { body } = await client.request('GET', path, { query })
  const list = isJsonObject(body) ? body['value'] : undefined
  const name = Array.isArray(list) ? textOf(list[0], 'name') : undefined
  if (name !== undefined) return name
  throw new LocalProblem('NoLocation', 'The installation lists no location. Name one: --location')
}
