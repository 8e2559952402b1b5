/** What every part of an installation needs: its home, log, store, keys, and outbound policy. */

import { createPdfMaker, type PdfMaker } from '#business/documents/pdf-maker.ts'
import { createAddressOf, createProxyTest } from '#http/client-address.ts'
import { watchHeap } from '#http/heap-watch.ts'
import { createPublicUrlOf, type PublicUrlOf } from '#http/public-url.ts'
import type { makeSigningPair } from '#identity/signing-pair.ts'
import type { Clock, HeapWatch, Ids, Log, Timers } from '#kernel/ports.ts'
import { Names } from '#outbound/names/names.ts'
import { type Outbound, openOutbound } from '#outbound/outbound.ts'
import type { Store } from '#stores/store.ts'
import type { Certificates } from '#tls/certificates.ts'
import type { Config } from '../config.ts'
import type { Faults } from '../control/faults.ts'
import type { MovedClock } from '../control/moved-clock.ts'
import { guardStore } from '../installation/guarded-store.ts'
import { openServerHome, type ServerHome } from '../installation/home.ts'
import { createLog } from '../log.ts'
import { openCertificates } from './addresses.ts'
import { type Keys, openKeys } from './keys.ts'
import { areaMigrations } from './migrations.ts'

/** The sources of time and randomness. */
export interface Sources {
  readonly clock: Clock
  readonly ids: Ids
  /** Ids of principals. They have their own sequence, so that background work takes none of them. */
  readonly directoryIds: Ids
  readonly businessIds: Ids
  /** For what is made once with the installation. */
  readonly recordIds: Ids
  readonly timers: Timers
  /** Makes the pair of an installation's first signing key. */
  readonly firstPair: typeof makeSigningPair
  /** The machine's clock, for programs outside and libraries inside. */
  readonly machineClock: Clock
  readonly machineTimers: Timers
  /** The installation's clock, if it can be moved. */
  readonly movedClock: MovedClock | undefined
  /** Milliseconds that never go back. */
  readonly ticks: () => number
}

export interface Foundation extends Sources, Omit<Keys, typeof Symbol.asyncDispose> {
  readonly config: Config
  readonly home: ServerHome
  /** The fault rules; undefined when control is off. */
  readonly faults: Faults | undefined
  readonly log: Log
  readonly heap: HeapWatch
  readonly store: Store
  readonly outbound: Outbound
  /** What resolves names for it. */
  readonly names: Names
  /** Of documents, mails and invoices together: whoever has none under way goes first. */
  readonly pdfs: PdfMaker
  /** The address of the sender of a request, behind trusted proxies. */
  readonly addressOf: ReturnType<typeof createAddressOf>
  /** Whether this is the address of a trusted proxy. */
  readonly isProxy: ReturnType<typeof createProxyTest>
  /** The address the caller used. */
  readonly publicUrlOf: PublicUrlOf
  /** The certificates of https; undefined when it is off. */
  readonly certificates: Certificates | undefined
  /** The address the installation calls itself; '' until the port is known. */
  readonly publicUrl: () => string
  readonly listensAt: (url: string) => void
}

export async function openFoundation(
  config: Config,
  sources: Sources,
  opened: AsyncDisposableStack,
): Promise<Foundation> {
  const home = openServerHome(config.home)
  const log = await createLog(config.logLevel)
  const unguarded = opened.use(await openStore(config, home, sources.clock))
  home.emptyTemporaryFolder()
  const { keyring, rotation, record, indexKey } = opened.use(
    await openKeys({ config, home, store: unguarded, log, ...sources }),
  )
  const certificates = await openCertificates({ config, clock: sources.clock, log })
  if (certificates !== undefined) opened.use(certificates)
  let publicUrl = config.publicUrl ?? ''
  const faults =
    config.control === 'off'
      ? undefined
      : (await import('../control/faults.ts')).openFaults({
          now: () => sources.machineClock.now(),
          chance: Math.random,
        })
  const isProxy = createProxyTest(config.trustedProxies)
  const names = opened.use(new Names())
  return {
    ...sources,
    keyring,
    rotation,
    record,
    indexKey,
    config,
    home,
    log,
    heap: opened.use(watchHeap(sources.ticks)),
    faults,
    store: guardStore(unguarded, rotation.guard),
    pdfs: createPdfMaker(),
    outbound: openOutbound({ settings: config.outbound, log, resolve: names.resolve }),
    names,
    addressOf: createAddressOf(config.trustedProxies, config.proxyHeader),
    isProxy,
    publicUrlOf: createPublicUrlOf({
      configured: config.publicUrl,
      listening: () => publicUrl,
      isProxy,
      proxyHeader: config.proxyHeader,
    }),
    certificates,
    publicUrl: () => publicUrl,
    listensAt(url) {
      if (publicUrl === '') publicUrl = url
    },
  }
}

/** The setting of a store that ends with the process. */
export const inMemory = 'memory'

/** A driver is loaded only when it is used: an embedded start does not load PostgreSQL's. */
async function openStore(config: Config, home: ServerHome, clock: Clock): Promise<Store> {
  const options = {
    migrations: areaMigrations,
    words: config.words,
    transactionRetriesMax: config.limits.transactionRetriesMax,
  }
  if (config.store === undefined || config.store === inMemory) {
    const { openSqlite } = await import('#stores/sqlite/open.ts')
    const path = config.store === inMemory ? ':memory:' : home.databasePath
    return openSqlite({
      path,
      rowBytesMax: config.storeRows * 1024 * 1024,
      wholeSchema: async () => (await import('./whole-schema.ts')).wholeSchema,
      ...options,
    })
  }
  const { openPostgres } = await import('#stores/postgres/open.ts')
  return openPostgres({ url: config.store, poolSize: config.storeConnections, clock, ...options })
}
