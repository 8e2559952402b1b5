/**
 * The worker's own process: reads what it is to do from its input, runs the migration, and ends. It is the
 * only place of the engine where data flows. It listens on nothing and takes orders from its folder alone.
 */

import { flushCompileCache } from 'node:module'
import { text } from 'node:stream/consumers'
import { restAfterSteps } from '#outbound/bounded-handshake.ts'
import { lineLog } from '#outbound/line-log.ts'
import { openOutbound } from '#outbound/outbound.ts'
import type { OutboundSettings } from '#outbound/policy.ts'
import type { Credentials, MigrationSpec } from '../engine.ts'
import type { ClientPrograms } from './find-client-programs.ts'
import { identify } from './process-identity.ts'
import { RecordFolder } from './record.ts'
import { runMigration } from './run-migration.ts'

/** Given on standard input, so that no secret is in an argument, the environment or a file. */
export interface WorkerOrders {
  readonly migration: string
  readonly folder: string
  readonly spec: MigrationSpec
  readonly credentials: Credentials
  readonly outbound: OutboundSettings
  readonly programs: ClientPrograms
  /** For tests: a boundary at which the process kills itself as `kill -9` would. */
  readonly haltAt?: string
}

/** Handshakes leave two thirds of a processor to others. */
restAfterSteps(2)

// Written by the engine that started this process.
const orders = JSON.parse(await text(process.stdin)) as WorkerOrders
const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => stop.abort(new Error(`told to stop by ${signal}`)))
}
await runMigration({
  migration: orders.migration,
  spec: orders.spec,
  credentials: {
    ...orders.credentials,
    outbound: openOutbound({ settings: orders.outbound, log: lineLog() }),
  },
  programs: orders.programs,
  clock: { now: () => Date.now() },
  folder: new RecordFolder(orders.folder),
  process: identify(process.pid),
  stop: stop.signal,
  onBoundary: (name) => {
    if (name === orders.haltAt) process.kill(process.pid, 'SIGKILL')
  },
})
// The next worker starts from what this one has compiled, where the installation keeps that.
flushCompileCache()
// All is on the disk. `process.exit` waits for compiler threads that may be waiting for this one (nodejs/node#54918).
process.kill(process.pid, 'SIGKILL')
