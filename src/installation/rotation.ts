/**
 * Rotates the installation's key while the installation serves. One process at a time does the work, step by step, and
 * another goes on where it ended; every process reads from the store which key seals. No key is ever in the store.
 *
 * A process begins no transaction unless it knew the state of the store less than `knownMilliseconds` ago (`ready`). So
 * after `waitMilliseconds` every transaction that begins knows of the last change, and those that began before it are
 * waited for (`fence`).
 */

import type { SealingKey } from '#sealing/sealing-key.ts'
import type { Sql } from '#stores/store.ts'
import type { WriteGuard } from './guarded-store.ts'
import { followRotation, type RotationOptions } from './rotation-follower.ts'
import {
  insertRotation,
  type LastRotation,
  membersOf,
  NotTheOwner,
  notesOf,
  type RefusedRotation,
  type RotationMember,
  type RotationRow,
  readKeyState,
} from './rotation-record.ts'
import { rotationWork } from './rotation-work.ts'

interface KeyStatus {
  readonly keyId: string
  readonly rotation?: {
    readonly fromKeyId: string
    readonly toKeyId: string
    readonly phase: RotationRow['phase']
    readonly startedAt: string
    readonly walk: number
    readonly table?: string
    readonly rows: number
    readonly resealed: number
    readonly processes: readonly RotationMember[]
  }
  readonly last?: LastRotation
  readonly refused?: RefusedRotation
}

export interface Rotation extends AsyncDisposable {
  readonly guard: WriteGuard
  /** Reads which key seals, and holds it. Throws `StoreUnavailable` where this process lacks a key. */
  refresh(): Promise<void>
  /** Watches, and works where there is something to do. */
  start(): void
  status(): Promise<KeyStatus>
  /** Begins a rotation to that key, recorded by `sql`. False when one is under way. */
  begin(sql: Sql, to: SealingKey): Promise<boolean>
}

export function openRotation(options: RotationOptions): Rotation {
  const { store, keyring, clock, log } = options
  const follower = followRotation(options)
  const { refresh, wait } = follower
  const work = rotationWork(options, follower)
  let timer: NodeJS.Timeout | undefined
  let underway: Promise<void> = Promise.resolve()
  let ended = false

  function plan(milliseconds: number): void {
    if (ended) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      underway = turn()
    }, milliseconds)
    timer.unref()
  }

  async function turn(): Promise<void> {
    try {
      const next = await work()
      // One process on one file has nothing to watch: only `begin` changes it.
      if (store.dialect === 'postgres' || follower.seen !== undefined) plan(next)
    } catch (error) {
      if (!(error instanceof NotTheOwner)) {
        log.error({ err: error }, "the rotation of the installation's key is held up")
      }
      plan(Math.max(wait.pollMilliseconds, 1000))
    }
  }

  return {
    guard: {
      ready: () => (store.dialect === 'sqlite' || follower.isKnown() ? undefined : refresh()),
      get reseals() {
        return keyring.reseals
      },
      resealing: (text) => keyring.resealing(text),
    },
    refresh,
    start: () => plan(0),
    async status() {
      const { rotation } = await readKeyState(store.sql)
      const { last, refused } = await notesOf(store.sql)
      return {
        keyId: keyring.current.id,
        ...(rotation === undefined
          ? {}
          : { rotation: shownRotation(rotation, await membersOf(store.sql)) }),
        ...(last === undefined ? {} : { last }),
        ...(refused === undefined ? {} : { refused }),
      }
    },
    async begin(sql, to) {
      follower.hold(to)
      const begun = await insertRotation(sql, {
        from: keyring.current.proof,
        to: to.proof,
        owner: follower.processId,
        startedAt: clock.now(),
      })
      if (begun) {
        await refresh()
        plan(0)
      }
      return begun
    },
    async [Symbol.asyncDispose]() {
      ended = true
      clearTimeout(timer)
      await underway
    },
  }
}

function shownRotation(
  row: RotationRow,
  processes: readonly RotationMember[],
): NonNullable<KeyStatus['rotation']> {
  const { progress } = row
  return {
    fromKeyId: row.from.slice(0, 12),
    toKeyId: row.to.slice(0, 12),
    phase: row.phase,
    startedAt: new Date(row.startedAt).toISOString(),
    walk: progress.walks + 1,
    ...(progress.position === null ? {} : { table: progress.position.table }),
    rows: progress.rows,
    resealed: progress.resealed,
    processes,
  }
}
