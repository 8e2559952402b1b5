/**
 * `key rotate`: a new key signs from now on; tokens signed by the old one stay good until they end. With `--installation` the
 * key that all secrets are sealed with: everything stored is sealed anew while the server runs.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, defineCommand, LocalProblem, UsageError } from '../../command.ts'
import type { Context } from '../../context.ts'
import { keyStatusPath, nextKeyId, refusedFor, rotationLine } from '../../key-status.ts'
import { connectionOptions, noWaitOption } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

const everyMilliseconds = 500

export const command: Command = defineCommand({
  name: 'key rotate',
  summary: 'Sign access tokens with a new key from now on; tokens that are out stay good',
  notes: () =>
    [
      'With --installation it is the key that all secrets are sealed with: a new one is made in the home, or given by',
      'ARMATURE_KEY_NEXT (or its _FILE or _COMMAND) where the key is given from outside; every replica needs it. All that is',
      'stored is sealed anew while the server runs. When it has ended the old key opens nothing but backups of before.',
    ].join('\n'),
  arguments: [],
  options: {
    installation: { type: 'boolean', summary: 'Rotate the key that secrets are sealed with' },
    ...noWaitOption,
    ...connectionOptions,
  },
  examples: ['key rotate', 'key rotate --installation'],
  async run(context, values) {
    if (values.installation) return rotateInstallation(context, values)
    if (values['no-wait']) throw new UsageError('`--no-wait` goes with `--installation`')
    const { client } = context.connect(values)
    const { body } = await client.request('POST', '/directory/keys/rotate')
    printRecord(context.terminal, body)
    return 0
  },
})

type RotateValues = Parameters<Context['connect']>[0] & {
  readonly 'no-wait': boolean
}

async function rotateInstallation(context: Context, values: RotateValues): Promise<number> {
  const { client } = context.connect(values)
  const { terminal } = context
  let { body } = await client.request('POST', `${keyStatusPath}/rotate`)
  const keyId = nextKeyId(body)
  let shown = ''
  while (!values['no-wait']) {
    const line = rotationLine(body)
    if (line === undefined) break
    if (!terminal.output.isData && line !== shown) terminal.error(`${line}\n`)
    shown = line
    await sleep(everyMilliseconds)
    ;({ body } = await client.request('GET', keyStatusPath))
  }
  const without = refusedFor(body, keyId)
  if (without !== undefined) {
    throw new LocalProblem(
      'KeyNotRotated',
      `these processes do not have the new key: ${without}. Give it to them (ARMATURE_KEY_NEXT and the like, or installation.key.next of the first home) and begin again.`,
    )
  }
  printRecord(terminal, body)
  return 0
}
