/**
 * A person's sign-in by name and password. Failures slow it down: they are counted per account and address, and per
 * address for all accounts. A browser that has signed in to this account before has its own count, so that others
 * behind its address cannot delay it. The counts are in the store, so a restart or another replica does not forget
 * them. The answer is only yes, no, or wait.
 */

import { backOff } from '#kernel/back-off.ts'
import type { Clock, Ids } from '#kernel/ports.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import { signInKeyOf } from './credentials.ts'
import type { IdentityDirectory } from './directory.ts'
import type { IdentityLimits } from './limits.ts'
import type { PrincipalRecord } from './principal-record.ts'

export type SignInOutcome =
  | { readonly kind: 'welcome'; readonly user: PrincipalRecord; readonly credentialId: string }
  /** The name or the password was wrong, or the account is disabled. The answer never says which. */
  | { readonly kind: 'refused' }
  /** Not checked, because of too many earlier failures. */
  | { readonly kind: 'wait'; readonly seconds: number }

export interface SignIn {
  /** Throws `PasswordsBusy` when too many passwords are waiting to be checked. */
  attempt(attempt: Attempt): Promise<SignInOutcome>
  /** The mark for a browser that has just signed in to this account. It sends the mark with its next attempts. */
  knownBrowser(signInName: string): string
}

interface Attempt {
  readonly signInName: string
  readonly password: string
  /** The address, or the network of addresses, that failures are counted for. */
  readonly address: string
  /** The mark of this browser from an earlier sign-in, as the browser sends it. */
  readonly knownBrowser?: string | undefined
}

/** A row that counts failures. */
interface Count {
  readonly id: string
  readonly free: number
  readonly delayMax: number
}

/** A failure is forgotten an hour after its delay ended. */
const forgetSeconds = 3600
const sweepRows = 500
/** The longest browser mark that is read, in characters. */
const knownBrowserMax = 512

export function createSignIn(options: {
  readonly sql: Sql
  readonly directory: Pick<IdentityDirectory, 'verifyPassword'>
  readonly clock: Clock
  readonly ids: Pick<Ids, 'uuid'>
  readonly seal: IdentitySeal
  readonly limits: IdentityLimits
}): SignIn {
  const { sql, directory, clock, ids, seal, limits } = options

  /**
   * Counts the attempt as a failure before its outcome is known, so that concurrent attempts cannot all count as
   * the first. Returns the seconds to wait, or zero.
   */
  function reserve(counts: readonly Count[]): Promise<number> {
    return sql.transact(async (tx) => {
      const now = clock.now()
      const read: { count: Count; failures: number; lockedUntil: number }[] = []
      for (const count of counts) read.push({ count, ...(await lock(tx, count, now)) })
      const lockedUntil = Math.max(...read.map((row) => row.lockedUntil))
      if (lockedUntil > now) return Math.ceil((lockedUntil - now) / 1000)
      for (const { count, failures } of read)
        await write(tx, count, { failures: failures + 1, now })
      // A few expired rows are removed for each new one, so the table holds about an hour's failures.
      await tx.run(
        `delete from identity_sign_in_failures where id in
          (select id from identity_sign_in_failures where forget_at <= ? order by forget_at limit ${sweepRows})`,
        now,
      )
      return 0
    })
  }

  /** Takes the count back after a success. Earlier failures of the address stay counted. */
  function forgive([own, ...others]: readonly [Count, ...Count[]]): Promise<void> {
    return sql.transact(async (tx) => {
      await tx.run('delete from identity_sign_in_failures where id = ?', own.id)
      await takeBack(tx, others)
    })
  }

  /** What could not be checked is no failure. */
  async function check(
    { signInName, password }: Pick<Attempt, 'signInName' | 'password'>,
    counts: readonly Count[],
  ): ReturnType<typeof directory.verifyPassword> {
    let isChecked = false
    try {
      const right = await directory.verifyPassword(signInName, password)
      isChecked = true
      return right
    } finally {
      if (!isChecked) await sql.transact((tx) => takeBack(tx, counts))
    }
  }

  const indexOf = (...parts: readonly string[]): string =>
    seal.index(JSON.stringify(['sign-in', ...parts]))

  /** The id of the browser, if it has signed in to this account before. */
  function openKnown(sent: string | undefined, account: string): string | undefined {
    return sent === undefined || sent.length > knownBrowserMax
      ? undefined
      : seal.open(sent, `known browser ${account}`)
  }

  /** The account's own count comes first. The fixed order keeps two transactions from waiting for each other. */
  function countsOf(
    account: string,
    address: string,
    browser: string | undefined,
  ): [Count, ...Count[]] {
    const { signInFailuresFree: free, signInDelaySecondsMax: delayMax } = limits
    if (browser !== undefined) {
      return [{ id: indexOf('browser', account, browser), free, delayMax }]
    }
    return [
      { id: indexOf(account, address), free, delayMax },
      {
        id: indexOf('address', '', address),
        free: limits.addressFailuresFree,
        delayMax: limits.addressDelaySecondsMax,
      },
    ]
  }

  return {
    async attempt({ signInName, password, address, knownBrowser }) {
      const account = signInKeyOf(signInName)
      const counts = countsOf(account, address, openKnown(knownBrowser, account))
      const seconds = await reserve(counts)
      if (seconds > 0) return { kind: 'wait', seconds }
      const right = await check({ signInName, password }, counts)
      if (right === undefined) return { kind: 'refused' }
      await forgive(counts)
      return { kind: 'welcome', ...right }
    },
    knownBrowser: (signInName) => seal.seal(ids.uuid(), `known browser ${signInKeyOf(signInName)}`),
  }
}

/** Zero for the first few failures, then 2, 4, 8 … seconds up to the limit. */
export function delaySeconds(
  failures: number,
  { free, delayMax }: Pick<Count, 'free' | 'delayMax'>,
): number {
  const beyond = failures - free
  if (beyond < 0) return 0
  return backOff({ first: 2, most: delayMax }, beyond)
}

/** Creates and locks the row. A concurrent attempt waits and then reads what this one writes. */
async function lock(
  tx: SqlTx,
  { id, delayMax }: Pick<Count, 'id' | 'delayMax'>,
  now: number,
): Promise<{ failures: number; lockedUntil: number }> {
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
  if (row === undefined || Number(row['forget_at']) <= now) return { failures: 0, lockedUntil: 0 }
  const until = Number(row['locked_until'])
  // Later than any delay ends, also by a replica's clock: it was written while the clock was ahead.
  const isAhead = until - now > 2 * delayMax * 1000
  return { failures: Number(row['failures']), lockedUntil: isAhead ? 0 : until }
}

async function write(
  tx: SqlTx,
  count: Count,
  { failures, now }: { readonly failures: number; readonly now: number },
): Promise<void> {
  const until = now + delaySeconds(failures, count) * 1000
  await tx.run(
    'update identity_sign_in_failures set failures = ?, locked_until = ?, forget_at = ? where id = ?',
    failures,
    until,
    until + forgetSeconds * 1000,
    count.id,
  )
}

async function takeBack(tx: SqlTx, counts: readonly Count[]): Promise<void> {
  for (const { id } of counts) {
    await tx.run(
      'update identity_sign_in_failures set failures = failures - 1 where id = ? and failures > 0',
      id,
    )
  }
}
