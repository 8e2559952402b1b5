/** Service health through the plane, on both stores: operations 6 and 7 and their neighbours. */

import { after, describe, type TestContext, test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { healthMigrations } from './domain/migrations.ts'
import { healthSuite } from './testing/health-suite.ts'
import { historySuite } from './testing/history-suite.ts'
import { impactSuite } from './testing/impact-suite.ts'
import { largeSuite } from './testing/large-suite.ts'
import { firstMoment, startHealth } from './testing/start.ts'

function suites(start: typeof startHealth): void {
  healthSuite(start)
  impactSuite(start)
  historySuite(start)
  largeSuite(start)
}

describe('SQLite', () => suites(startHealth))

describe('PostgreSQL', () => {
  const opened = new AsyncDisposableStack()
  let server: Promise<PostgresServer> | undefined
  after(() => opened.disposeAsync())
  test('a server to run on', (t: TestContext) => {
    requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)
  })
  if (findPostgres() === undefined) return
  suites(async (options) => {
    server ??= startPostgres({ fsync: false }).then((started) => opened.use(started))
    const store = await openPostgres({
      url: await (await server).createDatabase(),
      poolSize: 4,
      clock: { now: () => firstMoment },
      migrations: healthMigrations,
      words: contractWords,
      transactionRetriesMax: 8,
    })
    opened.use(store)
    return startHealth({ ...options, store })
  })
})
