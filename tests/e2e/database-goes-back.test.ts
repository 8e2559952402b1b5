/**
 * Another database server takes the place of the one that a running installation knew, and lost its last changes: a standby,
 * or a restored copy. Rights that are taken away afterwards count all the same, though their changes have positions that
 * were seen already.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createApplication, createResourceGroup, grant, revoke, roles } from './access.ts'
import { startInstallation } from './installation.ts'

test('rights count as the database has them after it lost its last changes', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const store = await server.createDatabase()
  await using installation = await startInstallation({ store })
  const run = async (...statements: readonly string[]): Promise<void> => {
    const database = new pg.Client(store)
    await database.connect()
    for (const statement of statements) await database.query(statement)
    await database.end()
  }
  const scope = `/subscriptions/${installation.subscriptionId}/resourceGroups/one`
  await createResourceGroup(installation, scope)
  const [reader, disabled] = await Promise.all(
    ['reader', 'disabled'].map((name) => createApplication(installation, name)),
  )
  assert.ok(reader !== undefined && disabled !== undefined)
  const assigned = await grant(installation, scope, roles.reader, reader.principalId)
  await grant(installation, scope, roles.reader, disabled.principalId)
  const read = async ({ token }: { readonly token: string }): Promise<number> =>
    (await installation.request('GET', `${scope}?api-version=2021-04-01`, { token })).status
  await run('CREATE TABLE kept AS SELECT name, position FROM feeds')
  for (const name of ['lost', 'lost, too']) {
    const lost = await createApplication(installation, name)
    await grant(installation, scope, roles.reader, lost.principalId)
  }
  assert.deepEqual([await read(reader), await read(disabled)], [200, 200])

  await run(
    'UPDATE feeds SET position = kept.position FROM kept WHERE kept.name = feeds.name',
    `DELETE FROM feed_entries USING feeds
      WHERE feeds.name = feed_entries.name AND feed_entries.position > feeds.position`,
  )
  await server.restart()
  await until(async () => (await read(reader)) === 200, 30)
  await revoke(installation, assigned)
  const path = `/directory/servicePrincipals/${disabled.principalId}`
  const changed = await installation.request('PATCH', path, { body: { enabled: false } })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual([await read(reader), await read(disabled)], [403, 401])
})
