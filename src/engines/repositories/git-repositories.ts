/**
 * Gets git repositories with the host's `git` and gives their files as tar streams: the files of one commit,
 * without history, submodules or hooks. Nothing of a repository is ever run here.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GitProgram, type Run, runGit, sizeOf, streamGit } from './git-program.ts'
import {
  checkRevision,
  prefixOf,
  type RepositoryScheme,
  readAddress,
} from './repository-address.ts'
import { RepositoryError } from './repository-error.ts'

export interface GitOptions {
  /** Which addresses are allowed. Default: `https` and `http`; `file` reads this machine's own disk. */
  readonly schemes?: readonly RepositoryScheme[]
  /** For one repository, from the first connection to the last byte of the copy. */
  readonly secondsMax?: number
  /** Of what git stores, and of the files themselves. */
  readonly bytesMax?: number
  /** Repositories got at a time; others wait. */
  readonly concurrentMax?: number
  readonly program?: string
  readonly searchPath?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Where copies are kept for as long as they are needed. */
  readonly folder?: string
}

export interface RepositoryWish {
  readonly repository: string
  /** Where the files go; `.` for the top. */
  readonly directory: string
  readonly revision: string | undefined
}

/** A copy on this machine; disposing removes it. */
export interface RepositoryCopy extends AsyncDisposable {
  /** The files as a tar stream, from the start at each call. Throws `RepositoryError` while it is read. */
  archive(): AsyncIterable<Uint8Array>
}

export interface GitRepositories {
  /** Throws `RepositoryError`. */
  fetch(wish: RepositoryWish): Promise<RepositoryCopy>
}

const defaults = {
  schemes: ['https', 'http'] as readonly RepositoryScheme[],
  secondsMax: 300,
  bytesMax: 1024 ** 3,
  concurrentMax: 4,
  program: 'git',
  searchPath: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
  environment: {},
}
const local = 'refs/armature/wanted'

export function gitRepositories(options: GitOptions = {}): GitRepositories {
  const { secondsMax, bytesMax, concurrentMax, ...git } = { ...defaults, ...options }
  const parent = options.folder ?? tmpdir()
  const waiting: (() => void)[] = []
  let running = 0

  async function enter(): Promise<Disposable> {
    if (running >= concurrentMax) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    return {
      [Symbol.dispose]() {
        const next = waiting.shift()
        // The place goes on to the next in line.
        if (next === undefined) running--
        else next()
      },
    }
  }

  return {
    async fetch({ repository, directory, revision }) {
      const { url, authorization } = readAddress(repository, git.schemes)
      const wanted = revision === undefined ? 'HEAD' : checkRevision(revision)
      const prefix = prefixOf(directory)
      using _place = await enter()
      const folder = await mkdtemp(join(parent, 'armature-repository-'))
      await using undo = new AsyncDisposableStack()
      undo.defer(() => rm(folder, { recursive: true, force: true }))
      const run: Run = {
        folder,
        arguments: [],
        signal: AbortSignal.timeout(secondsMax * 1000),
        ...(authorization === undefined
          ? {}
          : { settings: { [`http.${url}.extraHeader`]: `Authorization: ${authorization}` } }),
      }
      await runGit(git, { ...run, arguments: ['init', '--quiet', '--bare'] }, bytesMax)
      const commit = await fetchCommit(git, run, url, wanted, bytesMax)
      if ((await sizeOf(folder)) > bytesMax) {
        throw new RepositoryError('never', `the repository has more than ${bytesMax} bytes`)
      }
      const rest = undo.move()
      return {
        archive: () => {
          const named = prefix === '' ? [] : [`--prefix=${prefix}`]
          const archive = ['archive', '--format=tar', ...named, commit]
          const signal = AbortSignal.timeout(secondsMax * 1000)
          return streamGit(git, { folder, arguments: archive, signal }, bytesMax)
        },
        [Symbol.asyncDispose]: () => rest.disposeAsync(),
      }
    },
  }
}

/** The one commit where the server gives it by that name; else all branches and tags, to look for it there. */
async function fetchCommit(
  git: GitProgram,
  run: Run,
  url: string,
  wanted: string,
  bytesMax: number,
): Promise<string> {
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules']
  const one = [...fetch, '--depth=1', '--', url, `+${wanted}:${local}`]
  try {
    await runGit(git, { ...run, arguments: one }, bytesMax)
    return await commitAt(git, run, local, bytesMax)
  } catch (error) {
    // Only what the server cannot give by that name alone is worth looking for in what it has.
    const unknown =
      error instanceof RepositoryError &&
      /couldn't find remote ref|not our ref|unadvertised object|support shallow/i.test(
        error.message,
      )
    if (!unknown) throw error
  }
  const all =
    wanted === 'HEAD'
      ? [`+HEAD:${local}`]
      : ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']
  await runGit(git, { ...run, arguments: [...fetch, '--', url, ...all] }, bytesMax)
  if (wanted === 'HEAD') return commitAt(git, run, local, bytesMax)
  try {
    return await commitAt(git, run, wanted, bytesMax)
  } catch (cause) {
    throw new RepositoryError('never', `the repository has no revision '${wanted}'`, { cause })
  }
}

async function commitAt(
  git: GitProgram,
  run: Run,
  name: string,
  bytesMax: number,
): Promise<string> {
  const parse = ['rev-parse', '--verify', '--end-of-options', `${name}^{commit}`]
  return (await runGit(git, { ...run, arguments: parse }, bytesMax)).trim()
}
