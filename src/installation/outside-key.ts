/**
 * The installation's key where it does not lie in the home beside the database: given as it is, in a file, or printed by a
 * command (of a key service, for example). Keeps nothing and never says what the key is.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { decodeKey } from './home.ts'

export interface KeySources {
  readonly key: string | undefined
  readonly keyFile: string | undefined
  readonly keyCommand: string | undefined
}

const commandMilliseconds = 30_000
const outputBytesMax = 4096

/**
 * Undefined where no source is named. Throws where one is and gives no key: the one in the home would be another. `setting`
 * is what the names of the sources begin with: `ARMATURE_KEY_NEXT` for the key that a rotation goes to.
 */
export function outsideKey(
  { key, keyFile, keyCommand }: KeySources,
  setting = 'ARMATURE_KEY',
): Uint8Array | undefined {
  const named = {
    [setting]: key,
    [`${setting}_FILE`]: keyFile,
    [`${setting}_COMMAND`]: keyCommand,
  }
  const given = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  )
  const [name] = given
  if (name === undefined) return undefined
  if (given.length > 1) throw new Error(`Set one of ${given.join(' and ')}, not several.`)
  const text =
    keyFile !== undefined
      ? readFileSync(keyFile, 'utf8')
      : keyCommand !== undefined
        ? outputOf(keyCommand)
        : (key ?? '')
  const found = decodeKey(text)
  if (found === undefined) throw new Error(`${name} must give 32 bytes in base64`)
  return found
}

/** By a shell, as the operator would type it; its complaints go to the server's own error output. */
function outputOf(command: string): string {
  return execFileSync('/bin/sh', ['-c', command], {
    encoding: 'utf8',
    timeout: commandMilliseconds,
    maxBuffer: outputBytesMax,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
