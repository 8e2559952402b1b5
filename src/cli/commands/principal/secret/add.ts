/** `principal secret add`: adds a secret to an application. It is shown this once. */

import { textOf } from '#client/answer.ts'
import { idOf } from '../../../directory.ts'
import { printRecord } from '../../../output/print.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal secret add',
  summary: 'Give a service principal one more secret, shown this once',
  arguments: [{ name: 'id', summary: 'The service principal’s object id' }],
  options: {
    name: { type: 'string', value: 'text', summary: 'What the secret is for' },
    'expires-on': {
      type: 'string',
      value: 'time',
      summary: 'When it ends (ISO 8601); never when left out',
    },
  },
  examples: [
    'principal secret add 1b4e28ba-2fa1-41d2-883f-0016d3cca427 --name laptop --expires-on 2027-01-01T00:00:00Z',
  ],
  async run({ client }, values, context) {
    const expiresOn = values['expires-on']
    const { body } = await client.request('POST', secretsPath(values.id), {
      body: {
        ...(values.name === undefined ? {} : { displayName: values.name }),
        ...(expiresOn === undefined ? {} : { expiresOn }),
      },
    })
    printRecord(context.terminal, {
      principalId: values.id,
      secretId: idOf(body),
      clientSecret: textOf(body, 'clientSecret'),
      expiresOn: textOf(body, 'expiresOn'),
    })
  },
})

function secretsPath(id: string): string {
  return `/directory/servicePrincipals/${encodeURIComponent(id)}/secrets`
}
