/** Settings of where the installation's key comes from, if not from the home folder. */

import { resolve } from 'node:path'
import { text } from './setting.ts'

const none = ''

function isKey(value: string): boolean {
  return Buffer.from(value.trim(), 'base64').length === 32
}

export interface KeyConfig {
  /** 32 bytes in base64. `undefined`: the key in the home. Never print it. */
  readonly key: string | undefined
  /** The file that holds the key. */
  readonly keyFile: string | undefined
  /** The command that prints the key. */
  readonly keyCommand: string | undefined
  /** The next key of a rotation, from the same kinds of sources. */
  readonly nextKey: {
    readonly key: string | undefined
    readonly keyFile: string | undefined
    readonly keyCommand: string | undefined
  }
}

export const keySettings = {
  key: text('empty, or 32 bytes in base64', (v) => v === none || isKey(v), {
    default: none,
    description:
      'The installation’s key, for replicas that share a store. Empty is the one in the home, made on the first start.',
    secret: true,
  }),
  keyFile: text('empty, or a file', (v) => !v.includes('\0'), {
    default: none,
    description:
      'A file with the installation’s key in base64, so that database and key need not lie side by side. Instead of `ARMATURE_KEY`.',
  }),
  keyCommand: text('empty, or a command of the shell', (v) => !v.includes('\0'), {
    default: none,
    description:
      'A command that prints the installation’s key in base64 at each start, within 30 seconds. Instead of `ARMATURE_KEY`.',
    secret: true,
  }),
  keyNext: text('empty, or 32 bytes in base64', (v) => v === none || isKey(v), {
    default: none,
    description:
      'The key that `armature key rotate --installation` goes to, where it is not made in the home. Give it to every replica before.',
    secret: true,
  }),
  keyNextFile: text('empty, or a file', (v) => !v.includes('\0'), {
    default: none,
    description:
      'A file with the key that a rotation goes to. Instead of `ARMATURE_KEY_NEXT`; it may be written while the server runs.',
  }),
  keyNextCommand: text('empty, or a command of the shell', (v) => !v.includes('\0'), {
    default: none,
    description:
      'A command that prints the key that a rotation goes to, run when the rotation begins. Instead of `ARMATURE_KEY_NEXT`.',
    secret: true,
  }),
}

type Named = { readonly [K in keyof typeof keySettings]: string }

export function arrangeKey(named: Named, directory: string): KeyConfig {
  const arranged = (key: string, file: string, command: string) => ({
    key: key === none ? undefined : key.trim(),
    keyFile: file === none ? undefined : resolve(directory, file),
    keyCommand: command === none ? undefined : command,
  })
  return {
    ...arranged(named.key, named.keyFile, named.keyCommand),
    nextKey: arranged(named.keyNext, named.keyNextFile, named.keyNextCommand),
  }
}
