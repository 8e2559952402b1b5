/**
 * Reads what a user wrote as the address of a repository and decides whether `git` may be given it. Addresses
 * of git can run programs (`ext::`, `ssh` with options), so only plain URLs of allowed schemes pass.
 */

import { RepositoryError } from './repository-error.ts'

export type RepositoryScheme = 'https' | 'http' | 'file'

interface RepositoryAddress {
  /** Without user and password. */
  readonly url: string
  /** For the header `Authorization`; kept from the command line, which other users can see. */
  readonly authorization: string | undefined
  /** What must not be in what is told. */
  readonly secrets: readonly string[]
}

const addressCharactersMax = 2000
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const forbidden = /[\s\u0000-\u001f\u007f\\]/
const revisionPattern = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,254}$/

/** What is wrong with the address of a repository, or undefined. */
export function addressProblem(
  text: string,
  schemes: readonly RepositoryScheme[],
): string | undefined {
  const url = text.length > addressCharactersMax || forbidden.test(text) ? null : URL.parse(text)
  const scheme = schemes.find((one) => url?.protocol === `${one}:`)
  if (url === null || scheme === undefined || !text.toLowerCase().startsWith(`${scheme}://`)) {
    return `the address of a repository begins with ${schemes.map((one) => `${one}://`).join(' or ')}`
  }
  return url.hostname.startsWith('-') || (scheme !== 'file' && url.hostname === '')
    ? 'the address of the repository names no host'
    : undefined
}

/** Throws `RepositoryError` for an address that is not allowed. */
export function readAddress(text: string, schemes: readonly RepositoryScheme[]): RepositoryAddress {
  const problem = addressProblem(text, schemes)
  const url = URL.parse(text)
  if (problem !== undefined || url === null) {
    throw new RepositoryError('never', problem ?? 'the address of the repository cannot be read')
  }
  const { username, password } = url
  url.username = ''
  url.password = ''
  if (username === '' && password === '') {
    return { url: url.href, authorization: undefined, secrets: [] }
  }
  const basic = Buffer.from(`${decode(username)}:${decode(password)}`, 'utf8').toString('base64')
  // A token may stand in the place of the name.
  const secrets = [basic, decode(password), ...(password === '' ? [decode(username)] : [])]
  return { url: url.href, authorization: `Basic ${basic}`, secrets }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // Not encoded at all: it means itself.
    return part
  }
}

/** What is wrong with a revision that is no plain branch, tag or commit. */
export function revisionProblem(revision: string): string | undefined {
  return revisionPattern.test(revision) && !revision.includes('..')
    ? undefined
    : 'the revision is no name of a branch, a tag or a commit'
}

/** Throws `RepositoryError` for what is no plain branch, tag or commit. */
export function checkRevision(revision: string): string {
  const problem = revisionProblem(revision)
  if (problem !== undefined) throw new RepositoryError('never', problem)
  return revision
}

/** What is wrong with a directory that leads out of the volume or begins as an option does. */
export function directoryProblem(directory: string): string | undefined {
  const isOut = directory.startsWith('/') || directory.split('/').includes('..')
  const isBad = isOut || directory.startsWith('-') || forbidden.test(directory)
  return isBad || directory.length > addressCharactersMax || !directory.isWellFormed()
    ? 'the directory does not lie in the volume'
    : undefined
}

/** What stands before each file's name in the archive. Throws `RepositoryError` for a way out of the volume. */
export function prefixOf(directory: string): string {
  const problem = directoryProblem(directory)
  if (problem !== undefined) throw new RepositoryError('never', problem)
  const parts = directory.split('/').filter((part) => part !== '' && part !== '.')
  return parts.length === 0 ? '' : `${parts.join('/')}/`
}
