/** `share invite`: invites a principal or an e-mail address to a share. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord, printText } from '../../output/print.ts'
import { putResource } from '../../resource-commands.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share invite',
  summary: 'Offer a share to a principal, or to whoever signs in with an e-mail address',
  arguments: [{ name: 'name', summary: 'The name of the invitation' }],
  options: {
    ...accountOptions,
    share: { type: 'string', value: 'name', required: true, summary: 'The share' },
    email: { type: 'string', value: 'address', summary: 'The name a user signs in with' },
    principal: { type: 'string', value: 'id', summary: 'The object id of a principal' },
    tenant: {
      type: 'string',
      value: 'id',
      summary: 'The tenant of the principal; alone, everybody of it',
    },
    ...connectionOptions,
  },
  examples: ['share invite ann -g from -a giver --share sales --email ann@example.net'],
  async run(context, values) {
    const { email, principal, tenant } = values
    if ((email === undefined) === (principal === undefined && tenant === undefined)) {
      throw new UsageError('give one of `--email`, `--principal` and `--tenant`')
    }
    const connection = context.connect(values)
    const properties = {
      ...(email === undefined ? {} : { targetEmail: email }),
      ...(principal === undefined ? {} : { targetObjectId: principal }),
      ...(tenant === undefined ? {} : { targetActiveDirectoryId: tenant }),
    }
    const path = await inAccount(
      connection,
      values,
      'shares',
      values.share,
      'invitations',
      values.name,
    )
    const made = await putResource(connection, path, shareVersion, { properties })
    if (context.terminal.output.isData) printRecord(context.terminal, made)
    else printText(context.terminal, propertyOf(made, 'invitationId'))
    return 0
  },
})
