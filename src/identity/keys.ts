/**
 * The installation's signing keys. One is active; older ones stay published until the last token they signed has
 * expired. Private parts are sealed in the store and destroyed when a key retires.
 */

import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { Clock, Ids } from '#kernel/ports.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import { forEverybody } from '#stores/awaited.ts'
import type { SqlRow, SqlTx } from '#stores/store.ts'
import type { DirectorySql } from './directory-sql.ts'
import { directoryFeed, type FeedWatch, signingKeysKey } from './feed-watch.ts'
import type { VerificationKey } from './jwt.ts'
import type { IdentityLimits } from './limits.ts'
import { makeSigningPair } from './signing-pair.ts'

export interface ActiveKey {
  readonly keyId: string
  readonly privateKey: KeyObject
  readonly privateJwk: JsonWebKey
}

export interface KeyRing {
  /** The key that signs new tokens; created on first use. */
  active(): Promise<ActiveKey>
  /** The public keys whose tokens may still be valid. */
  published(): Promise<readonly JsonWebKey[]>
  /** The key with this id if this process knows it, without reading the store. */
  known(keyId: string): VerificationKey | undefined
  /** Like `known`, but reads the store if needed; at most once every few seconds for unknown ids. */
  find(keyId: string): Promise<VerificationKey | undefined>
  /** Makes a new active key and returns its id. Tokens signed before stay valid until they expire. */
  rotate(): Promise<string>
}

interface Ring {
  readonly active: ActiveKey | undefined
  readonly published: ReadonlyMap<
    string,
    { readonly jwk: JsonWebKey; readonly key: VerificationKey }
  >
}

const unknownLookSeconds = 2

/** After the first key nobody makes another first one. */
const claimFirst = `insert into identity_settings (name, value) values ('first-signing-key', ?)
  on conflict do nothing`

interface KeyRingOptions {
  readonly sql: DirectorySql
  readonly watch: FeedWatch
  readonly clock: Clock
  readonly ids: Ids
  readonly seal: IdentitySeal
  readonly limits: IdentityLimits
  /** Makes the pair of the first key. Tests share one. */
  readonly firstPair?: typeof makeSigningPair
}

export function openKeyRing(options: KeyRingOptions): KeyRing {
  const { watch, clock } = options
  const store = openKeyStore(options)
  let ring: Ring | undefined
  let loading: Promise<Ring> | undefined
  let looked = Number.NEGATIVE_INFINITY

  watch.onChange((keys) => {
    if (keys === 'all' || keys.includes(signingKeysKey)) forget()
  })

  function forget(): void {
    ring = undefined
    // A read already under way may return the old state, which must not be kept.
    loading = undefined
  }

  async function load(): Promise<Ring> {
    const moved = watch.refresh()
    if (moved !== undefined) await moved
    if (ring !== undefined) return ring
    if (loading === undefined) {
      const mine: Promise<Ring> = forEverybody(() => store.read()).then(
        (loaded) => {
          if (loading === mine) {
            ring = loaded
            loading = undefined
          }
          return loaded
        },
        (error) => {
          if (loading === mine) loading = undefined
          throw error
        },
      )
      loading = mine
    }
    return loading
  }

  return {
    async active() {
      const loaded = (await load()).active
      if (loaded !== undefined) return loaded
      await store.makeFirst()
      forget()
      const made = (await load()).active
      if (made === undefined) throw new Error('the store holds no active signing key')
      return made
    },
    async published() {
      return [...(await load()).published.values()].map(({ jwk }) => jwk)
    },
    known: (keyId) => ring?.published.get(keyId)?.key,
    async find(keyId) {
      const found = (await load()).published.get(keyId)
      if (found !== undefined) return found.key
      const now = clock.now()
      if (now - looked < unknownLookSeconds * 1000) return undefined
      looked = now
      forget()
      return (await load()).published.get(keyId)?.key
    },
    async rotate() {
      const keyId = await store.rotate()
      forget()
      return keyId
    },
  }
}

/** Reads and writes the rows of the keys. */
function openKeyStore({
  sql,
  clock,
  ids,
  seal,
  limits,
  firstPair = makeSigningPair,
}: Omit<KeyRingOptions, 'watch'>): {
  read(): Promise<Ring>
  rotate(): Promise<string>
  makeFirst(): Promise<void>
} {
  async function read(): Promise<Ring> {
    const rows = await sql.all(
      `select id, public_key, private_key, retired_at from identity_signing_keys
        where retired_at is null or retired_at > ? order by created_at desc, id desc`,
      clock.now() - (limits.tokenSeconds + limits.clockSkewSeconds) * 1000,
    )
    const published = new Map(rows.map((row) => [String(row['id']), toPublished(row)]))
    const current = rows.find((row) => row['retired_at'] === null)
    return { active: current === undefined ? undefined : toActive(current), published }
  }

  function toPublished(row: SqlRow): { jwk: JsonWebKey; key: VerificationKey } {
    // Only `insert` below writes this.
    const jwk = JSON.parse(String(row['public_key'])) as JsonWebKey
    return {
      jwk,
      key: { key: createPublicKey({ key: jwk, format: 'jwk' }), algorithms: ['RS256'] },
    }
  }

  function toActive(row: SqlRow): ActiveKey {
    const keyId = String(row['id'])
    const opened = seal.open(String(row['private_key']), `signing-key ${keyId}`)
    if (opened === undefined) {
      throw new Error(
        'the signing key cannot be opened: this is not the installation key it was sealed with',
      )
    }
    // `insert` below sealed this, and the seal authenticates it.
    const privateJwk = JSON.parse(opened) as JsonWebKey
    return { keyId, privateKey: createPrivateKey({ key: privateJwk, format: 'jwk' }), privateJwk }
  }

  async function make(
    newPair: typeof makeSigningPair,
  ): Promise<{ id: string; insert(tx: SqlTx): Promise<void> }> {
    const pair = await newPair()
    const id = ids.uuid()
    const published = {
      ...pair.publicKey.export({ format: 'jwk' }),
      kid: id,
      alg: 'RS256',
      use: 'sig',
    }
    const secret = {
      ...pair.privateKey.export({ format: 'jwk' }),
      kid: id,
      alg: 'RS256',
      use: 'sig',
    }
    return {
      id,
      async insert(tx) {
        await tx.run(
          `insert into identity_signing_keys (id, public_key, private_key, created_at, retired_at)
            values (?, ?, ?, ?, null)`,
          id,
          JSON.stringify(published),
          seal.seal(JSON.stringify(secret), `signing-key ${id}`),
          clock.now(),
        )
        await tx.follow(directoryFeed, signingKeysKey)
      },
    }
  }

  async function rotate(): Promise<string> {
    const fresh = await make(makeSigningPair)
    await sql.transact(async (tx) => {
      const now = clock.now()
      await tx.run(claimFirst, fresh.id)
      await tx.run(
        'update identity_signing_keys set retired_at = ?, private_key = null where retired_at is null',
        now,
      )
      await tx.run(
        'delete from identity_signing_keys where retired_at <= ?',
        now - (limits.tokenSeconds + limits.clockSkewSeconds) * 1000,
      )
      await fresh.insert(tx)
    })
    return fresh.id
  }

  /** Makes the first key. Another replica may do the same at the same moment; the first to commit wins. */
  async function makeFirst(): Promise<void> {
    const fresh = await make(firstPair)
    await sql.transact(async (tx) => {
      const claimed = await tx.run(claimFirst, fresh.id)
      if (claimed === 1) await fresh.insert(tx)
    })
  }

  return { read, rotate, makeFirst }
}
