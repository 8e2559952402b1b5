/**
 * The home folder as the server writes it: the installation's key, the owner's first credentials, and where
 * the process runs. Everything in it is for this user alone (0600); the command line only reads it.
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
  /** What clients use. */
  readonly url: string
  /** By which this machine reaches it. */
  readonly localUrl: string
  readonly httpUrl: string
  readonly httpsUrl?: string
  /** What clients of https have to trust. */
  readonly authorityFile?: string
  readonly pid: number
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  readonly words: { readonly namespace: string; readonly brand: string }
}

export interface ServerHome {
  readonly folder: string
  /** Where the embedded store lives. */
  readonly databasePath: string
  /** 32 bytes; undefined when this home has none yet. */
  key(): Uint8Array | undefined
  /** Makes and keeps a key. */
  createKey(): Uint8Array
  /** The key that a rotation goes to; undefined when this home has none. */
  nextKey(): Uint8Array | undefined
  /** Makes and keeps the key of a rotation. */
  createNextKey(): Uint8Array
  /** The next key becomes the key; the old one stays beside it, under that name. */
  takeNextKey(oldId: string): void
  /** Lets whoever may read the home have tokens of the owner; made at first use. */
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
  return {
    folder,
    databasePath: join(folder, 'armature.db'),
    key: () => readKey(keyPath),
    createKey: () => createKey(keyPath),
    nextKey: () => readKey(nextPath),
    createNextKey: () => createKey(nextPath),
    takeNextKey(oldId) {
      // Linked first: at no moment is the home without a key, and a start that finds both takes the right one.
      rmSync(`${keyPath}.old-${oldId}`, { force: true })
      if (existsSync(keyPath)) linkSync(keyPath, `${keyPath}.old-${oldId}`)
      renameSync(nextPath, keyPath)
    },
    localTokenSecret() {
      if (existsSync(secretPath)) return readFileSync(secretPath, 'utf8').trim()
      const secret = randomBytes(keyBytes).toString('base64url')
      replaceFile(secretPath, `${secret}\n`)
      return secret
    },
    writeOwner: (credentials) =>
      replaceFile(ownerPath, `${JSON.stringify(credentials, undefined, 2)}\n`),
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
  replaceFile(path, `${key.toString('base64')}\n`)
  return key
}

/** A key as it is written: base64 of 32 bytes. */
export function decodeKey(text: string): Uint8Array | undefined {
  const key = Buffer.from(text.trim(), 'base64')
  return key.length === keyBytes ? key : undefined
}
