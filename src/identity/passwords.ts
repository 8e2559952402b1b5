/**
 * Password hashes by scrypt, which needs much memory. Few are computed at once, so that a flood of sign-ins cannot
 * exhaust memory, and whoever asks takes turns with others, so that it keeps nobody else from signing in. This file knows
 * no accounts and never distinguishes a wrong password from a missing account.
 */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { networkOf } from '#kernel/network.ts'
import { createRoom, inRoom } from '#kernel/room.ts'
import { callOwner } from '#stores/awaited.ts'
import { refuseIdentity } from './errors.ts'
import type { IdentityLimits } from './limits.ts'

/** The cost of a hash. It is stored with every hash, so that it can be raised later. */
export interface PasswordCost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** 32 MiB and 0.2 s on the development machine. As strong as N = 2^17, p = 1, with a quarter of the memory. */
export const defaultPasswordCost: PasswordCost = { n: 2 ** 15, r: 8, p: 3 }

/** Nobody guesses 144 random bits, however fast each try is. */
const generatedCost: PasswordCost = { n: 2 ** 10, r: 8, p: 1 }

export interface Passwords {
  /**
   * Computes the hash to store. A generated password gets a cheaper one. Refuses with `PasswordsBusy` under a
   * flood; password-rules.ts decides which passwords are accepted.
   */
  hash(password: string, origin?: 'chosen' | 'generated'): Promise<string>
  /** Whether the password matches. Without a hash (no such account) it takes the same time and returns false. */
  verify(password: string, stored: string | undefined): Promise<boolean>
}

const keyBytes = 32
/** When so many times as many wait as one may have waiting, only those who have none may wait, too. */
const ownersWaitingMax = 16

export function createPasswords(
  limits: IdentityLimits,
  cost: PasswordCost = defaultPasswordCost,
): Passwords {
  const { passwordsAtOnceMax: sumMax, passwordsWaitingMax } = limits
  // One place is for others, where there are several.
  const perOwnerMax = Math.max(1, sumMax - 1)
  const room = createRoom({ perOwnerMax, sumMax })
  /** Those under way and those that wait, by whose they are and by their networks. */
  const counts = new Map<string, number>()

  function add(owner: string, change: number): void {
    const count = (counts.get(owner) ?? 0) + change
    if (count > 0) counts.set(owner, count)
    else counts.delete(owner)
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const owner = callOwner() ?? ''
    // Whoever has a network of IPv6 has thousands of addresses.
    const owners = [...new Set([owner, networkOf(owner)])]
    const own = counts.get(owner) ?? 0
    const isFull = room.state().waiting >= ownersWaitingMax * passwordsWaitingMax
    const isNew = owners.every((one) => !counts.has(one))
    if (own >= perOwnerMax + passwordsWaitingMax || (isFull && !isNew)) {
      throw refuseIdentity.PasswordsBusy({ seconds: 2 }, { headers: { 'Retry-After': '2' } })
    }
    for (const one of owners) add(one, 1)
    try {
      return await inRoom(room, owners, work)
    } finally {
      for (const one of owners) add(one, -1)
    }
  }

  return {
    async hash(password, origin = 'chosen') {
      const salt = randomBytes(16)
      const { n, r, p } = origin === 'chosen' ? cost : generatedCost
      const key = await inTurn(() => derive(password, salt, { n, r, p }))
      return `scrypt$${n}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
    },
    async verify(password, stored) {
      // A password that is too long cannot match. The work is done all the same, on the part that fits.
      const candidate = password.slice(0, limits.passwordLengthMax + 1)
      const parsed = stored === undefined ? undefined : parse(stored)
      const salt = parsed?.salt ?? randomBytes(16)
      const key = await inTurn(async () => {
        const derived = await derive(candidate, salt, parsed?.cost ?? cost)
        // The check takes as long as for any other account. Otherwise the time would tell which accounts have a
        // generated password.
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
