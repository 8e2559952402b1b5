/** Tests of migrations between two servers that the tests of a suite share, each with an engine of its own. */

import { after, before, test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { DatabaseEngine } from '../engine.ts'
import { type MigrationFixture, openMigrationFixture } from './fixture.ts'
import { findServer, howToGetServers } from './servers.ts'

/** Called in a suite, it returns what registers a test. Its tests are skipped where one of the two versions is missing. */
export function migrationTests(...versions: Parameters<typeof openMigrationFixture>) {
  const [source, target] = versions
  let opened: MigrationFixture | undefined
  before(async () => {
    if (findServer(source) === undefined || findServer(target) === undefined) return
    opened = await openMigrationFixture(...versions)
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
  })
  return (
    title: string,
    body: (fixture: MigrationFixture, engine: DatabaseEngine) => Promise<void>,
  ): void => {
    test(title, async (t) => {
      if (!requireOrSkip(t, opened !== undefined, howToGetServers) || opened === undefined) return
      await using engine = opened.open()
      await body(opened, engine)
    })
  }
}
