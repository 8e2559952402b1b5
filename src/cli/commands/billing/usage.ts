/** `billing usage`: charges usage up to now, without waiting for the end of the day. */

import { billingOptions, billingVersion, profilePath } from '../../billing.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'billing usage',
  summary: 'Charge what ran up to now, without waiting for the end of the day',
  arguments: [],
  options: { ...billingOptions, ...connectionOptions },
  examples: ['billing usage'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = `${await profilePath(connection, values)}/chargeUsage`
    const { body } = await connection.client.request('POST', path, { query: billingVersion })
    printRecord(context.terminal, body)
    return 0
  },
})
