/**
 * A person's sign-in by name and password, slowed after failures. The count is kept per account and
 * address, in the store, so that a restart or another replica does not forget it. Says only yes, no, or wait.
 */

import type { Clock } from '#kernel/ports.ts'
import type { Sql } from '#stores/store.ts'
import { signInKeyOf } from './credentials.ts'
import type { IdentityDirectory } from './directory.ts'
import type { IdentityLimits } from './limits.ts'
import type { PrincipalRecord } from './principal-record.ts'
import type { Seal } from './seal.ts'

export type SignInOutcome =
  | { readonly kind: 'welcome'; readonly user: PrincipalRecord; readonly credentialId: string }
  /** Wrong name, wrong password, disabled: never which. */
  | { readonly kind: 'refused' }
  /** Not even looked at: too many failures before. */
  | { readonly kind: 'wait'; readonly seconds: number }

export interface SignIn {
  /** Throws `PasswordsBusy` when too many are waiting for their password to be checked. */
  attempt(attempt: {
    readonly signInName: string
    readonly password: string
    readonly address: string
  }): Promise<SignInOutcome>
}

/** A failure is forgotten an hour after its delay ended. */
const forgetSeconds = 3600
const sweepRows = 500

export function createSignIn(options: {
  readonly sql: Sql
  readonly directory: Pick<IdentityDirectory, 'verifyPassword'>
  readonly clock: Clock
  readonly seal: Seal
  readonly limits: IdentityLimits
}): SignIn {
  const { sql, directory, clock, seal, limits } = options

  /**
   * Counts the attempt as a failure before it is known to be one: attempts made at the same moment cannot
   * all pass for the first. Answers the seconds to wait, or zero.
   */
  function reserve(id: string): Promise<number> {
    return sql.transact(async (tx) => {
      const now = clock.now()
      // The row is there, and ours until the end: whoever attempts at the same moment reads what we write.
      await tx.run(
        `insert into identity_sign_in_failures (id, failures, locked_until, forget_at)
          values (?, 0, 0, 0) on conflict (id) do nothing`,
        id,
      )
      await tx.run('update identity_sign_in_failures set failures = failures where id = ?', id)
      const [row] = await tx.all(
        'select failures, locked_until, forget_at from identity_sign_in_failures where id = ?',
        id,
      )
      const known = row !== undefined && Number(row['forget_at']) > now
      const lockedUntil = known ? Number(row['locked_until']) : 0
      if (lockedUntil > now) return Math.ceil((lockedUntil - now) / 1000)
      const failures = (known ? Number(row['failures']) : 0) + 1
      const until = now + delaySeconds(failures, limits) * 1000
      await tx.run(
        'update identity_sign_in_failures set failures = ?, locked_until = ?, forget_at = ? where id = ?',
        failures,
        until,
        until + forgetSeconds * 1000,
        id,
      )
      // One row comes in, some old ones go: the table stays as small as an hour's failures.
      await tx.run(
        `delete from identity_sign_in_failures where id in
          (select id from identity_sign_in_failures where forget_at <= ? order by forget_at limit ${sweepRows})`,
        now,
      )
      return 0
    })
  }

  function forget(id: string): Promise<number> {
    return sql.transact((tx) => tx.run('delete from identity_sign_in_failures where id = ?', id))
  }

  return {
    async attempt({ signInName, password, address }) {
      const id = seal.index(JSON.stringify(['sign-in', signInKeyOf(signInName), address]))
      const seconds = await reserve(id)
      if (seconds > 0) return { kind: 'wait', seconds }
      const right = await directory.verifyPassword(signInName, password)
      if (right === undefined) return { kind: 'refused' }
      await forget(id)
      return { kind: 'welcome', ...right }
    },
  }
}

/** Nothing for the first few failures, then 2, 4, 8 … seconds up to the limit. */
export function delaySeconds(failures: number, limits: IdentityLimits): number {
  const beyond = failures - limits.signInFailuresFree
  if (beyond < 0) return 0
  return Math.min(limits.signInDelaySecondsMax, 2 ** Math.min(beyond + 1, 30))
}
