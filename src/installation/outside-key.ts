/**
 * Reads the installation's key from outside the home: a value, a file, or the output of a command (of a key
 * service, for example). It stores nothing and never prints the key.
 */

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { decodeKey } from './home.ts'

export interface KeySources {
  readonly key: string | undefined
  readonly keyFile: string | undefined
  readonly keyCommand: string | undefined
}

const commandMilliseconds = 30_000
const outputCharactersMax = 4096

/** A command is waited for; whatever else the process does goes on meanwhile. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Undefined when no source is named. Throws when a source is named and gives no key: the key in the home would be a
 * different one. `setting` is the prefix of the sources' names: `ARMATURE_KEY_NEXT` for the next key of a rotation.
 */
export function outsideKey(
  { key, keyFile, keyCommand }: KeySources,
  setting = 'ARMATURE_KEY',
): MaybePromise<Uint8Array | undefined> {
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
  const keyIn = (text: string): Uint8Array => {
    const found = decodeKey(text)
    if (found === undefined) throw new Error(`${name} must give 32 bytes in base64`)
    return found
  }
  if (keyCommand !== undefined) return outputOf(keyCommand, name).then(keyIn)
  return keyIn(keyFile === undefined ? (key ?? '') : readFileSync(keyFile, 'utf8'))
}

/** Ends those under way. */
const ends = new Set<() => void>()

/** A process that stops waits for no command. */
export function endCommands(): void {
  for (const end of ends) end()
}

/** Runs in a shell, as the operator would type it. Its error output goes to the server's; the command itself, into no message. */
function outputOf(command: string, setting: string): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] })
  return new Promise((resolve, reject) => {
    let output = ''
    const over = (): void => {
      clearTimeout(timer)
      ends.delete(stop)
    }
    const fail = (reason: string): void => {
      over()
      reject(new Error(`The command of ${setting} failed: ${reason}`))
      // What it began may live on and hold the output.
      child.kill()
      child.stdout?.destroy()
    }
    const stop = (): void => fail('this process ends')
    ends.add(stop)
    const timer = setTimeout(fail, commandMilliseconds, 'it takes too long')
    child.once('error', (error) => fail(error.message))
    child.once('close', (status, signal) => {
      if (status !== 0) return fail(`it ended with ${signal ?? status}`)
      over()
      resolve(output)
    })
    // Where no process can be begun, there is none.
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      output += piece
      if (output.length > outputCharactersMax) fail('it prints too much')
    })
  })
}
