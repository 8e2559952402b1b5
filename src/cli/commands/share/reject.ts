/** `share reject`: rejects an invitation. */

import { qualify } from '#kernel/vendor.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { shareVersion } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share reject',
  summary: 'Turn an invitation down',
  arguments: [{ name: 'invitation', summary: 'The id of the invitation' }],
  options: {},
  examples: ['share reject 11111111-2222-4333-8444-555555555555'],
  async run(connection, values, context) {
    const namespace = qualify(connection.words, 'DataShare')
    const path = `/providers/${namespace}/locations/local/rejectInvitation`
    const answer = await connection.client.request('POST', path, {
      query: { 'api-version': shareVersion },
      body: { properties: { invitationId: values.invitation } },
    })
    printRecord(context.terminal, answer.body)
  },
})
