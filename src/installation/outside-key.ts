/**
 * Reads the installation's key from outside the home: a value, a file, or the output of a command (of a key
 * service, for example). It stores nothing and never prints the key.
 */

import { spawnSync } from 'node:child_process'
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
 * Undefined when no source is named. Throws when a source is named and gives no key: the key in the home would be a
 * different one. `setting` is the prefix of the sources' names: `ARMATURE_KEY_NEXT` for the next key of a rotation.
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
        ? outputOf(keyCommand, name)
        : (key ?? '')
  const found = decodeKey(text)
  if (found === undefined) throw new Error(`${name} must give 32 bytes in base64`)
  return found
}

/** Runs in a shell, as the operator would type it. Its error output goes to the server's; the command itself, into no message. */
function outputOf(command: string, setting: string): string {
  const { error, status, signal, stdout } = spawnSync('/bin/sh', ['-c', command], {
    encoding: 'utf8',
    timeout: commandMilliseconds,
    maxBuffer: outputBytesMax,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error !== undefined) throw new Error(`The command of ${setting} failed: ${error.message}`)
  if (status !== 0) {
    throw new Error(`The command of ${setting} failed: it ended with ${signal ?? status}`)
  }
  return stdout
}
