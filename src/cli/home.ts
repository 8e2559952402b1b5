/**
 * The files of the home folder that the command line reads: the address of the server, the owner's credentials, the
 * session of `login`, and the owner's last token. It writes only the last two, and the defaults.
 */

import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import { isOfAnotherUser } from '../config.ts'
import { LocalProblem } from './command.ts'

/** The server writes this while it runs. */
export interface RunningFile {
  /** The address clients use. */
  readonly url: string
  /** The address by which this machine reaches the server. */
  readonly localUrl?: string
  readonly httpUrl?: string
  readonly httpsUrl?: string
  /** The certificate authority that https clients must trust. */
  readonly authorityFile?: string
  readonly pid: number
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  readonly words?: { readonly namespace: string; readonly brand: string }
}

/** The first start writes this. */
export interface OwnerFile {
  readonly principalId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly signInName: string
  readonly password: string
}

/** `login` writes this. */
export interface SessionFile {
  readonly url: string
  readonly clientId: string
  readonly accessToken: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly refreshToken?: string
}

/** The token of the owner's last command. */
interface TokenFile {
  readonly clientId: string
  readonly accessToken: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

export interface Home {
  readonly folder: string
  /** The embedded store; missing when the store is PostgreSQL. */
  readonly databaseFile: string
  /** The installation's key; missing when the key comes from outside. */
  readonly keyFile: string
  running(): RunningFile | undefined
  owner(): OwnerFile | undefined
  session(): SessionFile | undefined
  /** The secret of the local owner's token endpoint. */
  localTokenSecret(): string | undefined
  /** The values of `config set`, for options that are not given. */
  defaults(): Readonly<Record<string, string>>
  writeDefaults(values: Readonly<Record<string, string>>): void
  writeSession(session: SessionFile): void
  /** Undefined also for a damaged file: another token replaces it. */
  token(): TokenFile | undefined
  /** Does nothing where the home cannot be written to. */
  writeToken(token: TokenFile): void
  removeSession(): boolean
}

/** The folder a start creates when no other home is set. */
const usualName = '.armature'

/**
 * Finds the home of a command. If the default one does not exist, it is the nearest one above: a command in a
 * subfolder means the installation of its project. A home of another user is not used, since commands trust its
 * content.
 */
export function nearestHome(folder: string): string {
  if (basename(folder) !== usualName || isOwnFolder(folder)) return folder
  for (let below = dirname(folder); below !== dirname(below); below = dirname(below)) {
    const above = join(dirname(below), usualName)
    if (isOwnFolder(above)) return above
  }
  return folder
}

function isOwnFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && !isOfAnotherUser(path)
}

export function openHome(folder: string): Home {
  const session = join(folder, 'session.json')
  const token = join(folder, 'token.json')
  const defaults = join(folder, 'defaults.json')
  const write = (file: string, value: object): void => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    replaceFile(file, `${JSON.stringify(value, undefined, 2)}\n`)
  }
  return {
    folder,
    databaseFile: join(folder, 'armature.db'),
    keyFile: join(folder, 'installation.key'),
    running: () =>
      readTexts<RunningFile>(join(folder, 'running.json'), [
        'url',
        'tenantId',
        'subscriptionId',
        'principalId',
      ]),
    owner: () => readTexts<OwnerFile>(join(folder, 'owner.json'), ['clientId', 'clientSecret']),
    localTokenSecret: () => readText(join(folder, 'local-token.secret'))?.trim(),
    session: () => readTexts<SessionFile>(session, ['url', 'clientId', 'accessToken']),
    defaults: () => readTexts<Record<string, string>>(defaults, []) ?? {},
    writeDefaults: (values) => write(defaults, values),
    writeSession: (value) => write(session, value),
    token() {
      const value = parseObject(readText(token) ?? '')
      const isWhole =
        typeof value?.['clientId'] === 'string' &&
        typeof value['accessToken'] === 'string' &&
        typeof value['expiresAt'] === 'number'
      // All its members were just checked.
      return isWhole ? (value as unknown as TokenFile) : undefined
    },
    writeToken(value) {
      try {
        write(token, value)
      } catch {
        // A full disk, or a home that may only be read: the next command gets a token of its own.
      }
    },
    removeSession() {
      const existed = readText(session) !== undefined
      rmSync(session, { force: true })
      return existed
    },
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // Converts errors of the file system: a missing file is undefined, anything else is for the user to fix.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem('HomeUnreadable', `${path} cannot be read: ${reason}`, { cause: error })
  }
}

/** Reads a file as a `T` after checking that the named members are texts. */
function readTexts<T>(path: string, members: readonly (keyof T & string)[]): T | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  const value = parseObject(text)
  const whole = members.every((member) => typeof value?.[member] === 'string')
  if (!whole) throw new LocalProblem('HomeDamaged', `${path} is not what Armature writes there.`)
  // The important members are there; the others are only displayed.
  return value as T
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown> // `Object` makes one of anything
  } catch {
    // A file that is not JSON counts as damaged.
    return undefined
  }
}
