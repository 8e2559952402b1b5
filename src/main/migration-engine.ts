/** The engine of database migrations, loaded on first use so that a start does not load its driver. */

import { type DatabaseEngine, DatabaseEngineError } from '#engines/databases/engine.ts'
import type { Clock } from '#kernel/ports.ts'
import type { Outbound } from '#outbound/outbound.ts'
import type { Migrating } from '#providers/index.ts'
import type { Config } from '../config.ts'

export function openMigrating(config: Config, clock: Clock, outbound: Outbound): Migrating {
  const { folder, client, clientMegabytes, authoritiesAtTarget, ...settings } = config.migrations
  let loaded: Promise<DatabaseEngine> | undefined
  const load = async (): Promise<DatabaseEngine> => {
    const { createPostgresEngine } = await import('#engines/databases/postgres/postgres-engine.ts')
    return createPostgresEngine({
      clock,
      outbound,
      folder,
      clientMegabytes,
      ...(client === undefined ? {} : { clientFolder: client }),
    })
  }
  let closed = false
  const engine = async (): Promise<DatabaseEngine> => {
    if (closed) {
      throw new DatabaseEngineError('ended', 'The engine of database migrations is closed.')
    }
    loaded ??= load()
    return loaded
  }
  return {
    settings: {
      ...settings,
      ...(authoritiesAtTarget === undefined ? {} : { authoritiesAtTarget }),
    },
    engine: {
      describe: async () => (await engine()).describe(),
      inspect: async (server) => (await engine()).inspect(server),
      settings: async (server) => (await engine()).settings(server),
      changeSetting: async (...asked) => (await engine()).changeSetting(...asked),
      createDatabase: async (...asked) => (await engine()).createDatabase(...asked),
      dropDatabase: async (...asked) => (await engine()).dropDatabase(...asked),
      survey: async (...asked) => (await engine()).survey(...asked),
      validate: async (...asked) => (await engine()).validate(...asked),
      setUpReplication: async (source) => (await engine()).setUpReplication(source),
      run: async (...asked) => (await engine()).run(...asked),
      place: async () => (await engine()).place(),
      observe: async (migration) => (await engine()).observe(migration),
      report: async (migration) => (await engine()).report(migration),
      cutover: async (...asked) => (await engine()).cutover(...asked),
      catchUp: async (migration, databases) => (await engine()).catchUp(migration, databases),
      retry: async (migration, databases) => (await engine()).retry(migration, databases),
      cancel: async (...asked) => (await engine()).cancel(...asked),
      traces: async (...asked) => (await engine()).traces(...asked),
      forget: async (migration) => (await engine()).forget(migration),
      list: async () => (await engine()).list(),
      async [Symbol.asyncDispose]() {
        closed = true
        await (await loaded)?.[Symbol.asyncDispose]()
      },
    },
  }
}
