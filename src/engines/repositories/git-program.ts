/**
 * Runs the host's `git`, bounded in time, memory and what it writes, with a configuration of its own: nothing of
 * the machine or of a user is read, nobody is asked for a password, and only allowed transports are used.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { withoutSecrets } from '#kernel/short-words.ts'
import { programMissing, withinMemory } from '#outbound/bounded-program.ts'
import type { RepositoryScheme } from './repository-address.ts'
import { RepositoryError } from './repository-error.ts'

export interface GitProgram {
  readonly program: string
  /** Where programs are looked for, git's own helpers included. */
  readonly searchPath: string
  /** Further variables of the environment: certificates. */
  readonly environment: Readonly<Record<string, string>>
  readonly schemes: readonly RepositoryScheme[]
  /** The bound of memory, for git and for each of its helpers. */
  readonly memoryBytesMax: number
}

/** Git ended with a failure. The message is its last words, which may hold text of any server: never for a user. */
export class GitFailed extends Error {}

export interface Run {
  readonly folder: string
  readonly arguments: readonly string[]
  readonly signal: AbortSignal
  /** Settings by name, kept from the command line. */
  readonly settings?: Readonly<Record<string, string>>
  /** Taken out of what git says: it repeats the words of servers. */
  readonly secrets?: readonly string[]
}

const shownCharactersMax = 4000
/** How often the folder is measured while git writes. */
const measureMilliseconds = 200

/** What git would hold in memory by its own defaults: whole packs, and files of half a gigabyte. */
const frugal: Readonly<Record<string, string>> = {
  'core.bigFileThreshold': '64m',
  'core.packedGitWindowSize': '32m',
  'core.packedGitLimit': '256m',
  'pack.threads': '1',
  // It tidies in a process of its own, outside of the group, which writes while the folder is removed.
  'maintenance.auto': 'false',
  'gc.auto': '0',
}
const outOfMemory =
  /out of memory|cannot allocate memory|malloc failed|realloc failed|unable to create thread/i

type Child = ChildProcessByStdio<null, Readable, Readable>

function start(git: GitProgram, run: Run): Child {
  const settings = Object.entries({ ...frugal, ...run.settings })
  const given = { program: git.program, args: ['-C', run.folder, ...run.arguments] }
  const { program, args } = withinMemory(given, git.memoryBytesMax)
  return spawn(program, [...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: run.signal,
    killSignal: 'SIGKILL',
    // A group of its own, so that git's helpers end with it.
    detached: true,
    env: {
      ...git.environment,
      PATH: git.searchPath,
      HOME: run.folder,
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: 'true',
      // No file has this name: a server of a caller would get a ticket of git's user.
      KRB5CCNAME: '/dev/null/none',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([name, value], at) => [
          [`GIT_CONFIG_KEY_${at}`, name],
          [`GIT_CONFIG_VALUE_${at}`, value],
        ]),
      ),
      // Git refuses every other transport, also where a server redirects.
      GIT_ALLOW_PROTOCOL: git.schemes.join(':'),
      GIT_PROTOCOL_FROM_USER: '0',
    },
  })
}

/** Of what git may write. */
export interface FolderBounds {
  readonly bytesMax: number
  readonly filesMax: number
}

/** Runs to the end. Throws `GitFailed`; `RepositoryError` when it takes too long, or `folder` outgrows its bounds. */
export async function runGit(git: GitProgram, run: Run, bounds: FolderBounds): Promise<string> {
  const tooLarge = new AbortController()
  const child = start(git, { ...run, signal: AbortSignal.any([run.signal, tooLarge.signal]) })
  const stop = watchSize(run.folder, bounds, tooLarge)
  try {
    const out = collect(child.stdout)
    await ended(git, child, run)
    return await out
  } catch (error) {
    // An abort of ours has a reason of its own.
    throw tooLarge.signal.aborted ? tooLarge.signal.reason : error
  } finally {
    stop()
    endGroup(child)
  }
}

/** What git writes, piece by piece; at most `bytesMax`. Leaving the iteration ends git. */
export async function* streamGit(
  git: GitProgram,
  run: Run,
  bytesMax: number,
): AsyncIterable<Uint8Array> {
  const child = start(git, run)
  const end = ended(git, child, run)
  // Whoever leaves early does not wait for the end.
  end.catch(() => {})
  try {
    let bytes = 0
    // Without an encoding a stream yields buffers.
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      bytes += piece.byteLength
      if (bytes > bytesMax) {
        throw new RepositoryError('never', `the files have more than ${bytesMax} bytes`)
      }
      yield piece
    }
    await end
  } finally {
    endGroup(child)
  }
}

async function ended(git: GitProgram, child: Child, { signal, secrets = [] }: Run): Promise<void> {
  const problem = collect(child.stderr)
  let code: unknown
  try {
    ;[code] = await once(child, 'close')
  } catch (cause) {
    if (signal.aborted) {
      throw new RepositoryError('later', 'getting the repository took too long', { cause })
    }
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RepositoryError('later', `${git.program} cannot be run: ${reason}`, { cause })
  }
  if (code === 0) return
  if (code === programMissing) {
    throw new RepositoryError('later', `${git.program} cannot be run: it is not there`)
  }
  const words = withoutSecrets((await problem).trim(), secrets)
  if (outOfMemory.test(words)) {
    const reason = `git needs more than ${git.memoryBytesMax} bytes of memory for the repository`
    throw new RepositoryError('never', reason, { cause: new GitFailed(words) })
  }
  throw new GitFailed(words || `git ended with ${String(code)}`)
}

/** The last of what a stream says, as text. Never fails: a broken stream has said what it said. */
async function collect(stream: Readable): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('error', () => {})
  stream.on('data', (piece: string) => {
    text = `${text}${piece}`.slice(-shownCharactersMax)
  })
  await new Promise<void>((resolve) => stream.once('close', resolve))
  return text
}

function endGroup(child: Child): void {
  if (child.pid === undefined || child.exitCode !== null) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // All of it has ended already.
  }
}

function watchSize(folder: string, bounds: FolderBounds, tooLarge: AbortController): () => void {
  let measuring = false
  const timer = setInterval(() => {
    if (measuring) return
    measuring = true
    checkSize(folder, bounds)
      .catch((error: unknown) => {
        // Files come and go while git works; the next look tells.
        if (error instanceof RepositoryError) tooLarge.abort(error)
      })
      .finally(() => {
        measuring = false
      })
  }, measureMilliseconds)
  return () => clearInterval(timer)
}

/** Throws `RepositoryError`. */
export async function checkSize(folder: string, bounds: FolderBounds): Promise<void> {
  const { bytesMax, filesMax } = bounds
  let bytes = 0
  let files = 0
  for await (const path of filesBelow(folder)) {
    files++
    if (files > filesMax) {
      throw new RepositoryError('never', `git keeps the repository in more than ${filesMax} files`)
    }
    bytes += (await lstat(path)).size
    if (bytes > bytesMax) {
      throw new RepositoryError('never', `the repository has more than ${bytesMax} bytes`)
    }
  }
}

export async function removeFolder(folder: string): Promise<void> {
  // Whatever fails here, the last one tries again.
  await removeFiles(folder).catch(() => {})
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
}

async function removeFiles(folder: string): Promise<void> {
  for await (const path of filesBelow(folder)) await rm(path, { force: true })
}

/**
 * One at a time. A server chooses how many there are: a list of all would take memory, and work on all at once would take the
 * threads with which the platform reads files, finds names and checks passwords for everybody.
 */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  const folders = [folder]
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for await (const entry of await opendir(at)) {
      const path = join(at, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else yield path
    }
  }
}
