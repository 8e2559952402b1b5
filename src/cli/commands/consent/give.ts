/** `consent give`: does a whole consent without a browser, from a login link to a confirmed code. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import {
  authorizationPath,
  backOption,
  consentOptions,
  consentVersion,
  loginLink,
  walkConsent,
} from '../../consent.ts'
import { addressesOf } from '../../credential.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord, printText } from '../../output/print.ts'
import { readPassword } from '../../password.ts'

export const command: Command = defineCommand({
  name: 'consent give',
  summary: 'Sign in, consent and confirm for an authorization, without a browser',
  notes:
    () => `For identity providers that are an installation, this one or another: its sign-in form is filled in.
Without a name it is the owner of the installation that runs here.`,
  arguments: [{ name: 'authorization', summary: 'The authorization' }],
  options: {
    ...consentOptions,
    'sign-in-name': { type: 'string', value: 'name', summary: 'Who signs in' },
    password: {
      type: 'string',
      value: 'where',
      summary: 'The password: `@file`, `-` for standard input, or `env:NAME`',
    },
    'sign-in-at': {
      type: 'string',
      value: 'address',
      summary: 'The installation that they sign in at; the one that is called when left out',
    },
    'code-only': { type: 'boolean', summary: 'Print the consent code, and do not confirm it' },
    ...backOption,
    ...connectionOptions,
  },
  examples: [
    'consent give me -g demo -s pets -p own',
    'consent give me -g demo -s pets -p other --sign-in-at https://other.example --sign-in-name ada --password @ada.txt',
  ],
  async run(context, values) {
    const home = context.home()
    const owner = home.owner()
    const given =
      values.password === undefined
        ? undefined
        : await readPassword(context, 'password', values.password)
    const signInAt = values['sign-in-at']
    if (signInAt !== undefined && !URL.canParse(signInAt)) {
      throw new UsageError(`\`--sign-in-at ${signInAt}\` is no address`)
    }
    const isOwner = values['sign-in-name'] === undefined && given === undefined
    if (isOwner && signInAt !== undefined) {
      throw new UsageError('`--sign-in-at` goes with `--sign-in-name` and `--password`')
    }
    const signInName = values['sign-in-name'] ?? owner?.signInName
    const password = isOwner ? owner?.password : given
    if (signInName === undefined || password === undefined) {
      throw new UsageError('give `--sign-in-name` and `--password`: there is no owner’s file here')
    }
    const connection = context.connect(values)
    const path = await authorizationPath(connection, values, values.authorization)
    const link = await loginLink(connection, path, values['back-to'])
    // The owner is of the installation of this home, whatever is called or named.
    const own = addressesOf(home.running())
    const called = [connection.url, ...addressesOf(connection.running)]
    const at = isOwner ? own : signInAt === undefined ? called : [signInAt]
    const consentCode = await walkConsent(link, { signInName, password, at })
    if (values['code-only']) {
      printText(context.terminal, consentCode)
      return 0
    }
    const query = consentVersion
    const body = { consentCode }
    await connection.client.request('POST', `${path}/confirmConsentCode`, { query, body })
    const shown = (await connection.client.request('GET', path, { query })).body
    const status = propertyOf(shown, 'status')
    printRecord(context.terminal, shown, { status })
    return status === 'Connected' ? 0 : 1
  },
})
