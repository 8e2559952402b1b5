/**
 * The client programs of PostgreSQL (`pg_dump`, `pg_restore`): runs them with every secret in the child's environment and
 * none in its arguments (facts A.7, 14). They keep what their server answers, so each has a bound of memory.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { withoutSecrets } from '#kernel/short-words.ts'
import { programMissing, withinMemory } from '#outbound/bounded-program.ts'
import { DatabaseEngineError } from '../engine.ts'
import { checkServerTexts, lostSnapshot, type ReachableServer, routeTo } from './connect.ts'
import type { ClientPrograms } from './find-client-programs.ts'

interface ProgramRun {
  readonly programs: ClientPrograms
  readonly name: 'pg_dump' | 'pg_restore'
  readonly args: readonly string[]
  readonly server: ReachableServer
  readonly database: string
  readonly applicationName: string
  /** The certificate file for the program; private to the migration. */
  readonly rootCertificateFile: string | undefined
  /** The file for the program's output. */
  readonly outputFile?: string
  /** Ends the program at the first statement that fails, other than for a setting that the server does not know. */
  readonly endsAtError?: boolean
  /** Ends the program. */
  readonly signal: AbortSignal
  /** The deadline in seconds. */
  readonly seconds?: number | undefined
}

const lastWordsBytes = 4_000

/**
 * From this version on, `pg_restore` begins each session with a setting that older servers do not know. Nothing that it restores
 * depends on it, so that failure is passed over; the program itself can only end at every failure, or at none.
 */
export const setsTransactionTimeout = 17
const unknownSetting =
  /^pg_restore: error: could not execute query: .*(?:\n(?!pg_restore: |Command was: ).*)*\nCommand was: SET transaction_timeout = 0;\n+/gm
const countOfErrors =
  /^pg_restore: (?:warning: errors ignored on restore: \d+|terminated by user)\n?/gm
/** A line may come in pieces: as much of it as is longer than the setting, or the whole. */
const failedStatement = /^Command was: (?:.*\n|.{100})/m

/** Settings of the program's sessions: the target's data is flushed once, at the end of the copy. */
const sessionOptions =
  '-c synchronous_commit=off -c default_transaction_read_only=off -c statement_timeout=0'

/** No file has this name. A program that finds none goes on without, and says nothing. */
const nowhere = '/dev/null/none'

/** Runs to the end; its error output becomes the error's text. */
export async function runProgram(run: ProgramRun): Promise<void> {
  const { address, password } = run.server
  checkServerTexts(run.server, run.database)
  const { host, addresses } = await routeTo(run.server)
  // A server that asks for more must not make the program ask whoever sits at this terminal.
  const given = {
    program: join(run.programs.folder, run.name),
    args: ['--no-password', ...run.args],
  }
  const { program, args } = withinMemory(given, run.programs.memoryBytesMax)
  const child: ChildProcess = spawn(program, [...args], {
    stdio: ['ignore', run.outputFile === undefined ? 'ignore' : 'pipe', 'pipe'],
    ...(run.seconds === undefined ? {} : { timeout: run.seconds * 1000 }),
    env: {
      // It connects to the judged addresses, one after the other, and checks the certificate for the name.
      PGHOST: addresses.map(() => host).join(','),
      PGHOSTADDR: addresses.join(','),
      PGPORT: String(address.port),
      PGUSER: address.user,
      PGPASSWORD: password,
      // Where the password is empty, the programs would look for one in the home of their user.
      PGPASSFILE: nowhere,
      PGSSLCERT: nowhere,
      PGSSLCRL: nowhere,
      PGSSLROOTCERT: run.rootCertificateFile ?? nowhere,
      // A server of a caller would get a ticket of their user.
      PGGSSENCMODE: 'disable',
      KRB5CCNAME: nowhere,
      PGDATABASE: run.database,
      PGAPPNAME: run.applicationName,
      PGSSLMODE: address.sslMode,
      PGCONNECT_TIMEOUT: '10',
      PGOPTIONS: sessionOptions,
      LC_ALL: 'C',
    },
  })
  const stop = (): void => void child.kill('SIGTERM')
  let words = ''
  let hasFailed = false
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (text: string) => {
    const all = (words + text).replaceAll(unknownSetting, '')
    hasFailed ||= failedStatement.test(all)
    words = all.slice(-lastWordsBytes)
    if (run.endsAtError === true && hasFailed) stop()
  })
  run.signal.addEventListener('abort', stop, { once: true })
  if (run.signal.aborted) stop()
  try {
    const ended = new Promise<number | null>((done, failed) => {
      child.once('error', failed)
      child.once('close', (code) => done(code))
    })
    const written =
      run.outputFile !== undefined && child.stdout !== null
        ? pipeline(child.stdout, createWriteStream(run.outputFile, { mode: 0o600 }))
        : Promise.resolve()
    const [code] = await Promise.all([ended, written])
    run.signal.throwIfAborted()
    if (code === null && run.seconds !== undefined && !hasFailed) {
      const message = `${run.name} was ended after ${run.seconds} seconds.`
      throw new DatabaseEngineError('unavailable', message)
    }
    const isPassedOver = code === 1 && words !== '' && words.replaceAll(countOfErrors, '') === ''
    if (code === programMissing) {
      throw new DatabaseEngineError('unavailable', `${run.name} is no longer where it was found.`)
    }
    if (code !== 0 && ownMemory.test(words)) throw outOfMemory(run)
    if (code !== 0 && !isPassedOver) {
      throw complaint(run.name, withoutSecrets(words.replaceAll(countOfErrors, ''), [password]))
    }
  } finally {
    run.signal.removeEventListener('abort', stop)
  }
}

/** A program's own words. A server that lacks memory says so behind `ERROR:`. */
const ownMemory =
  /^(?!.*\b(?:ERROR|FATAL|PANIC):).*(?:out of memory|[cC]annot allocate memory|memory exhausted)/m

function outOfMemory({ name, programs: { memoryBytesMax } }: ProgramRun): DatabaseEngineError {
  const megabytes = memoryBytesMax / 2 ** 20
  const message = `${name} needs more than ${megabytes} MB of memory for what its server answers. Where the database is that large, raise ARMATURE_MIGRATIONS_CLIENT_MEMORY and validate or migrate again.`
  return new DatabaseEngineError('refused', message)
}

const away = 'no connection to its server'
/** A server's message about a connection is kept; the network's would tell open ports from closed ones. */
const networkWords =
  /connection to server at [^\n]*failed: (?!FATAL|SSL error|server certificate|server does not support SSL)[^\n]*(?:\n\t[^\n]*)*/g

function complaint(name: string, words: string): DatabaseEngineError {
  // Each line begins with the program's name.
  const own = words.trim().replaceAll(/^pg_\w+: (?:error: )?/gm, '')
  const said = own === '' ? 'it failed without a word.' : own
  const text = said.replace(networkWords, away)
  // A server in another language leaves the programs' own words, which come with a lost connection. A snapshot ends
  // with the session that exported it, as when the server restarts.
  const gone =
    /no connection to its server|could not connect|connection to server .* failed|closed the connection|closed unexpectedly|terminating connection|starting up|shutting down|lock timeout|deadlock detected|too many clients|no connection to the server/
  const isGone = gone.test(text) || lostSnapshot.test(text)
  return new DatabaseEngineError(isGone ? 'unavailable' : 'refused', `${name}: ${text}`)
}
