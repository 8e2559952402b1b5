/**
 * What a process knows of the installation's key. It reads from the store which key seals and whether a rotation is
 * running, holds the keys that follow from it, and takes part in a rotation.
 */

import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { Keyring } from '#sealing/keyring.ts'
import type { SealingKey } from '#sealing/sealing-key.ts'
import { forEverybody } from '#stores/awaited.ts'
import { type Store, StoreUnavailable } from '#stores/store.ts'
import type { MaybePromise } from './outside-key.ts'
import { insertMember, type RotationRow, readKeyState } from './rotation-record.ts'

/** How often a missing key is looked for. */
const askMilliseconds = 10_000

/** A single process on a file does not have to wait for others. */
const defaultWaits: Readonly<Record<Store['dialect'], RotationWaits>> = {
  sqlite: { pollMilliseconds: 0, knownMilliseconds: 0, waitMilliseconds: 0, silentMilliseconds: 0 },
  postgres: {
    pollMilliseconds: 1000,
    knownMilliseconds: 3000,
    waitMilliseconds: 5000,
    silentMilliseconds: 8000,
  },
}

export interface RotationWaits {
  /** How often the state is read. */
  readonly pollMilliseconds: number
  /** How old the known state may be when a transaction begins. */
  readonly knownMilliseconds: number
  /** The time after a change until every process that begins a transaction knows of it. */
  readonly waitMilliseconds: number
  /** The silence after which another process takes over the work. */
  readonly silentMilliseconds: number
}

export interface RotationOptions {
  /** The store itself, not the guarded one. */
  readonly store: Store
  readonly keyring: Keyring
  /** The keys this process was started with. */
  readonly keys: readonly SealingKey[]
  /** The next key, if it is given now. Asked when a rotation begins or is noticed. */
  readonly nextKey: () => MaybePromise<SealingKey | undefined>
  /** Called when the rotation to that key has ended: the next start must find the key. */
  readonly onRotated: (to: SealingKey) => void
  /** Describes this process for the operator. */
  readonly place: string
  readonly clock: Clock
  /** Milliseconds of a clock that nobody moves. */
  readonly ticks: () => number
  readonly ids: Ids
  readonly log: Log
  /** The waits of the store's dialect when left out. */
  readonly waits?: RotationWaits
}

export interface RotationFollower {
  /** The id of this process. */
  readonly processId: string
  readonly wait: RotationWaits
  /** The rotation as last read, and since when its row has been the same. */
  readonly seen: { readonly row: RotationRow; readonly at: number } | undefined
  /** Throws `StoreUnavailable` when this process lacks a key. */
  refresh(): Promise<void>
  /**
   * Whether the state was read recently, by both clocks: one stands still while a machine sleeps, the other may be
   * set back.
   */
  isKnown(): boolean
  hold(key: SealingKey): void
}

/** The keys of a process: those that it was started with, and the next one when it is needed. */
function heldKeys({ keys, nextKey, ticks, log }: RotationOptions) {
  const held = new Map(keys.map((key) => [key.proof, key]))
  /** When the next key was last asked for. */
  let last: number | undefined
  /** Until a command has ended. */
  let running: Promise<void> | undefined

  function find(proof: string): SealingKey | undefined {
    if (!held.has(proof)) ask()
    return held.get(proof)
  }

  /** Asks for the next key, unless that was done a moment ago. */
  function ask(): void {
    if (running !== undefined || (last !== undefined && ticks() - last < askMilliseconds)) return
    last = ticks()
    try {
      const next = nextKey()
      if (next instanceof Promise) {
        running = next.then(holdNext, unreadable).finally(() => {
          last = ticks()
          running = undefined
        })
      } else holdNext(next)
    } catch (error) {
      unreadable(error)
    }
  }

  function holdNext(key: SealingKey | undefined): void {
    if (key !== undefined) held.set(key.proof, key)
  }

  function unreadable(error: unknown): void {
    log.error({ err: error }, 'the next key of the installation cannot be read')
  }

  async function need(proof: string): Promise<SealingKey> {
    if (find(proof) === undefined) await running
    const key = held.get(proof)
    if (key !== undefined) return key
    throw new StoreUnavailable(
      `this store belongs to an installation with another key: it needs ${proof.slice(0, 12)}, and this process has ${[...held.values()].map(({ id }) => id).join(', ')}. Give this process that key (ARMATURE_KEY, ARMATURE_KEY_FILE, ARMATURE_KEY_COMMAND, or installation.key of the first home); while a rotation is under way it needs the old key and the new one (ARMATURE_KEY_NEXT and the like, or installation.key.next).`,
      'never',
    )
  }

  return { find, need, hold: (key: SealingKey) => void held.set(key.proof, key) }
}

export function followRotation(options: RotationOptions): RotationFollower {
  const { store, keyring, clock, ticks, log } = options
  const wait = options.waits ?? defaultWaits[store.dialect]
  const processId = options.ids.uuid()
  const { find, need, hold } = heldKeys(options)
  /** The key that the next start uses. */
  let lasting = options.keys[0]?.proof
  let replaced: SealingKey | undefined
  let known: { at: number; clock: number } | undefined
  let refreshing: Promise<void> | undefined
  /** The rotation this process takes part in: when it began, the proof of its new key, and whether the key was there. */
  let joined: string | undefined
  let seen: { row: RotationRow; at: number } | undefined

  async function read(): Promise<void> {
    const at = { at: ticks(), clock: clock.now() }
    const { proof, rotation } = await readKeyState(store.sql)
    if (proof === undefined) return
    if (rotation === undefined) await settle(proof)
    else await follow(rotation)
    known = at
  }

  /** Called when no rotation is running. */
  async function settle(proof: string): Promise<void> {
    seen = undefined
    joined = undefined
    const key = await need(proof)
    const old = keyring.current.proof === proof ? replaced : keyring.current
    // Text in memory may be sealed with the old key and may still be written.
    keyring.hold(key, old === undefined ? {} : { replaces: [old] })
    replaced = old
    if (key.proof === lasting) return
    lasting = key.proof
    options.onRotated(key)
    log.info({ keyId: key.id }, "the installation's key was rotated")
  }

  async function follow(rotation: RotationRow): Promise<void> {
    const isSilent = seen?.row.beat === rotation.beat && seen.row.owner === rotation.owner
    seen = { row: rotation, at: isSilent && seen !== undefined ? seen.at : ticks() }
    const from = await need(rotation.from)
    if (rotation.phase === 'gathering') {
      // A command that takes long is not waited for: writes go on, and the rotation is refused meanwhile.
      const to = find(rotation.to)
      keyring.hold(from, { opens: to === undefined ? [] : [to] })
      // One that was refused may be begun again before this process has seen that there is none.
      const joining = `${rotation.startedAt} ${rotation.to} ${to !== undefined}`
      if (joined !== joining) {
        await insertMember(store.sql, {
          process: processId,
          place: options.place,
          holds: to !== undefined,
        })
        joined = joining
      }
      return
    }
    const to = await need(rotation.to)
    replaced = from
    keyring.hold(to, { opens: [from], replaces: [from] })
  }

  function refresh(): Promise<void> {
    refreshing ??= forEverybody(read).finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  function isKnown(): boolean {
    if (known === undefined) return false
    const since = Math.max(ticks() - known.at, Math.abs(clock.now() - known.clock))
    return since <= wait.knownMilliseconds
  }

  return {
    processId,
    wait,
    get seen() {
      return seen
    },
    refresh,
    isKnown,
    hold,
  }
}
