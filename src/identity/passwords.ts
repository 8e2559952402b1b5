/**
 * Password hashes: scrypt, memory-hard, at most a few at once so that a flood of sign-ins cannot exhaust
 * memory. Does not know accounts, and never tells a wrong password from a missing account.
 */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { createRoom, inRoom } from '#kernel/room.ts'
import { refuseIdentity } from './errors.ts'
import type { IdentityLimits } from './limits.ts'

/** What a hash costs. Stored with every hash, so that it can be raised later. */
export interface PasswordCost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** 32 MiB and 0.2 s here; equal in strength to N = 2^17, p = 1, at a quarter of the memory. */
export const defaultPasswordCost: PasswordCost = { n: 2 ** 15, r: 8, p: 3 }

/** Nobody finds 144 random bits by trying, however fast that is. */
const generatedCost: PasswordCost = { n: 2 ** 10, r: 8, p: 1 }

export interface Passwords {
  /** The hash to store; a cheaper one of a password that was generated, not chosen. Refuses with `PasswordsBusy` under a flood; password-rules.ts says what may be one. */
  hash(password: string, origin?: 'chosen' | 'generated'): Promise<string>
  /** Does it match? Takes the same time without a hash (no such account), and then says no. */
  verify(password: string, stored: string | undefined): Promise<boolean>
}

const keyBytes = 32

export function createPasswords(
  limits: IdentityLimits,
  cost: PasswordCost = defaultPasswordCost,
): Passwords {
  const { passwordsAtOnceMax: sumMax, passwordsWaitingMax } = limits
  const room = createRoom({ perOwnerMax: sumMax, sumMax })

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { taken, waiting } = room.state()
    if (taken >= sumMax && waiting >= passwordsWaitingMax) {
      throw refuseIdentity.PasswordsBusy({ seconds: 2 }, { headers: { 'Retry-After': '2' } })
    }
    return inRoom(room, 'passwords', work)
  }

  return {
    async hash(password, origin = 'chosen') {
      const salt = randomBytes(16)
      const { n, r, p } = origin === 'chosen' ? cost : generatedCost
      const key = await inTurn(() => derive(password, salt, { n, r, p }))
      return `scrypt$${n}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
    },
    async verify(password, stored) {
      // Too long cannot be right; the work is done all the same, on what fits.
      const candidate = password.slice(0, limits.passwordLengthMax + 1)
      const parsed = stored === undefined ? undefined : parse(stored)
      const salt = parsed?.salt ?? randomBytes(16)
      const key = await inTurn(async () => {
        const derived = await derive(candidate, salt, parsed?.cost ?? cost)
        // As long as for any other account, or the time would tell which ones have a generated password.
        if (parsed !== undefined && work(parsed.cost) < work(cost)) await derive('', salt, cost)
        return derived
      })
      return parsed !== undefined && timingSafeEqual(key, parsed.key)
    },
  }
}

function work({ n, r, p }: PasswordCost): number {
  return n * r * p
}

function derive(password: string, salt: Uint8Array, cost: PasswordCost): Promise<Buffer> {
  const { n, r, p } = cost
  return new Promise((resolve, reject) => {
    scrypt(
      password.normalize('NFKC'),
      salt,
      keyBytes,
      { N: n, r, p, maxmem: 256 * n * r },
      (error, key) => (error === null ? resolve(key) : reject(error)),
    )
  })
}

function parse(stored: string): { cost: PasswordCost; salt: Buffer; key: Buffer } {
  const [scheme, n, r, p, salt, key] = stored.split('$')
  if (scheme !== 'scrypt' || salt === undefined || key === undefined) {
    throw new Error('a stored password hash is of an unknown form')
  }
  return {
    cost: { n: Number(n), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}
