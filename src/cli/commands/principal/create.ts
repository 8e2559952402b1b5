/** `principal create`: creates a user, a group or a service principal. Its credentials are shown this once. */

import { textOf } from '#client/answer.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { collections, idOf, principalTypes } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { readPassword } from '../../password.ts'

export const command: Command = defineCommand({
  name: 'principal create',
  summary: 'Create a user, a group, or a service principal; its credentials are shown this once',
  arguments: [],
  options: {
    type: {
      type: 'string',
      value: 'type',
      required: true,
      choices: principalTypes,
      summary: 'What to create',
    },
    name: { type: 'string', value: 'text', required: true, summary: 'The display name' },
    'sign-in-name': {
      type: 'string',
      value: 'name',
      summary: 'What a user signs in with; made from the display name when left out',
    },
    password: {
      type: 'string',
      value: 'where',
      summary:
        'A user’s password: `@file`, `-` for standard input, or `env:NAME`; generated when left out',
    },
    'redirect-uri': {
      type: 'string',
      value: 'address',
      multiple: true,
      summary: 'Where browsers may be sent back to a service principal after a sign-in',
    },
    ...connectionOptions,
  },
  examples: [
    'principal create --type ServicePrincipal --name ci --json',
    'principal create --type User --name "Ada Lovelace"',
    'principal create --type Group --name operators',
  ],
  async run(context, values) {
    const { type, name: displayName } = values
    const only = (option: string, kind: string, given: boolean): void => {
      if (given && type !== kind) throw new UsageError(`\`--${option}\` is for a ${kind} only`)
    }
    only('sign-in-name', 'User', values['sign-in-name'] !== undefined)
    only('password', 'User', values.password !== undefined)
    only('redirect-uri', 'ServicePrincipal', values['redirect-uri'].length > 0)
    const { client } = context.connect(values)
    // `choices` allows no other type.
    const collection = collections[type] as string
    const password =
      values.password === undefined
        ? undefined
        : await readPassword(context, 'password', values.password)
    const body = {
      displayName,
      ...(type === 'User'
        ? { signInName: values['sign-in-name'] ?? signInNameFor(displayName) }
        : {}),
      ...(password === undefined ? {} : { password }),
      ...(values['redirect-uri'].length === 0 ? {} : { redirectUris: values['redirect-uri'] }),
    }
    const { body: created } = await client.request('POST', collection, { body })
    printRecord(context.terminal, {
      principalId: idOf(created),
      signInName: textOf(created, 'signInName'),
      password: type === 'User' ? (textOf(created, 'password') ?? password) : undefined,
      clientId: textOf(created, 'clientId'),
      clientSecret: textOf(created, 'clientSecret'),
    })
    return 0
  },
})

/** "Ada Lovelace" gets the sign-in name `ada.lovelace`. */
function signInNameFor(displayName: string): string {
  return displayName.trim().toLowerCase().replace(/\s+/g, '.')
}
