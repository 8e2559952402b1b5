/**
 * Ends what is open when the permission it was opened with is gone: role removed, principal disabled, token ended. Once
 * a second it asks whether role assignments or the directory changed at all, one question for everything that is open;
 * only after a change, or at the end of a token, is each permission asked for again. It decides nothing itself.
 */

import type { Log } from '#kernel/ports.ts'
import type { Permission } from '#plane/access.ts'

export interface PermissionWatch {
  /** Calls `end` at most once. Gives how to stop watching. */
  watch(permission: Permission, end: (reason: string) => void): () => void
  /** What is watched now. */
  size(): number
}

interface PermissionWatchDependencies {
  /** Another text after every change of role assignments, principals, memberships or credentials, made anywhere. */
  version(): string | Promise<string>
  now(): number
  readonly log: Log
  readonly everyMilliseconds?: number
}

/** Together with the time of one look this stays below the five seconds that are promised. */
const defaultEveryMilliseconds = 1_000
/** Looks in a row without an answer, after which a permission counts as gone: a revocation may stand unread. */
const unansweredMax = 4

interface Watched {
  readonly permission: Permission
  readonly end: (reason: string) => void
  /** Until when it holds without being asked again, while the version stays. */
  confirmed: { readonly version: string; readonly until: number } | undefined
  asking: boolean
  /** Looks since it was last known to hold. */
  unanswered: number
}

export function createPermissionWatch(deps: PermissionWatchDependencies): PermissionWatch {
  const { log, everyMilliseconds = defaultEveryMilliseconds } = deps
  const all = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined
  let looking = false

  function finish(one: Watched, reason: string): void {
    if (!all.delete(one)) return
    log.info({ principalId: one.permission.principalId, reason }, 'ended what was open')
    one.end(reason)
  }

  async function ask(one: Watched, version: string): Promise<void> {
    const answer = await one.permission.ask()
    if (!answer.holds) {
      finish(one, answer.reason)
      return
    }
    one.confirmed = { version, until: answer.until }
    one.unanswered = 0
  }

  async function checkAll(): Promise<void> {
    // Read before anything is asked: what changes meanwhile is seen by the next look.
    const version = await deps.version()
    const now = deps.now()
    for (const one of all) {
      const { confirmed } = one
      if (confirmed?.version === version && now < confirmed.until) {
        one.unanswered = 0
      } else if (!one.asking) {
        one.asking = true
        ask(one, version)
          .catch(warnUnanswered)
          .finally(() => {
            one.asking = false
          })
      }
    }
  }

  /** The store did not answer: the next look asks again, and the count of looks decides. */
  function warnUnanswered(error: unknown): void {
    log.warn({ err: error }, 'permissions of what is open cannot be asked for')
  }

  function tick(): void {
    if (all.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    // Looks are counted, not time: a busy process must not end what nobody took anything from.
    for (const one of all) {
      one.unanswered += 1
      if (one.unanswered > unansweredMax) finish(one, 'the right to this cannot be confirmed now')
    }
    if (looking) return
    looking = true
    checkAll()
      .catch(warnUnanswered)
      .finally(() => {
        looking = false
      })
  }

  return {
    watch(permission, end) {
      const one: Watched = {
        permission,
        end,
        confirmed: undefined,
        asking: false,
        unanswered: 0,
      }
      all.add(one)
      if (timer === undefined) {
        timer = setInterval(tick, everyMilliseconds)
        timer.unref()
      }
      return () => all.delete(one)
    },
    size: () => all.size,
  }
}
