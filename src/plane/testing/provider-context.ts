/** A provider context for tests: real time and randomness, a real seal, the store's own relational port. */

import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { type Clock, type Ids, type Seal, silentLog } from '#kernel/ports.ts'
import type { WorkloadIdentities } from '#kernel/principal.ts'
import { contractWords } from '#kernel/vendor.ts'
import type { Store } from '#stores/store.ts'
import type { PlaneServices } from '../create-plane.ts'
import type { ProviderContext } from '../provider-context.ts'
import { owner, realTimers } from './start.ts'

export const realClock: Clock = { now: () => Date.now() }
export const realIds: Ids = {
  uuid: () => randomUUID(),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
}

export function testProviderContext(
  store: Store,
  services: PlaneServices,
  given: Partial<ProviderContext> = {},
): ProviderContext {
  return {
    words: contractWords,
    tenantId: owner.tenantId,
    directory: { find: async () => undefined, groupsOf: async () => [] },
    workloads: memoryWorkloads(),
    clock: realClock,
    ids: realIds,
    timers: realTimers,
    log: silentLog,
    sql: store.sql,
    sealOf: () => testSeal,
    publicUrl: () => 'http://armature.example',
    services,
    ...given,
  }
}

const key = randomBytes(32)

/** For tests without a directory: identities are kept in memory. */
export function memoryWorkloads(): WorkloadIdentities {
  const held = new Map<string, string>()
  return {
    of: async (key) => held.get(key),
    give: async (key, { principalId }) => void held.set(key, principalId),
    take: async (key) => void held.delete(key),
  }
}

/** Seals like the identity area: encrypted, authenticated, never the same text twice. */
export const testSeal: Seal = {
  seal(text, context) {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
  },
  open(sealed, context) {
    const bytes = Buffer.from(sealed, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(12, 28))
    try {
      return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      return undefined
    }
  },
}
