/**
 * The composition root: opens the areas one after the other, listens, and closes them in the opposite order.
 * Besides tests, it is the only place that creates real time and randomness.
 */

import { startBlockSummaries } from '#activity/blocks.ts'
import { startActivitySweep } from '#activity/sweep.ts'
import { listenForMetrics } from '#http/metrics-listener.ts'
import type { HttpServer } from '#http/server.ts'
import type { Identity } from '#identity/identity.ts'
import { makeSigningPair } from '#identity/signing-pair.ts'
import type { Ids } from '#kernel/ports.ts'
import type { RunningPlane } from '#plane/create-plane.ts'
import { federatedIn } from '#providers/managed-identity/domain/federated-in.ts'
import type { Config } from './config.ts'
import type { Faults } from './control/faults.ts'
import { createMovedClock, type MovedClock } from './control/moved-clock.ts'
import { initialState } from './control/snapshots.ts'
import type { States } from './control/states.ts'
import { openAccounts } from './main/accounts.ts'
import { type Addresses, addressesOf } from './main/addresses.ts'
import { businessAdministrators, createEdge } from './main/edge.ts'
import { openEngines } from './main/engines.ts'
import { typesForRules, withFaultyStore } from './main/faults.ts'
import { findOwner, seedInstallation } from './main/first-start.ts'
import { type IdMaker, seedIds } from './main/fixed-ids.ts'
import { type Foundation, inMemory, openFoundation, type Sources } from './main/foundation.ts'
import { openInstallationPlane } from './main/installation-plane.ts'
import { openInstallationOutbox } from './main/outbox.ts'
import { randomIds } from './main/random-ids.ts'
import { openInstallationStates } from './main/states.ts'

export interface Started extends AsyncDisposable {
  readonly url: string
  /** Its own address, without the public address of the installation. */
  readonly listensAt: string
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  readonly signInUrl: string
  /** The certificate authority that clients of https must trust; undefined when there is none. */
  readonly authorityFile: string | undefined
  readonly firstStart: boolean
  readonly home: string
  /** The chosen container engine. */
  readonly containers: string
  readonly store: string
  readonly startedInMilliseconds: number
  /** Logs an unhandled error with its stack, and counts it for `/metrics`. */
  noteUnhandled(kind: 'rejection' | 'exception', error: unknown): void
  close(): Promise<void>
}

/** For a caller that has the installation in its own process. */
interface Opened extends Started {
  readonly inside: {
    readonly clock: MovedClock | undefined
    readonly states: States
    readonly faults: Faults | undefined
    now(): number
    /** A token as if the principal had signed in. */
    issueToken(principalId: string): Promise<{ readonly token: string }>
  }
}

/** The ids of a start with a seed. */
export const idsForSeed = seedIds

/** What the caller of `start` may provide. */
interface Given {
  /** The source of ids for each part that creates some. */
  readonly idsFor: (maker: IdMaker) => Ids
  /** The pair of its first signing key. */
  readonly firstPair: typeof makeSigningPair
}

const machine = {
  clock: { now: () => Date.now() },
  timers: {
    after(milliseconds: number, callback: () => unknown) {
      const timer = setTimeout(callback, milliseconds)
      return { cancel: () => clearTimeout(timer) }
    },
  },
}

function sourcesOf({ clock }: Config, { idsFor, firstPair }: Given): Sources {
  const movedClock = clock === 'manual' ? createMovedClock(machine) : undefined
  return {
    clock: movedClock ?? machine.clock,
    timers: movedClock?.timers ?? machine.timers,
    machineClock: machine.clock,
    machineTimers: machine.timers,
    movedClock,
    recordIds: idsFor('record'),
    businessIds: idsFor('business'),
    ids: idsFor('installation'),
    directoryIds: idsFor('directory'),
    firstPair,
    ticks: () => performance.now(),
  }
}

