/**
 * Rotates the installation's key while the installation serves. One process at a time does the work, step by step, and
 * another goes on where it ended; every process reads from the store which key seals. No key is ever in the store.
 *
 * A process begins no transaction unless it knew the state of the store less than `knownMilliseconds` ago (`ready`). So
 * after `waitMilliseconds` every transaction that begins knows of the last change, and those that began before it are
 * waited for (`fence`).
 */

import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { Keyring } from '#sealing/keyring.ts'
import type { SealingKey } from '#sealing/sealing-key.ts'
import { type Sql, type Store, StoreUnavailable } from '#stores/store.ts'
import type { WriteGuard } from './guarded-store.ts'
import {
  change,
  finish,
  insertRotation,
  join,
  type LastRotation,
  membersOf,
  NotTheOwner,
  noProgress,
  notesOf,
  type RefusedRotation,
  type RotationMember,
  type RotationProgress,
  type RotationRow,
  readKeyState,
  refuse,
  takeOver,
} from './rotation-record.ts'
import { type TextPlace, textPlaces } from './text-places.ts'
import { walkStep } from './walk.ts'

/** How often a key that is missing is looked for. */
const askMilliseconds = 10_000

/** Transactions of others under way in this database, by the names PostgreSQL gives them. */
const othersUnderWay = `select l.virtualtransaction as name from pg_locks l
  join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'virtualxid' and a.datname = current_database() and a.pid <> pg_backend_pid()
    and coalesce(a.backend_type, 'client backend') = 'client backend'`

/** For one process on one file nothing has to be waited for. */
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
  /** How old it may be where a transaction begins. */
  readonly knownMilliseconds: number
  /** After a change, until every process that begins a transaction knows of it. */
  readonly waitMilliseconds: number
  /** After which another process takes the work over. */
  readonly silentMilliseconds: number
}

