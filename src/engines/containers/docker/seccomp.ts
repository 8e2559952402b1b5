/**
 * The seccomp profile of containers on Podman: the engine's own, without what a program could hold the engine with. In a user namespace of
 * its own a program removes files over which something is mounted, and with a lease it makes each opening of a file wait. Both reach the
 * accounts of its container, which the engine and the runtime open while they hold its lock. Keys and the log of the kernel belong to the host:
 * who fills its number of keys keeps every container from starting. Docker's own profile has none of these.
 */

import { posix } from 'node:path'
import { EngineError } from '../engine.ts'
import { at, booleanAt, entriesAt, type Json, listAt, parseJson, textAt } from '../json.ts'
import { type DockerClient, noAnswerInTime } from './client.ts'
import { type Place, silentSeconds } from './file-look.ts'
import { readIn } from './host-side.ts'
import type { TarEntry } from './tar.ts'

/** Where the folder of the engine's profile is read, in a container that is never started. */
export const engineMount = '/armature-engine'
/** The profile in the volume of accounts. */
export const profileName = 'seccomp.json'

const newUser = 0x10000000
/** `F_SETLEASE` has no other of these bits, and `F_SETDELEG`, which does the same, one that is left out here. */
const setLease = 0x400
const bitsOfOthers = [0, 1, 2, 3, 5, 6, 7, 8, 9].map((bit) => 2 ** bit)
const notImplemented = 38

/** Calls that are allowed by one of these conditions alone, or not at all: argument, mask and value. */
const conditionsByCall: Readonly<Record<string, readonly (readonly [number, number, number])[]>> = {
  clone: [[0, newUser, 0]],
  unshare: [[0, newUser, 0]],
  fcntl: leases(),
  fcntl64: leases(),
  // Its flags are out of sight. Programs then call `clone`.
  clone3: [],
  keyctl: [],
  add_key: [],
  request_key: [],
  syslog: [],
}

function leases(): readonly (readonly [number, number, number])[] {
  return [[1, setLease, 0], ...bitsOfOthers.map((bit) => [1, bit, bit] as const)]
}

/** A profile as the engine reads it, narrowed where it allows these calls to everybody. */
export function narrowed(profile: Json): Json {
  const isOpen = (rule: Json): boolean =>
    textAt(rule, 'action') === 'SCMP_ACT_ALLOW' &&
    listAt(rule, 'args').length === 0 &&
    ['includes', 'excludes'].every((key) => entriesAt(rule, key).length === 0)
  const rules = listAt(profile, 'syscalls')
  const namesOf = (rule: Json): readonly string[] => listAt(rule, 'names').map(String)
  const open = new Set(rules.filter(isOpen).flatMap(namesOf))
  const kept = rules.map((rule) =>
    isOpen(rule)
      ? {
          ...Object.fromEntries(entriesAt(rule)),
          names: namesOf(rule).filter((name) => !Object.hasOwn(conditionsByCall, name)),
        }
      : rule,
  )
  const added = Object.entries(conditionsByCall).flatMap(([name, conditions]): readonly Json[] => {
    if (!open.has(name)) return []
    if (conditions.length === 0) {
      return [{ names: [name], action: 'SCMP_ACT_ERRNO', errnoRet: notImplemented }]
    }
    return conditions.map(([index, value, valueTwo]) => ({
      names: [name],
      action: 'SCMP_ACT_ALLOW',
      args: [{ index, value, valueTwo, op: 'SCMP_CMP_MASKED_EQ' }],
    }))
  })
  return { ...Object.fromEntries(entriesAt(profile)), syscalls: [...kept, ...added] }
}

/** Reads the profile of an engine once. One that is no plain file there, or is gone, is none. */
export class SeccompSource {
  readonly #client: DockerClient
  #path: Promise<string> | undefined
  #entry: Promise<TarEntry | undefined> | undefined

  constructor(client: DockerClient) {
    this.#client = client
  }

  /** The folder of the engine's host in which its profile is; undefined where it has no file of it, or no seccomp. */
  async folder(): Promise<string | undefined> {
    this.#path ??= this.#find()
    this.#path.catch(() => {
      this.#path = undefined
    })
    const [found] = await Promise.allSettled([this.#path])
    if (found.status === 'fulfilled') {
      return posix.isAbsolute(found.value) ? posix.dirname(found.value) : undefined
    }
    const error: unknown = found.reason
    // The engine waits for a container that its program holds. Groups of others do not wait for it as well.
    if (error instanceof EngineError && error.message.endsWith(noAnswerInTime)) return undefined
    throw error
  }

  /** The narrowed profile, read out of a container that has `folder` mounted. */
  async profile(from: Place & { readonly image: string }): Promise<TarEntry | undefined> {
    if ((await this.folder()) === undefined) return undefined
    this.#entry ??= this.#read(from)
    this.#entry.catch(() => {
      this.#entry = undefined
    })
    return await this.#entry
  }

  async #find(): Promise<string> {
    const call = {
      method: 'GET',
      api: 'libpod',
      path: '/info',
      doing: 'ask for the profile',
      silentSeconds,
    } as const
    const security = at(await this.#client.json(call), 'host', 'security')
    return booleanAt(security, 'seccompEnabled') ? textAt(security, 'seccompProfilePath') : ''
  }

  async #read(from: Place & { readonly image: string }): Promise<TarEntry | undefined> {
    const name = posix.basename((await this.#path) ?? '')
    const [found] = await Promise.allSettled([readIn(from, posix.join(engineMount, name))])
    if (found.status === 'rejected') {
      const error: unknown = found.reason
      if (error instanceof EngineError && error.kind !== 'unavailable') return undefined
      throw error
    }
    const bytes = found.value
    const profile = parseJson(Buffer.from(bytes).toString('utf8'))
    if (listAt(profile, 'syscalls').length === 0) return undefined
    return { name: profileName, mode: 0o644, bytes: Buffer.from(JSON.stringify(narrowed(profile))) }
  }
}
