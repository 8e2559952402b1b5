/** `key rotate`: a new key signs from now on; tokens signed by the old one stay good until they end. */

import { type Command, defineCommand } from '../../command.ts'
import { apiOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'key rotate',
  summary: 'Sign access tokens with a new key from now on; tokens that are out stay good',
  arguments: [],
  options: apiOptions,
  examples: ['key rotate'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('POST', '/directory/keys/rotate')
    printRecord(context.terminal, values.json, body)
    return 0
  },
})
