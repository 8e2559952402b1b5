/** `billing usage`: charges usage up to now, without waiting for the end of the day. */

import { billingOptions, billingVersion, profilePath } from '../../billing.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'billing usage',
  summary: 'Charge what ran up to now, without waiting for the end of the day',
  arguments: [],
  options: billingOptions,
  examples: ['billing usage'],
  async run(connection, values, context) {
    const path = `${await profilePath(connection, values)}/chargeUsage`
    const { body } = await connection.client.request('POST', path, { query: billingVersion })
    printRecord(context.terminal, body)
  },
})
