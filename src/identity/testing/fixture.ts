/**
 * A whole identity on a real listener over a real store in memory, with a clock that can be moved: what the
 * tests of this folder start from. Not for production.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defaultLimits } from '#kernel/limits.ts'
import type { Ids, Log } from '#kernel/ports.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store, StoreOptions } from '#stores/store.ts'
import { type Identity, type IdentityOptions, openIdentity } from '../identity.ts'
import { identityMigrations } from '../migrations.ts'
import { createSeal } from './seal.ts'

export const testIds: Ids = {
  uuid: () => randomUUID(),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
}

/** Cheap hashes: these tests are not about the cost of hashing, and make many accounts. */
export const cheapPasswords = { n: 1024, r: 8, p: 1 }

export const testTenant = '11111111-2222-4333-8444-555555555555'

export const testStoreOptions: StoreOptions = {
  migrations: identityMigrations,
  words: { namespace: 'Vendor', brand: 'Vendor' },
  transactionRetriesMax: defaultLimits.transactionRetriesMax,
}

export function openTestStore(): Promise<Store> {
  return openSqlite({ path: ':memory:', ...testStoreOptions })
}

export interface IdentityFixture extends AsyncDisposable {
  readonly identity: Identity
  readonly store: Store
  readonly url: string
  /** Moves the clock. */
  wait(seconds: number): void
  readonly now: () => number
  /** A second process on the same store: its own caches and listener. */
  replica(options?: Partial<IdentityOptions>): Promise<IdentityFixture>
  readonly logged: readonly object[]
  readonly installationKey: Uint8Array
}

export async function openIdentityFixture(
  options: Partial<IdentityOptions> = {},
  shared?: { readonly store: Store; readonly installationKey: Uint8Array; readonly url?: string },
): Promise<IdentityFixture> {
  const store = shared?.store ?? (await openTestStore())
  const installationKey = shared?.installationKey ?? randomBytes(32)
  let offset = 0
  const now = (): number => Date.now() + offset
  const logged: object[] = []
  const keep = (fields: object): void => {
    logged.push(fields)
  }
  const log: Log = { debug() {}, info() {}, warn: keep, error: keep }

  const server: Server = createServer((req, res) => identity.handleOAuth(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this kind.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const identity = openIdentity({
    outbound: openWay,
    sql: store.sql,
    feed: store.feed('directory'),
    clock: { now },
    ids: testIds,
    log,
    seal: createSeal(installationKey),
    tenantId: testTenant,
    publicUrl: () => shared?.url ?? url,
    passwordCost: cheapPasswords,
    ...options,
  })
  return {
    identity,
    store,
    url,
    now,
    logged,
    installationKey,
    wait(seconds) {
      offset += seconds * 1000
    },
    replica: (more = {}) =>
      openIdentityFixture(
        { ...options, ...more },
        { store, installationKey, url: shared?.url ?? url },
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (shared === undefined) await store[Symbol.asyncDispose]()
    },
  }
}
