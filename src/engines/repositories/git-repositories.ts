/**
 * Gets git repositories with the host's `git` and gives their files as tar streams: the files of one commit,
 * without history, submodules or hooks. Nothing of a repository is ever run here.
 */

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGroupRoom } from '#kernel/room.ts'
import { canonicalHost } from '#outbound/address.ts'
import { type ForwardedRequest, openForwardProxy } from '#outbound/forward-proxy.ts'
import { destinationOf, NotReached, noAnswer, type Outbound } from '#outbound/outbound.ts'
import {
  checkSize,
  type FolderBounds,
  GitFailed,
  type GitProgram,
  type Run,
  removeFolder,
  runGit,
  streamGit,
} from './git-program.ts'
import {
  checkRevision,
  prefixOf,
  type RepositoryScheme,
  readAddress,
} from './repository-address.ts'
import { RepositoryError } from './repository-error.ts'

export interface GitOptions {
  /** What git may connect to. It gets no other way out than a proxy that asks this. */
  readonly outbound: Outbound
  /** Which addresses are allowed. Default: `https` and `http`; `file` reads this machine's own disk. */
  readonly schemes?: readonly RepositoryScheme[]
  /** For one repository, from the first connection to the last of its files. */
  readonly secondsMax?: number
  /** How long one waits for others. It may be needed no more, and is asked for again. */
  readonly waitSecondsMax?: number
  /** The bound of what git stores, and of the files themselves. */
  readonly bytesMax?: number
  /** Files that git keeps a repository in: a server of plain files gives an object in each. */
  readonly filesMax?: number
  /** The bound of the memory of git, and of each of its helpers. */
  readonly memoryBytesMax?: number
  /** Repositories fetched at a time, for all owners and for one; others wait. A third is for owners without one. */
  readonly concurrentMax?: number
  readonly concurrentPerOwnerMax?: number
  readonly program?: string
  readonly searchPath?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Where copies are kept for as long as they are needed. */
  readonly folder?: string
  /** Ends all that is under way, whatever its server does, and begins nothing more. */
  readonly signal?: AbortSignal
}

interface RepositoryWish {
  /** For whom: a resource group. Slow servers of one hold up nobody else. */
  readonly owner: string
  readonly repository: string
  /** Where the files go; `.` for the top. */
  readonly directory: string
  readonly revision: string | undefined
  /** Aborted when nobody wants it any more. */
  readonly signal?: AbortSignal | undefined
}

/** A copy on this machine; disposing removes it. */
interface RepositoryCopy extends AsyncDisposable {
  /** The files as a tar stream, from the start at each call. */
  archive(): AsyncIterable<Uint8Array>
}

interface GitRepositories {
  /** Throws `RepositoryError`. */
  fetch(wish: RepositoryWish): Promise<RepositoryCopy>
}

const defaults = {
  schemes: ['https', 'http'] as readonly RepositoryScheme[],
  secondsMax: 300,
  waitSecondsMax: 60,
  bytesMax: 1024 ** 3,
  filesMax: 50_000,
  memoryBytesMax: 1024 ** 3,
  concurrentMax: 6,
  concurrentPerOwnerMax: 2,
  program: 'git',
  searchPath: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
  environment: {},
}
const local = 'refs/armature/wanted'
/** Of one list of branches and tags, which git keeps in memory: some 200,000 of them. */
const listBytesMax = 16 * 1024 ** 2
/** What comes besides the files: lists for two fetches, each by two requests. */
const listsMax = 4

