/** Two processes of identity on one PostgreSQL database. For tests only. */

import { openPostgres } from '#stores/postgres/open.ts'
import type { Store } from '#stores/store.ts'
import { type PostgresServer, startPostgres } from '#stores/testing/postgres-server.ts'
import type { IdentityOptions } from '../identity.ts'
import { type IdentityFixture, openIdentityFixture, testStoreOptions } from './fixture.ts'

export const installationKey = Buffer.alloc(32, 5)

export interface Replicas extends AsyncDisposable {
  readonly fixture: IdentityFixture
  readonly replica: IdentityFixture
}

/** Each with connections of its own. */
export async function openReplicas(
  options: Partial<IdentityOptions> = {},
  running?: PostgresServer,
): Promise<Replicas> {
  await using opening = new AsyncDisposableStack()
  const server = running ?? opening.use(await startPostgres({ fsync: false }))
  const url = await server.createDatabase()
  const open = async (): Promise<Store> =>
    opening.use(await openPostgres({ url, poolSize: 4, clock: Date, ...testStoreOptions }))
  const [one, two] = [await open(), await open()]
  const fixture = opening.use(await openIdentityFixture(options, { store: one, installationKey }))
  const replica = opening.use(
    await openIdentityFixture(options, { store: two, installationKey, url: fixture.url }),
  )
  const opened = opening.move()
  return { fixture, replica, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
