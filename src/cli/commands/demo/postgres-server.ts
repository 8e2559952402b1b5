/**
 * A PostgreSQL server for a demo, on loopback. It ends with the process that started it, however that ends. Its
 * data stays in a folder and can be started again. Not for valuable data.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LocalProblem } from '../../command.ts'
import type { ServerPrograms } from './postgres-binaries.ts'
import { openSession } from './postgres-session.ts'

interface PlacedServer {
  /** An absolute path. The folder is created if needed, and owned by the user that the server runs as. */
  readonly folder: string
  readonly port: number
  /** The password of the superuser `postgres`. */
  readonly password: string
}

export interface DemoServer extends PlacedServer, AsyncDisposable {}

const readyTriesMax = 1200
const readyMilliseconds = 50

/** Throws `LocalProblem` when it does not start; usually another process has the port. */
export async function startServer(
  programs: ServerPrograms,
  place: PlacedServer,
): Promise<DemoServer> {
  const { folder, port, password } = place
  const owner = unprivileged()
  const data = join(folder, 'data')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  const binaries = usable(programs.folder, folder)
  if (!existsSync(join(data, 'PG_VERSION'))) initialise({ binaries, folder, data }, password, owner)
  const settings = Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '64MB',
    wal_level: 'logical',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [join(binaries, 'postgres'), '-D', data, ...settings]
  // A process group of its own: keys typed at the terminal end the demo, and the demo ends its servers.
  const child = spawn('/bin/sh', ['-c', keeper, 'sh', join(folder, 'log'), ...command], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: folder,
    detached: true,
    ...owner,
  })
  await ready(child, place)
  return {
    ...place,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise<void>((done) => child.once('exit', () => done()))
      child.stdin?.end()
      await ended
    },
  }
}

/** The shell reads our pipe. When this process ends, by whatever signal, the shell stops the server. */
const keeper = `
log=$1; shift
exec 3<&0
"$@" </dev/null 3<&- >"$log" 2>&1 &
server=$!
{ read -r _ <&3; kill -INT "$server"; } 2>/dev/null &
watch=$!
wait "$server"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`

async function ready(child: ChildProcess, { folder, port, password }: PlacedServer): Promise<void> {
  for (let tries = 0; tries < readyTriesMax && child.exitCode === null; tries++) {
    const session = await openSession({ port, password, database: 'postgres' })
    if (session !== undefined) return session.end()
    await sleep(readyMilliseconds)
  }
  child.stdin?.end()
  const log = join(folder, 'log')
  const words = existsSync(log) ? readFileSync(log, 'utf8').slice(-500) : ''
  throw new LocalProblem('ServerNotStarted', `A server of the demo did not start: ${words}`)
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root, so this finds another user. */
function unprivileged(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new LocalProblem(
    'NoUser',
    'PostgreSQL does not run as root, and this machine has no user postgres or nobody.',
  )
}

interface LinkEntry {
  /** The file and its second name, both inside the package's folder: `native/lib/…`. */
  readonly source: string
  readonly target: string
}

/**
 * The npm package leaves links between its libraries to an install script, which does not run here, and its folder
 * may not be readable for the server's user. A copy is used instead.
 */
function usable(binaries: string, folder: string): string {
  const native = dirname(binaries)
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return binaries
  const copy = join(folder, 'native')
  if (existsSync(copy)) return join(copy, 'bin')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  // The package's own file.
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as LinkEntry[]) {
    const place = join(copy, relative('native', target))
    if (!existsSync(place)) symlinkSync(relative(dirname(target), source), place)
  }
  return join(copy, 'bin')
}

function initialise(
  {
    binaries,
    folder,
    data,
  }: { readonly binaries: string; readonly folder: string; readonly data: string },
  password: string,
  owner: Owner | undefined,
): void {
  const file = join(folder, 'password')
  writeFileSync(file, password, { mode: 0o600 })
  if (owner !== undefined) chownSync(file, owner.uid, owner.gid)
  const shape = ['-U', 'postgres', '--encoding=UTF8', '--locale=C', '-D', data]
  execFileSync(
    join(binaries, 'initdb'),
    [...shape, '--auth=scram-sha-256', `--pwfile=${file}`, '--no-sync'],
    { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder, ...owner },
  )
}

export function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const probe = createServer()
    probe.once('error', failed)
    probe.listen(0, '127.0.0.1', () => {
      const at = probe.address()
      probe.close(() => {
        if (at !== null && typeof at === 'object') done(at.port)
        else failed(new Error('The system gave no port.'))
      })
    })
  })
}
