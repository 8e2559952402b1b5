/**
 * Ends open streams when the permission they were opened with is gone: role removed, principal disabled, token
 * expired. Once a second it asks, with one question for all streams, whether role assignments or the directory
 * changed at all. Only after a change, or when a token expires, is each permission checked again. It decides nothing
 * itself.
 */

import type { Log } from '#kernel/ports.ts'
import type { Permission } from '#plane/access.ts'
import { forEverybody } from '#plane/behalf-of.ts'

export interface PermissionWatch {
  /** Calls `end` at most once. Returns a function that stops watching. */
  watch(permission: Permission, end: (reason: string) => void): () => void
  /** The number of watched permissions. */
  size(): number
}

interface PermissionWatchDependencies {
  /** Changes with every change of role assignments, principals, memberships or credentials, made by any replica. */
  version(): string | Promise<string>
  now(): number
  readonly log: Log
  readonly everyMilliseconds?: number
}

/** With the time of one look, this stays below the promised five seconds. */
const defaultEveryMilliseconds = 1_000
/** Failed looks in a row after which a permission counts as gone: a revocation may have happened unseen. */
const unansweredMax = 4

interface Watched {
  readonly permission: Permission
  readonly end: (reason: string) => void
  /** The permission is valid until then without another check, as long as the version stays the same. */
  confirmed: { readonly version: string; readonly until: number } | undefined
  asking: boolean
  /** Looks since the permission was last confirmed. */
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
    // Read before any check, so that the next look sees changes made meanwhile.
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

  /** The store did not answer. The next look asks again, and `unansweredMax` limits how often. */
  function warnUnanswered(error: unknown): void {
    log.warn({ err: error }, 'permissions of what is open cannot be asked for')
  }

  function tick(): void {
    if (all.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    // Counts looks and not time: a slow process must not end streams whose permission still holds.
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
        // For all that is open, in nobody's name.
        timer = forEverybody(() => setInterval(tick, everyMilliseconds))
        timer.unref()
      }
      return () => all.delete(one)
    },
    size: () => all.size,
  }
}
