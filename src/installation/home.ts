/**
 * The home folder as the server writes it: the installation's key, the owner's first credentials, and the address
 * of the running process. Only the user may read it (0600). The command line never writes to it.
 */

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'

export interface OwnerCredentials {
  readonly principalId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly signInName: string
  readonly password: string
}

export interface RunningNote {
  /** The address clients use. */
  readonly url: string
  /** The address by which this machine reaches the server. */
  readonly localUrl: string
  readonly httpUrl: string
  readonly httpsUrl?: string
  /** The certificate authority that clients of https must trust. */
  readonly authorityFile?: string
  readonly pid: number
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  readonly words: { readonly namespace: string; readonly brand: string }
}

export interface ServerHome {
  readonly folder: string
  /** The file of the embedded store. */
  readonly databasePath: string
  /** For files of work that does not survive the process, such as copies of repositories. */
  readonly temporaryFolder: string
  /** Removes what a killed server left there. Only the server that has opened the store of this home may do it. */
  emptyTemporaryFolder(): void
  /** 32 bytes; undefined when this home has no key yet. */
  key(): Uint8Array | undefined
  /** Creates and stores a key. */
  createKey(): Uint8Array
  /** The next key during a rotation; undefined when this home has none. */
  nextKey(): Uint8Array | undefined
  /** Creates and stores the next key. */
  createNextKey(): Uint8Array
  /** Makes the next key the current one. The old key stays beside it under the given id. */
  takeNextKey(oldId: string): void
  /** The secret by which whoever may read the home gets tokens of the owner. Created on first use. */
  localTokenSecret(): string
  writeOwner(credentials: OwnerCredentials): void
  hasOwner(): boolean
  writeRunning(note: RunningNote): void
  removeRunning(): void
}

const keyBytes = 32

export function openServerHome(folder: string): ServerHome {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const keyPath = join(folder, 'installation.key')
  const nextPath = join(folder, 'installation.key.next')
  const secretPath = join(folder, 'local-token.secret')
  const ownerPath = join(folder, 'owner.json')
  const runningPath = join(folder, 'running.json')
  const temporaryFolder = join(folder, 'temporary')
  return {
    folder,
    databasePath: join(folder, 'armature.db'),
    temporaryFolder,
    emptyTemporaryFolder() {
      rmSync(temporaryFolder, { recursive: true, force: true })
      mkdirSync(temporaryFolder, { mode: 0o700 })
    },
    key: () => readKey(keyPath),
    createKey: () => createKey(keyPath),
    nextKey: () => readKey(nextPath),
    createNextKey: () => createKey(nextPath),
    takeNextKey(oldId) {
      // The link comes first: the home always has a key, and a start that finds both takes the right one.
      rmSync(`${keyPath}.old-${oldId}`, { force: true })
      if (existsSync(keyPath)) linkSync(keyPath, `${keyPath}.old-${oldId}`)
      renameSync(nextPath, keyPath)
    },
    localTokenSecret() {
      const known = existsSync(secretPath) ? readFileSync(secretPath, 'utf8').trim() : ''
      // Whoever sends nothing would know an empty one. A loss of power may have left it, or zeros.
      if (/^[!-~]+$/.test(known)) return known
      const secret = randomBytes(keyBytes).toString('base64url')
      replaceFile(secretPath, `${secret}\n`, { isDurable: true })
      return secret
    },
    writeOwner: (credentials) =>
      replaceFile(ownerPath, `${JSON.stringify(credentials, undefined, 2)}\n`, { isDurable: true }),
    hasOwner: () => existsSync(ownerPath),
    writeRunning: (note) => replaceFile(runningPath, `${JSON.stringify(note, undefined, 2)}\n`),
    removeRunning: () => rmSync(runningPath, { force: true }),
  }
}

function readKey(path: string): Uint8Array | undefined {
  if (!existsSync(path)) return undefined
  const key = decodeKey(readFileSync(path, 'utf8'))
  if (key === undefined) throw new Error(`${path} does not hold a key of ${keyBytes} bytes`)
  return key
}

function createKey(path: string): Uint8Array {
  const key = randomBytes(keyBytes)
  // The store flushes what is sealed with it: a loss of power must not keep that and lose the key.
  replaceFile(path, `${key.toString('base64')}\n`, { isDurable: true })
  return key
}

/** Reads a stored key: base64 of 32 bytes. */
export function decodeKey(text: string): Uint8Array | undefined {
  const key = Buffer.from(text.trim(), 'base64')
  return key.length === keyBytes ? key : undefined
}