/** Starts an installation. Throws `StoreUnavailable` and `Error`s whose messages are for the operator. */
export async function start(config: Config, given: Partial<Given> = {}): Promise<Opened> {
  const sources = { idsFor: () => randomIds, firstPair: makeSigningPair, ...given }
  // Closed from its end when a start fails and at a stop: nothing is closed before what uses it.
  await using opened = new AsyncDisposableStack()
  const base = await openFoundation(config, sourcesOf(config, sources), opened)
  // Read at the first token, when the plane exists.
  const accounts = openAccounts(base, opened, (key) => federatedIn(served.plane.reader, key))
  const { ownerId, firstStart } = await findOwner(base, accounts.identity)
  const engines = await openEngines(base, opened)
  // Sign-ins read the store itself: whoever makes it fail must be able to end that.
  const serving = base.faults === undefined ? base : withFaultyStore(base, base.faults)
  const { directory } = accounts.identity
  const served = openInstallationPlane(serving, { directory, ownerId }, engines, opened)
  // Generic resources may have any type.
  if (config.generic === undefined) base.faults?.onlyTypes(typesForRules(served.plane.registry))
  const { home, record, log } = base
  const { plane } = served
  const states = openInstallationStates(base, plane)
  if (firstStart) {
    await seedInstallation({ plane, record, ownerId, ids: base.ids, store: base.store })
    if (config.control !== 'off') await keepInitialState(states, accounts.identity, ownerId)
  }

  const unhandled = { rejections: 0, exceptions: 0 }
  const { containers } = engines
  const administers = businessAdministrators(serving, served)
  const outbox = opened.use(openInstallationOutbox(serving, { directory, administers }))
  const edge = {
    ...served,
    ...accounts,
    ownerId,
    containers,
    states,
    outbox,
    administers,
    unhandledErrors: () => unhandled,
  }
  const server = opened.use(createEdge(serving, edge))
  const addresses = await listen(base, server, opened)
  const { url } = addresses
  startBackground(base, plane, opened)
  outbox.start()
  base.movedClock?.onSettle(() => plane.reconciler.idle())
  const { tenantId, subscriptionId } = record
  const shown = { tenantId, subscriptionId, principalId: ownerId }
  home.writeRunning({
    ...addresses,
    ...(base.certificates === undefined ? {} : { authorityFile: base.certificates.authorityFile }),
    pid: process.pid,
    ...shown,
    words: config.words,
  })
  opened.defer(() => home.removeRunning())

  const close = once(opened.move())
  return {
    url,
    listensAt: addresses.httpUrl,
    ...shown,
    signInUrl: `${url}/signed-in`,
    authorityFile: url === addresses.httpsUrl ? base.certificates?.authorityFile : undefined,
    firstStart,
    home: config.home,
    containers: containers.title,
    store: config.store === undefined ? home.databasePath : withoutPassword(config.store),
    startedInMilliseconds: performance.now(),
    noteUnhandled(kind, error) {
      unhandled[kind === 'rejection' ? 'rejections' : 'exceptions']++
      log.error({ err: error, kind }, 'an error that nobody handled')
    },
    inside: {
      clock: base.movedClock,
      states,
      faults: base.faults,
      now: () => base.clock.now(),
      issueToken: (principalId) => accounts.identity.issueToken(principalId),
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Saves the state that a reset restores. A first token is issued before, because it creates the signing key:
 * without the key in the state, a reset would end all tokens.
 */
async function keepInitialState(
  states: States,
  identity: Identity,
  ownerId: string,
): Promise<void> {
  await identity.issueToken(ownerId)
  await states.save(initialState)
}

/** Listens, and returns the addresses. A stop lets running requests end first. */
async function listen(
  { config, listensAt }: Foundation,
  server: HttpServer,
  opened: AsyncDisposableStack,
): Promise<Addresses> {
  const { host, port, tlsPort: securePort, metrics } = config
  if (typeof metrics !== 'string') opened.use(await listenForMetrics(metrics, server.scrape))
  const ports = await server.listen({ host, port, securePort })
  opened.defer(() => server.close({ drainSeconds: config.limits.drainSeconds }))
  const addresses = addressesOf(config, ports)
  listensAt(addresses.url)
  return addresses
}

/** Starts the work that goes on without requests. */
function startBackground(
  { store, rotation, config, log, clock, timers, movedClock }: Foundation,
  plane: RunningPlane,
  opened: AsyncDisposableStack,
): void {
  plane.start()
  rotation.start()
  const { sql } = store
  const isClockMoved = movedClock !== undefined
  opened.use(
    startActivitySweep({ sql, clock, timers, log, keptDays: config.activityDays, isClockMoved }),
  )
  opened.use(startBlockSummaries({ sql, timers, log }))
}

function once(opened: AsyncDisposable): () => Promise<void> {
  let closed: Promise<void> | undefined
  return async () => {
    closed ??= Promise.resolve(opened[Symbol.asyncDispose]())
    await closed
  }
}

function withoutPassword(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return url === inMemory ? 'in memory: it ends with the process' : 'postgres'
  if (parsed.password !== '') parsed.password = '***'
  return parsed.href
}
