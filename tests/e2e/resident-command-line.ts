/**
 * A command line that stays in the process of a test, and a program that hands each command to it: a start of the launcher costs
 * ten times what most commands do (decision 0248). It is the whole command line, but for its streams: what a command writes comes when
 * it has ended, and only one that names `-` gets an input.
 */

import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { runCli } from '../../src/cli/testing/run-cli.ts'

/** A request and its answer are files that are named by the process of the caller. */
const programOf = (folder: string, port: number): string => `#!/bin/bash
shift
at='${folder}'/$$
printf '%s\\0' "$PWD" "$@" >"$at.words"
env -0 >"$at.environment"
for word in "$@"; do
  case $word in -|@-) cat >"$at.input"; break ;; esac
done
exec 3<>/dev/tcp/127.0.0.1/${port}
echo $$ >&3
read -r code <&3
cat "$at.out"
cat "$at.error" >&2
exit "$code"
`

/** Writes the program to `path`, and its files to `folder`. */
export async function keepCommandLine(folder: string, path: string): Promise<Disposable> {
  const before = process.cwd()
  const answer = async (socket: Socket): Promise<void> => {
    const [id] = await once(socket, 'data')
    const code = await perform(join(folder, String(id).trim()))
    socket.end(`${code}\n`)
  }
  const server = createServer((socket) => void answer(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // `listen` was given a port.
  const { port } = server.address() as AddressInfo
  writeFileSync(path, programOf(folder, port), { mode: 0o755 })
  return {
    [Symbol.dispose]() {
      server.close()
      process.chdir(before)
    },
  }
}

async function perform(at: string): Promise<number> {
  const [folder = '', ...words] = take(`${at}.words`)
  const environment = Object.fromEntries(
    take(`${at}.environment`).map((line) => {
      const end = line.indexOf('=')
      return [line.slice(0, end), line.slice(end + 1)]
    }),
  )
  const input = existsSync(`${at}.input`) ? take(`${at}.input`).join('\0') : ''
  // Commands find files from there.
  process.chdir(folder)
  const { code, out, error } = await runCli(words, { environment, input })
  writeFileSync(`${at}.out`, out)
  writeFileSync(`${at}.error`, error)
  return code
}

/** What stands between zero bytes, of a file that goes with it. */
function take(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8')
  rmSync(path)
  return text.replace(/\0$/, '').split('\0')
}
