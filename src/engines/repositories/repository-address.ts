/**
 * Reads what a user wrote as the address of a repository and decides whether `git` may be given it. Addresses
 * of git can run programs (`ext::`, `ssh` with options), so only plain URLs of allowed schemes pass.
 */

import { RepositoryError } from './repository-error.ts'

export type RepositoryScheme = 'https' | 'http' | 'file'

export interface RepositoryAddress {
  /** Without user and password. */
  readonly url: string
  /** For the header `Authorization`; kept from the command line, which other users can see. */
  readonly authorization: string | undefined
}

const addressCharactersMax = 2000
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const forbidden = /[\s\u0000-\u001f\u007f\\]/
const revisionPattern = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,254}$/

/** Throws `RepositoryError` for an address that is not allowed. */
export function readAddress(text: string, schemes: readonly RepositoryScheme[]): RepositoryAddress {
  const url = text.length > addressCharactersMax || forbidden.test(text) ? null : URL.parse(text)
  const scheme = schemes.find((one) => url?.protocol === `${one}:`)
  if (url === null || scheme === undefined || !text.toLowerCase().startsWith(`${scheme}://`)) {
    throw new RepositoryError(
      'never',
      `the address of a repository begins with ${schemes.map((one) => `${one}://`).join(' or ')}`,
    )
  }
  if (url.hostname.startsWith('-') || (scheme !== 'file' && url.hostname === '')) {
    throw new RepositoryError('never', 'the address of the repository names no host')
  }
  const { username, password } = url
  url.username = ''
  url.password = ''
  const pair = `${decode(username)}:${decode(password)}`
  return {
    url: url.href,
    authorization:
      username === '' && password === ''
        ? undefined
        : `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`,
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // Not encoded at all: it means itself.
    return part
  }
}

/** Throws `RepositoryError` for what is no plain branch, tag or commit. */
export function checkRevision(revision: string): string {
  if (revisionPattern.test(revision) && !revision.includes('..')) return revision
  throw new RepositoryError('never', 'the revision is no name of a branch, a tag or a commit')
}

/** What stands before each file's name in the archive. Throws `RepositoryError` for a way out of the volume. */
export function prefixOf(directory: string): string {
  const parts = directory.split('/').filter((part) => part !== '' && part !== '.')
  const isBad = directory.startsWith('/') || parts.includes('..') || forbidden.test(directory)
  if (isBad || directory.length > addressCharactersMax) {
    throw new RepositoryError('never', 'the directory does not lie in the volume')
  }
  return parts.length === 0 ? '' : `${parts.join('/')}/`
}
