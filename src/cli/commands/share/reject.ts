/** `share reject`: rejects an invitation. */

import { qualify } from '#kernel/vendor.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { shareVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share reject',
  summary: 'Turn an invitation down',
  arguments: [{ name: 'invitation', summary: 'The id of the invitation' }],
  options: connectionOptions,
  examples: ['share reject 11111111-2222-4333-8444-555555555555'],
  async run(context, values) {
    const connection = context.connect(values)
    const namespace = qualify(connection.words, 'DataShare')
    const path = `/providers/${namespace}/locations/local/rejectInvitation`
    const answer = await connection.client.request('POST', path, {
      query: { 'api-version': shareVersion },
      body: { properties: { invitationId: values.invitation } },
    })
    printRecord(context.terminal, answer.body)
    return 0
  },
})