interface RotationOptions {
  /** Not the guarded one. */
  readonly store: Store
  readonly keyring: Keyring
  /** The keys this process was started with. */
  readonly keys: readonly SealingKey[]
  /** The next key, where it is given now: asked when a rotation begins or is heard of. */
  readonly nextKey: () => SealingKey | undefined
  /** The rotation to that key has ended: the next start must find it. */
  readonly onRotated: (to: SealingKey) => void
  /** For the operator: which process this is. */
  readonly place: string
  readonly clock: Clock
  /** Milliseconds that nobody moves. */
  readonly ticks: () => number
  readonly ids: Ids
  readonly log: Log
  /** Those of the store’s dialect when left out. */
  readonly waits?: RotationWaits
}

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
  const { store, keyring, clock, ticks, ids, log } = options
  const wait = options.waits ?? defaultWaits[store.dialect]
  const me = ids.uuid()
  const held = new Map(options.keys.map((key) => [key.proof, key]))
  /** The key of the next start. */
  let lasting = options.keys[0]?.proof
  let replaced: SealingKey | undefined
  let asked: number | undefined
  let known: { at: number; clock: number } | undefined
  let refreshing: Promise<void> | undefined
  /** What was joined, by the proof of its new key and whether it was held. */
  let joined: string | undefined
  /** The rotation as last seen, and since when its row looks like that. */
  let seen: { row: RotationRow; at: number } | undefined
  let places: readonly TextPlace[] | undefined
  let timer: NodeJS.Timeout | undefined
  let underway: Promise<void> = Promise.resolve()
  let ended = false

  function find(proof: string): SealingKey | undefined {
    const mayAsk = asked === undefined || ticks() - asked >= askMilliseconds
    if (!held.has(proof) && mayAsk) {
      asked = ticks()
      const next = nextKey()
      if (next !== undefined) held.set(next.proof, next)
    }
    return held.get(proof)
  }

  function nextKey(): SealingKey | undefined {
    try {
      return options.nextKey()
    } catch (error) {
      log.error({ err: error }, 'the next key of the installation cannot be read')
      return undefined
    }
  }

  function need(proof: string): SealingKey {
    const key = find(proof)
    if (key !== undefined) return key
    throw new StoreUnavailable(
      `this store belongs to an installation with another key: it needs ${proof.slice(0, 12)}, and this process has ${[...held.values()].map(({ id }) => id).join(', ')}. Give this process that key (ARMATURE_KEY, ARMATURE_KEY_FILE, ARMATURE_KEY_COMMAND, or installation.key of the first home); while a rotation is under way it needs the old key and the new one (ARMATURE_KEY_NEXT and the like, or installation.key.next).`,
      'never',
    )
  }

  async function read(): Promise<void> {
    const at = { at: ticks(), clock: clock.now() }
    const { proof, rotation } = await readKeyState(store.sql)
    if (proof === undefined) return
    if (rotation === undefined) settle(proof)
    else await follow(rotation)
    known = at
  }

  /** No rotation is under way. */
  function settle(proof: string): void {
    seen = undefined
    joined = undefined
    const old = keyring.current.proof === proof ? replaced : keyring.current
    const key = need(proof)
    // What this process has in memory may be sealed with the old key, and may still be written.
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
    const from = need(rotation.from)
    if (rotation.phase === 'gathering') {
      const to = find(rotation.to)
      keyring.hold(from, { opens: to === undefined ? [] : [to] })
      const joining = `${rotation.to} ${to !== undefined}`
      if (joined !== joining) {
        await join(store.sql, { process: me, place: options.place, holds: to !== undefined })
        joined = joining
      }
      return
    }
    const to = need(rotation.to)
    replaced = from
    keyring.hold(to, { opens: [from], replaces: [from] })
  }

  function refresh(): Promise<void> {
    refreshing ??= read().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  /** By both clocks: one stands still while a machine sleeps, the other may be set back. */
  function isKnown(): boolean {
    if (known === undefined) return false
    const since = Math.max(ticks() - known.at, Math.abs(clock.now() - known.clock))
    return since <= wait.knownMilliseconds
  }

  /** One piece of work; how long to wait for the next. */
  async function work(): Promise<number> {
    if (store.dialect === 'postgres' || seen === undefined) await refresh()
    if (seen === undefined) return wait.pollMilliseconds
    const { row, at } = seen
    if (row.owner !== me) {
      const isSilent = ticks() - at >= wait.silentMilliseconds
      if (!isSilent || !(await takeOver(store.sql, row, me))) return wait.pollMilliseconds
      leading = undefined
      await refresh()
      return 0
    }
    // Since when this process knows of the phase, and whoever else lives does too after the wait.
    if (leading?.phase !== row.phase) leading = { phase: row.phase, since: ticks() }
    const hasWaited = ticks() - leading.since >= wait.waitMilliseconds
    if (row.phase !== 'resealing' && !hasWaited) {
      await store.sql.transact((tx) => change(tx, me, {}))
      return wait.pollMilliseconds
    }
    if (row.phase === 'gathering') await endGathering(row)
    else if (row.phase === 'switching') await beginResealing()
    else if (!(await isFenced(row))) {
      await store.sql.transact((tx) => change(tx, me, {}))
      return wait.pollMilliseconds
    } else await reseal(row)
    await refresh()
    return 0
  }
  let leading: { readonly phase: RotationRow['phase']; readonly since: number } | undefined

  async function endGathering(row: RotationRow): Promise<void> {
    const without = (await membersOf(store.sql)).filter(({ holds }) => !holds)
    if (without.length === 0) {
      await store.sql.transact((tx) => change(tx, me, { phase: 'switching' }))
      return
    }
    const refused: RefusedRotation = {
      toKeyId: row.to.slice(0, 12),
      at: new Date(clock.now()).toISOString(),
      without: without.map(({ place }) => place),
    }
    await store.sql.transact((tx) => refuse(tx, me, refused))
    log.warn(refused, "the installation's key was not rotated: not every process has the new key")
  }

  async function beginResealing(): Promise<void> {
    await store.sql.transact(async (tx) => {
      const others = store.dialect === 'sqlite' ? [] : await tx.all(othersUnderWay)
      const fence = JSON.stringify(others.map((row) => String(row['name'])))
      await change(tx, me, { phase: 'resealing', progress: noProgress, fence })
    })
  }

  /** Have all transactions ended that may have begun without knowing? */
  async function isFenced({ fence }: RotationRow): Promise<boolean> {
    if (store.dialect === 'sqlite' || fence === undefined || fence === '[]') return true
    // Written above.
    const waited = new Set(JSON.parse(fence) as readonly string[])
    const others = await store.sql.all(othersUnderWay)
    return !others.some((row) => waited.has(String(row['name'])))
  }

  async function reseal(row: RotationRow): Promise<void> {
    places ??= await textPlaces(store.sql)
    let progress: RotationProgress = row.progress
    const step = await walkStep(
      {
        store,
        places,
        change: (text) => keyring.reseal(text),
        keep: async (tx, { rows, changed, next }) => {
          progress = {
            walks: row.progress.walks,
            position: next ?? null,
            rows: row.progress.rows + rows,
            resealed: row.progress.resealed + changed,
            resealedInWalk: row.progress.resealedInWalk + changed,
          }
          await change(tx, me, { progress })
        },
      },
      row.progress.position ?? undefined,
    )
    if (step.next !== undefined) return
    const isLast = progress.resealedInWalk === 0
    const last: LastRotation = {
      fromKeyId: row.from.slice(0, 12),
      toKeyId: row.to.slice(0, 12),
      startedAt: new Date(row.startedAt).toISOString(),
      endedAt: new Date(clock.now()).toISOString(),
      resealed: progress.resealed,
    }
    await store.sql.transact((tx) =>
      isLast
        ? finish(tx, me, row.to, last)
        : change(tx, me, {
            progress: { ...progress, walks: progress.walks + 1, position: null, resealedInWalk: 0 },
          }),
    )
  }

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
      if (store.dialect === 'postgres' || seen !== undefined) plan(next)
    } catch (error) {
      if (!(error instanceof NotTheOwner)) {
        log.error({ err: error }, "the rotation of the installation's key is held up")
      }
      plan(Math.max(wait.pollMilliseconds, 1000))
    }
  }

  return {
    guard: {
      ready: () => (store.dialect === 'sqlite' || isKnown() ? undefined : refresh()),
      get reseals() {
        return keyring.reseals
      },
      reseal: (text) => keyring.reseal(text),
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
      held.set(to.proof, to)
      const begun = await insertRotation(sql, {
        from: keyring.current.proof,
        to: to.proof,
        owner: me,
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
