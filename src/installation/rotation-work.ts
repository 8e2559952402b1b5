/** The work of a rotation, done by its owner: ask the processes for the key, switch, reseal every row, finish. */

import type { RotationFollower, RotationOptions } from './rotation-follower.ts'
import {
  finishRotation,
  type LastRotation,
  membersOf,
  noProgress,
  type RefusedRotation,
  type RotationProgress,
  type RotationRow,
  refuse,
  takeOverRotation,
  updateRotation,
} from './rotation-record.ts'
import { type TextPlace, textPlaces } from './text-places.ts'
import { inTurns, walkStep } from './walk.ts'

/** The transactions of others that are running in this database, by the names PostgreSQL gives them. */
const othersUnderWay = `select l.virtualtransaction as name from pg_locks l
  join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'virtualxid' and a.datname = current_database() and a.pid <> pg_backend_pid()
    and coalesce(a.backend_type, 'client backend') = 'client backend'`

/** Each call does one piece of work and returns how long to wait for the next. */
export function rotationWork(
  { store, keyring, clock, ticks, log }: RotationOptions,
  follower: RotationFollower,
): () => Promise<number> {
  const { processId: me, refresh, wait } = follower
  let places: readonly TextPlace[] | undefined
  let leading: { readonly phase: RotationRow['phase']; readonly since: number } | undefined

  async function work(): Promise<number> {
    if (store.dialect === 'postgres' || follower.seen === undefined) await refresh()
    const { seen } = follower
    // The next rotation begins in the same phase, and waits anew.
    if (seen?.row.owner !== me) leading = undefined
    if (seen === undefined) return wait.pollMilliseconds
    const { row, at } = seen
    if (row.owner !== me) {
      const isSilent = ticks() - at >= wait.silentMilliseconds
      if (!isSilent || !(await takeOverRotation(store.sql, row, me))) return wait.pollMilliseconds
      await refresh()
      return 0
    }
    // When this process learned of the phase. After the wait every other live process knows of it too.
    if (leading?.phase !== row.phase) leading = { phase: row.phase, since: ticks() }
    const hasWaited = ticks() - leading.since >= wait.waitMilliseconds
    if (row.phase !== 'resealing' && !hasWaited) {
      await store.sql.transact((tx) => updateRotation(tx, me, {}))
      return wait.pollMilliseconds
    }
    if (row.phase === 'gathering') await endGathering(row)
    else if (row.phase === 'switching') await beginResealing()
    else if (!(await isFenced(row))) {
      await store.sql.transact((tx) => updateRotation(tx, me, {}))
      return wait.pollMilliseconds
    } else await reseal(row)
    await refresh()
    return 0
  }

  async function endGathering(row: RotationRow): Promise<void> {
    const without = (await membersOf(store.sql)).filter(({ holds }) => !holds)
    if (without.length === 0) {
      await store.sql.transact((tx) => updateRotation(tx, me, { phase: 'switching' }))
      return
    }
    const refused: RefusedRotation = {
      toKeyId: row.to.slice(0, 12),
      at: new Date(clock.now()).toISOString(),
      without: without.map(({ place }) => place),
    }
    await store.sql.transact((tx) => refuse(tx, me, refused))
    leading = undefined
    log.warn(refused, "the installation's key was not rotated: not every process has the new key")
  }

  async function beginResealing(): Promise<void> {
    await store.sql.transact(async (tx) => {
      const others = store.dialect === 'sqlite' ? [] : await tx.all(othersUnderWay)
      const fence = JSON.stringify(others.map((row) => String(row['name'])))
      await updateRotation(tx, me, { phase: 'resealing', progress: noProgress, fence })
    })
  }

  /** Whether all transactions have ended that may have begun without knowing the new key. */
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
        change: (text) => inTurns(keyring.resealing(text)),
        keep: async (tx, { rows, changed, next }) => {
          progress = {
            walks: row.progress.walks,
            position: next ?? null,
            rows: row.progress.rows + rows,
            resealed: row.progress.resealed + changed,
            resealedInWalk: row.progress.resealedInWalk + changed,
          }
          await updateRotation(tx, me, { progress })
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
        ? finishRotation(tx, me, row.to, last)
        : updateRotation(tx, me, {
            progress: { ...progress, walks: progress.walks + 1, position: null, resealedInWalk: 0 },
          }),
    )
  }

  return work
}
