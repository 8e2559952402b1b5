/** `application create`: creates an application that signs in, or that people sign in to. */

import { textOf } from '#client/answer.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { collections, idOf } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'application create',
  summary: 'Register an application; with `--public` one without a secret, which people sign in to',
  arguments: [],
  options: {
    name: { type: 'string', value: 'text', required: true, summary: 'The name people are shown' },
    public: {
      type: 'boolean',
      summary: 'No secret: device code, or a code with PKCE to any port of the own machine',
    },
    'client-id': {
      type: 'string',
      value: 'uuid',
      summary: 'The client id a published program is built with; for `--public` only',
    },
    'redirect-uri': {
      type: 'string',
      value: 'address',
      multiple: true,
      summary: 'Where browsers may be sent back to after a sign-in, besides',
    },
    ...connectionOptions,
  },
  examples: [
    'application create --public --name "Command line" --client-id 2f0a4b3e-2c5d-4c0e-9d6a-7d1c1b8f5e21',
    'application create --name web --redirect-uri https://app.example.org/back',
  ],
  async run(context, values) {
    const clientId = values['client-id']
    if (clientId !== undefined && values.public !== true) {
      throw new UsageError('`--client-id` is for `--public` only')
    }
    const { client } = context.connect(values)
    const body = {
      displayName: values.name,
      ...(values.public === true ? { publicClient: true } : {}),
      ...(clientId === undefined ? {} : { clientId }),
      ...(values['redirect-uri'].length === 0 ? {} : { redirectUris: values['redirect-uri'] }),
    }
    const { body: created } = await client.request('POST', collections['ServicePrincipal'] ?? '', {
      body,
    })
    printRecord(context.terminal, {
      principalId: idOf(created),
      clientId: textOf(created, 'clientId'),
      clientSecret: textOf(created, 'clientSecret'),
    })
    return 0
  },
})