export function gitRepositories(options: GitOptions): GitRepositories {
  const { concurrentMax, concurrentPerOwnerMax, ...settings } = { ...defaults, ...options }
  const {
    outbound,
    waitSecondsMax,
    secondsMax,
    bytesMax,
    filesMax,
    signal: closing,
    ...git
  } = settings
  const parent = options.folder ?? tmpdir()
  const room = createGroupRoom({
    ...{ sumMax: concurrentMax, perOwnerMax: concurrentPerOwnerMax },
    spare: Math.floor(concurrentMax / 3),
  })

  async function copyOf({
    owner,
    repository,
    directory,
    revision,
    signal,
  }: RepositoryWish): Promise<RepositoryCopy> {
    const { url, authorization, secrets } = readAddress(repository, git.schemes)
    const wanted = revision === undefined ? 'HEAD' : checkRevision(revision)
    const prefix = prefixOf(directory)
    const ends = [closing, signal].filter((one) => one !== undefined)
    const waits = AbortSignal.any([...ends, AbortSignal.timeout(waitSecondsMax * 1000)])
    const [entered] = await Promise.allSettled([room.enter(owner, 1, () => waits)])
    using place = new DisposableStack()
    if (entered.status === 'fulfilled') place.defer(entered.value)
    const isOver = ends.some(({ aborted }) => aborted)
    if (isOver) throw new RepositoryError('later', 'nobody waits for it any more')
    if (entered.status === 'rejected') {
      throw new RepositoryError('later', 'other repositories are fetched first')
    }
    const folder = await mkdtemp(join(parent, 'armature-repository-'))
    const files = `${folder}.tar`
    await using undo = new AsyncDisposableStack()
    undo.defer(() => rm(files, { force: true }))
    await using work = new AsyncDisposableStack()
    work.defer(() => removeFolder(folder))
    const out = authorization === undefined ? outbound : onlyTo(outbound, url)
    const way = work.use(await connectionTo(out, url, bytesMax))
    const late = AbortSignal.timeout(secondsMax * 1000)
    const run: Run = {
      folder,
      arguments: [],
      secrets,
      signal: AbortSignal.any([late, ...ends]),
      settings: {
        ...way.settings,
        ...(authorization === undefined
          ? {}
          : { [`http.${url}.extraHeader`]: `Authorization: ${authorization}` }),
      },
    }
    const bounds = { bytesMax, filesMax }
    const found = await fetchCommit(git, run, { url, wanted, bounds }).catch((error: unknown) => {
      throw way.outgrown() ?? notFetched(outbound, url, error)
    })
    await checkSize(folder, bounds)
    const named = prefix === '' ? [] : [`--prefix=${prefix}`]
    const archive = ['archive', '--format=tar', ...named, found.commit]
    // Here and not for each reader: git may take all of its time and memory over it, and places are for that.
    const stream = filesOf(git, { ...run, folder: found.folder, arguments: archive }, bytesMax)
    await pipeline(stream, createWriteStream(files, { flags: 'wx', mode: 0o600 }))
    // Before anything is kept: where this fails, nobody would remove it.
    await work.disposeAsync()
    const kept = undo.move()
    return {
      async *archive() {
        yield* createReadStream(files) as AsyncIterable<Uint8Array>
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    }
  }

  return { fetch: (wish) => copyOf(wish).catch(notKept) }
}

/** The disk is full, or the like. What this machine says of it has its paths: they are for no caller. */
function notKept(error: unknown): never {
  if (error instanceof RepositoryError) throw error
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  const reason = `the repository cannot be kept here now${code}`
  throw new RepositoryError('later', reason, { cause: error })
}

async function* filesOf(git: GitProgram, run: Run, bytesMax: number): AsyncIterable<Uint8Array> {
  try {
    yield* streamGit(git, run, bytesMax)
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause
    throw new RepositoryError('later', 'the files of the repository cannot be read', { cause })
  }
}

interface GitConnection extends AsyncDisposable {
  /** Settings of git. */
  readonly settings: Readonly<Record<string, string>>
  /** What is to be said where more came than may. */
  outgrown(): RepositoryError | undefined
}

/** Git asks for lists by `info/refs` and, in version 2 of its protocol, by a command. Files come by other requests. */
function isForFiles({ method, url, begins }: ForwardedRequest): boolean {
  return method === 'POST'
    ? begins !== '' && !/^[0-9a-f]{4}command=ls-refs/.test(begins)
    : url.includes('/objects/')
}

/** Git repeats a name and password wherever a server redirects it to, so they have no way to another server. */
function onlyTo(outbound: Outbound, url: string): Outbound {
  const server = destinationOf(new URL(url))
  return {
    ...outbound,
    async route(destination) {
      const isIt =
        destination.scheme === server.scheme &&
        destination.port === server.port &&
        canonicalHost(destination.host) === canonicalHost(server.host)
      if (isIt) return await outbound.route(destination)
      const reason = `${server.host} redirects there, and its name and password are for no other server`
      throw outbound.failed(destination, new Error(reason))
    },
  }
}

/** Throws `RepositoryError` for an address that is ruled out already by what it says. */
async function connectionTo(
  outbound: Outbound,
  url: string,
  bytesMax: number,
): Promise<GitConnection> {
  const address = new URL(url)
  if (address.protocol === 'file:') {
    return { settings: {}, outgrown: () => undefined, async [Symbol.asyncDispose]() {} }
  }
  try {
    await outbound.route(destinationOf(address))
  } catch (cause) {
    throw notFetched(outbound, url, cause)
  }
  const sumMax = bytesMax + listsMax * listBytesMax
  const proxy = await openForwardProxy(outbound, {
    bytesMax: sumMax,
    answerBytesMax: (request) => (isForFiles(request) ? sumMax : listBytesMax),
  })
  return {
    settings: { 'http.proxy': proxy.url, 'http.proxyAuthMethod': 'basic' },
    outgrown() {
      const met = proxy.met()
      if (met === undefined) return undefined
      const what =
        met === listBytesMax
          ? `its server sends more than ${listBytesMax} bytes of branches and tags`
          : `the repository has more than ${bytesMax} bytes`
      return new RepositoryError('never', what)
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  }
}

/** What git and servers say may be anything that lies behind the address: it is for the operator alone. */
function notFetched(outbound: Outbound, url: string, error: unknown): unknown {
  if (!(error instanceof GitFailed) && !(error instanceof NotReached)) return error
  const address = new URL(url)
  const { message, isRuledOut } = outbound.failed(destinationOf(address), error)
  if (isRuledOut) return new RepositoryError('never', message, { cause: error })
  const reason = `no git repository can be fetched from '${address.host}': ${noAnswer}, or it wants another name or password`
  return new RepositoryError('later', reason, { cause: error })
}

interface FoundCommit {
  readonly commit: string
  /** The repository that has it. */
  readonly folder: string
}

interface Wanted {
  readonly url: string
  readonly wanted: string
  readonly bounds: FolderBounds
}

/** The one commit where the server gives it by that name; else all branches and tags, to look for it there. */
async function fetchCommit(
  git: GitProgram,
  run: Run,
  { url, wanted, bounds }: Wanted,
): Promise<FoundCommit> {
  const { folder } = run
  await runGit(git, { ...run, arguments: ['init', '--quiet', '--bare'] }, bounds)
  await keepFilesAsTheyAre(folder)
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules']
  const one = ['--', url, `+${wanted}:${local}`]
  try {
    await runGit(git, { ...run, arguments: [...fetch, '--depth=1', ...one] }, bounds)
    return { folder, commit: await commitAt(git, run, local, bounds) }
  } catch (error) {
    // Only what the server cannot give by that name alone is worth looking for in what it has.
    const unknown =
      error instanceof GitFailed &&
      /couldn't find remote ref|not our ref|unadvertised object|support shallow/i.test(
        error.message,
      )
    if (!unknown) throw error
  }
  if (wanted === 'HEAD') {
    await runGit(git, { ...run, arguments: [...fetch, ...one] }, bounds)
    return { folder, commit: await commitAt(git, run, local, bounds) }
  }
  const all = await cloneAll(git, run, url, bounds)
  try {
    return { folder: all, commit: await commitAt(git, { ...run, folder: all }, wanted, bounds) }
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause
    throw new RepositoryError('never', `the repository has no revision '${wanted}'`, { cause })
  }
}

/** A clone keeps the names of branches and tags in one file. A fetch makes a file of each, in folders, which no bound of bytes sees. */
async function cloneAll(
  git: GitProgram,
  run: Run,
  url: string,
  bounds: FolderBounds,
): Promise<string> {
  const folder = join(run.folder, 'all')
  // Tags by themselves would be files again.
  const settings = { ...run.settings, 'remote.origin.fetch': '+refs/tags/*:refs/tags/*' }
  const clone = ['clone', '--quiet', '--bare', '--no-tags', '--', url, folder]
  await runGit(git, { ...run, settings, arguments: clone }, bounds)
  await keepFilesAsTheyAre(folder)
  return folder
}

/**
 * As in a clone. One may ask for the signature of its commit, which git gives to programs that connect to addresses in it. This
 * file is above those of the repository.
 */
async function keepFilesAsTheyAre(folder: string): Promise<void> {
  await mkdir(join(folder, 'info'), { recursive: true })
  await writeFile(join(folder, 'info', 'attributes'), '* -export-subst\n')
}

async function commitAt(
  git: GitProgram,
  run: Run,
  name: string,
  bounds: FolderBounds,
): Promise<string> {
  const parse = ['rev-parse', '--verify', '--end-of-options', `${name}^{commit}`]
  return (await runGit(git, { ...run, arguments: parse }, bounds)).trim()
}
