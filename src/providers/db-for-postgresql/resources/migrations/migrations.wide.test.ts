/**
 * Migrations through the plane, between real servers: databases and settings of a server, what begins anew, waits for its
 * time, the forms of a source. What `migrations.test.ts` holds of the contract's rows is not held again.
 */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import {
  isSettled,
  type MigrationFixture,
  openMigrationFixture,
  refused,
  type Status,
  servers,
  statusOf,
  target,
  waitsFor,
} from '../../testing/fixture.ts'

const isThere = findServer(15) !== undefined

describe('migrations, in every form', () => {
  let opened: MigrationFixture | undefined
  before(async () => {
    if (!isThere) return
    opened = await openMigrationFixture()
    await opened.register()
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
  })
  const row = (title: string, body: (w: MigrationFixture) => Promise<void>): void => {
    test(title, { timeout: 240_000 }, async (t) => {
      if (!requireOrSkip(t, isThere, howToGetServers) || opened === undefined) return
      await body(opened)
    })
  }
  const at = (name: string): string => `${target}/migrations/${name}`

  row('databases of a server are made and dropped there', async (w) => {
    const path = `${target}/databases/ordered`
    const utf8 = { properties: { charset: 'utf8', collation: 'C' } }
    const missing = `${servers}/nowhere/databases/ordered`
    const level = await w.call('GET', `${target}/configurations/wal_level`)
    assert.equal(level.body.properties.value, 'logical')
    assert.equal(level.body.properties.dataType, 'Enumeration')
    const settings = await w.call('GET', `${target}/configurations`)
    assert.ok(settings.body.value.length >= 100 && settings.nextToken !== undefined)
    await refused(w.call('GET', `${target}/configurations/none`), 'ResourceNotFound', 404)
    await refused(w.call('PUT', missing, utf8), 'ParentResourceNotFound', 404)
    const made = await w.call('PUT', path, utf8)
    assert.equal(made.status, 201)
    assert.deepEqual(made.body.properties, { charset: 'UTF8', collation: 'C' })
    assert.equal((await w.call('GET', path)).body.id, path)
    // Again, and as command lines send it, with a collation that this system may lack.
    const usual = { properties: { charset: 'utf8', collation: 'en_US.utf8' } }
    assert.equal((await w.call('PUT', path, usual)).status, 200)
    assert.equal((await w.call('PUT', `${target}/databases/usual`, usual)).status, 201)
    const other = { properties: { charset: 'LATIN1' } }
    await refused(w.call('PUT', path, other), 'InvalidParameterValue', 400)
    const unknown = { properties: { collation: 'xx_XX' } }
    await refused(w.call('PUT', `${target}/databases/no`, unknown), 'InvalidParameterValue', 400)
    // For rights and locks it is the same one.
    const shouted = `${target}/databases/ORDERED`
    await refused(w.call('PUT', shouted, utf8), 'InvalidParameterValue', 400)
    const long = `${target}/databases/${'l'.repeat(64)}`
    await refused(w.call('PUT', long, utf8), 'InvalidParameterValue', 400)
    await refused(w.call('PUT', path, utf8, { ifMatch: '"old"' }), 'PreconditionFailed', 412)
    assert.equal((await w.call('DELETE', path)).status, 200)
    assert.equal((await w.call('DELETE', path)).status, 204)
    assert.equal((await w.call('DELETE', `${target}/databases/usual`)).status, 200)
    await refused(w.call('GET', path), 'ResourceNotFound', 404)
    const system = `${target}/databases/postgres`
    await refused(w.call('DELETE', system), 'InvalidParameterValue', 400)
  })

  row('settings of a server are written there, but for those that reach beyond it', async (w) => {
    const at = (name: string): string => `${target}/configurations/${name}`
    const put = (name: string, properties: object) => w.call('PUT', at(name), { properties })
    const before = (await w.call('GET', at('statement_timeout'))).body.properties
    assert.deepEqual(
      [before.value, before.source, before.isReadOnly],
      ['0', 'system-default', false],
    )
    const written = await put('statement_timeout', { value: '60000', source: 'user-override' })
    assert.equal(written.status, 200)
    assert.equal(written.body.properties.value, '60000')
    assert.equal(written.body.properties.source, 'user-override')
    // A default by its value is none of one's own.
    const byValue = (await put('statement_timeout', { value: '0', source: 'user-override' })).body
    assert.deepEqual([byValue.properties.value, byValue.properties.source], ['0', 'system-default'])
    await put('statement_timeout', { value: '60000' })
    const { address, password } = w.target
    const settings = await w.engine.settings({ address, password })
    assert.equal(settings.find(({ name }) => name === 'statement_timeout')?.value, '60000')
    // Too short for a server to be asked anything: it can be taken back all the same.
    await put('statement_timeout', { value: '1' })
    const patched = await w.call('PATCH', at('max_connections'), { properties: { value: '50' } })
    assert.equal(patched.body.properties.isConfigPendingRestart, true)
    for (const name of ['statement_timeout', 'max_connections']) {
      const back = (await put(name, { value: '7', source: 'system-default' })).body.properties
      assert.notEqual(back.value, '7')
      assert.equal(back.isConfigPendingRestart, false)
    }
    const refusals = [
      ['statement_timeout', 'soon'],
      ['shared_preload_libraries', 'evil'],
      ['fsync', 'off'],
      ['port', '1'],
    ] as const
    for (const [name, value] of refusals) {
      await refused(put(name, { value }), 'InvalidParameterValue', 400)
    }
    assert.equal((await w.call('GET', at('port'))).body.properties.isReadOnly, true)
    await refused(put('none', { value: '1' }), 'ResourceNotFound', 404)
    const backups = await w.call('GET', `${target}/backups`)
    assert.deepEqual(backups.body.value, [])
    for (const what of ['start', 'stop', 'restart']) {
      const order = w.call('POST', `${target}/${what}`)
      await refused(order, 'OperationNotSupported', 409, /its operator/)
    }
    const { value: zones } = (await w.call('GET', `${target}/capabilities`)).body
    assert.ok(zones[0].supportedServerEditions.length > 0)
    const threats = `${target}/advancedThreatProtectionSettings`
    const [one] = (await w.call('GET', threats)).body.value
    assert.deepEqual([one.name, one.properties.state], ['Default', 'Disabled'])
    await w.call('PUT', `${threats}/Default`, { properties: { state: 'Disabled' } })
    const enabled = w.call('PUT', `${threats}/Default`, { properties: { state: 'Enabled' } })
    await refused(enabled, 'NotImplemented', 501, /its operator/)
    await refused(w.call('PUT', `${target}/backups/one`, {}), 'NotImplemented', 501, /Backups/)
  })

  row('a database that failed is begun anew, the others stay as they are', async (w) => {
    for (const name of ['sound', 'brittle']) await w.make(name)
    await using source = await w.session('source', 'brittle')
    // Such an index cannot be restored: its function finds its table only by a search path.
    await source.run(`SET search_path TO public; CREATE TABLE found (id int); CREATE TABLE looked (id int);
      INSERT INTO looked VALUES (1);
      CREATE FUNCTION clings(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        IF current_setting('session_replication_role') <> 'replica' THEN RETURN true; END IF;
        ALTER DATABASE brittle IS_TEMPLATE true; RETURN true; END $$;
      ALTER TABLE looked ADD CONSTRAINT clings CHECK (clings(id));
      CREATE FUNCTION looked_up(int) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT count(*) + $1 FROM found';
      CREATE INDEX looks ON looked (looked_up(id))`)
    const online = w.body(['sound', 'brittle'], {
      migrationMode: 'Online',
      setupLogicalReplicationOnSourceDbIfNeeded: 'True',
    })
    const put = (tags: object) => w.call('PUT', at('again'), { ...online, tags })
    const unbounded = put({ 'migration-databases-at-once': '17' })
    await refused(unbounded, 'InvalidParameterValue', 400, /tags\.migration-databases-at-once/)
    assert.equal((await put({ 'migration-verify': 'none' })).status, 201)
    const states = (status: Status, sound: string, brittle: string): boolean =>
      status.databases['sound']?.migrationState === sound &&
      status.databases['brittle']?.migrationState === brittle
    const waits = 'WaitingForCutoverTrigger'
    // Its copy cannot be dropped yet, so it is being cleaned up for as long as that.
    const seen = await w.until('again', (status) => states(status, waits, 'Failed'))
    assert.equal(seen.databases['brittle'].migrationOperation, 'CleaningUp')
    await source.run('DROP INDEX public.looks; ALTER TABLE public.looked DROP CONSTRAINT clings')
    const tags = { 'migration-verify': 'checksums' }
    await refused(w.call('PATCH', at('again'), { tags }), 'InvalidParameterValue', 400, /changed/)
    const wrong = w.call('POST', `${at('again')}/retry`, { databases: ['sound'] })
    await refused(wrong, 'InvalidParameterValue', 400, /brittle/)
    const { body } = await w.call('POST', `${at('again')}/retry`, {})
    assert.deepEqual(body, { databases: ['brittle'] })
    await using inTarget = await w.session('target', 'postgres')
    await inTarget.run('ALTER DATABASE brittle IS_TEMPLATE false')
    await w.until('again', (status) => states(status, waits, waits))
    await w.patch('again', { triggerCutover: 'True' })
    const ended = await w.until('again', isSettled)
    assert.equal(ended.state, 'Succeeded', ended.error)
    const { body: report } = await w.call('GET', `${at('again')}/report`)
    assert.equal(report.databases[0].verified.how, 'none', 'as its tags say')
    assert.equal(await w.contentOf('target', 'brittle'), await w.contentOf('source', 'brittle'))
  })

  row('DELETE calls off what is under way', async (w) => {
    await w.make('deleted')
    await w.put('going', ['deleted'], {
      migrationMode: 'Online',
      setupLogicalReplicationOnSourceDbIfNeeded: 'True',
    })
    await w.until('going', waitsFor('WaitingForCutoverTrigger'))
    await refused(w.call('DELETE', target), 'ServerHasActiveMigration', 409)
    const database = `${target}/databases/postgres`
    await refused(w.call('DELETE', database), 'ServerHasActiveMigration', 409)
    const answer = await w.call('DELETE', at('going'))
    assert.equal(answer.status, 200)
    assert.equal(answer.body.properties.cancel, 'True')
    assert.equal((await w.until('going', isSettled)).state, 'Canceled')
    assert.deepEqual(await w.tracesAtSource(), [])
  })

  row('it waits for the databases to be named, and for the time to begin', async (w) => {
    await w.make('timed')
    const later = new Date(Date.now() + 3_600_000).toISOString()
    await w.put('steps', [], { startDataMigration: 'False' })
    await w.until('steps', waitsFor('WaitingForDBsToMigrateSpecification'))
    const named = statusOf(await w.patch('steps', { dbsToMigrate: ['timed'] }))
    assert.deepEqual([named.state, named.subState], ['InProgress', 'PerformingPreRequisiteSteps'])
    await w.until('steps', waitsFor('WaitingForDataMigrationScheduling'))
    await w.patch('steps', { migrationWindowStartTimeInUtc: later })
    const waiting = await w.until('steps', waitsFor('WaitingForDataMigrationWindow'))
    assert.match(waiting.databases['timed'].message, /begins at/)
    await w.patch('steps', { startDataMigration: 'True' })
    assert.equal((await w.until('steps', isSettled)).state, 'Succeeded')
  })

  row('a window that has come is no wait; one that ends before it begins is refused', async (w) => {
    await w.make('windowed')
    const soon = new Date(Date.now() + 1500).toISOString()
    await refused(
      w.put('window', ['windowed'], {
        migrationWindowStartTimeInUtc: soon,
        migrationWindowEndTimeInUtc: '2020-01-01T00:00:00Z',
      }),
      'InvalidParameterValue',
      400,
    )
    await w.put('window', ['windowed'], {
      migrationWindowStartTimeInUtc: soon,
      startDataMigration: 'False',
    })
    await w.until('window', waitsFor('WaitingForDataMigrationWindow'))
    assert.equal((await w.until('window', isSettled)).state, 'Succeeded')
  })

  row('the three forms of a source, its name, and what bodies may not say', async (w) => {
    const { port } = w.source.address
    await w.register(`${servers}/registered`, w.source)
    await w.make('formed')
    await w.put('formsingle', ['formed'], {
      sourceType: 'PostgreSQLSingleServer',
      sourceDbServerResourceId: `${servers}/registered`,
      sslMode: 'Prefer',
    })
    assert.equal((await w.until('formsingle', isSettled)).state, 'Succeeded')
    const metadata = (await w.call('GET', at('formsingle'))).body.properties
    assert.equal(metadata.sourceDbServerMetadata.location, 'here')
    const bad = async (more: object, text: RegExp, name = 'bad') =>
      refused(w.put(name, ['formed'], more), 'InvalidParameterValue', 400, text)
    await bad({ sourceDbServerResourceId: '127.0.0.1@postgres' }, /<ip_address>:<port>@<username>/)
    await bad({ sourceDbServerResourceId: `${servers}/registered` }, /<hostname>/)
    await bad({ sourceType: 'PostgreSQLSingleServer' }, /resource id of a server/)
    await bad(
      { sourceType: 'PostgreSQLSingleServer', sourceDbServerResourceId: `${servers}/nowhere` },
      /sourceDbServerFullyQualifiedDomainName/,
    )
    await bad({ secretParameters: {} }, /sourceServerPassword/)
    await bad({ dbsToMigrate: ['template1'] }, /dbsToMigrate\[0\].*system database/)
    await bad({ dbsToMigrate: ['a\0user\0b'] }, /dbsToMigrate\[0\].*NUL/)
    await bad({ dbsToMigrate: ['\ud800'] }, /dbsToMigrate\[0\].*well-formed/)
    await bad({ triggerCutover: 'True', dbsToTriggerCutoverOn: ['formed'] }, /603114/)
    await bad({ cancel: 'yes' }, /cancel/)
    await bad({ migrationMode: 'Sideways' }, /migrationMode/)
    await bad({ dbsToMigrate: Array.from({ length: 51 }, (_, i) => `d${i}`) }, /dbsToMigrate/)
    await bad({ migrationWindowStartTimeInUtc: '2026-13-41T00:00:00Z' }, /exists/)
    await refused(w.put('Bad', ['formed']), 'InvalidInput', 400, /MigrationResourceId/)
    // It connects to the name in the override, whatever the id says.
    await w.put('named', ['formed'], {
      sourceDbServerResourceId: `no.such.host.invalid:${port}@nobody`,
      sourceDbServerFullyQualifiedDomainName: '127.0.0.1',
      targetDbServerFullyQualifiedDomainName: 'localhost',
      overwriteDbsInTarget: 'True',
      secretParameters: {
        adminCredentials: {
          sourceServerPassword: w.source.password,
          targetServerPassword: w.target.password,
        },
        sourceServerUsername: 'postgres',
        targetServerUsername: 'postgres',
      },
    })
    const done = await w.until('named', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
    await w.call('DELETE', `${servers}/registered`)
  })

  row('every source type is taken, with its default of TLS', async (w) => {
    const { sourceTypes } = await import('./model.ts')
    for (const [index, sourceType] of sourceTypes.entries()) {
      const single = sourceType === 'PostgreSQLSingleServer'
      const name = `type${index}`
      await w.put(name, [], {
        sourceType,
        ...(single ? { sourceDbServerResourceId: target } : {}),
      })
      const { body } = await w.call('GET', at(name))
      assert.equal(body.properties.sslMode, single ? 'VerifyFull' : 'Prefer')
      await w.patch(name, { cancel: 'True' })
      assert.equal((await w.until(name, isSettled)).state, 'Canceled')
    }
    const seen: string[] = []
    let token: string | undefined
    do {
      const more = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
      const page = await w.call('GET', `${target}/migrations?migrationListFilter=All&$top=5${more}`)
      seen.push(...page.body.value.map((one: { name: string }) => one.name))
      token = page.nextToken
    } while (token !== undefined)
    assert.equal(new Set(seen).size, seen.length)
    for (const [index] of sourceTypes.entries()) assert.ok(seen.includes(`type${index}`))
  })

  row('what the published command line sends is taken, and a PUT of what is shown', async (w) => {
    const guid = '0a1b2c3d-aaaa-4000-8000-0123456789AB'
    const available = await w.call('POST', `${target}/checkMigrationNameAvailability`, {
      name: guid,
      type: 'Vendor.DBforPostgreSQL/flexibleServers/migrations',
    })
    assert.equal(available.body.nameAvailable, true)
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      await refused(w.call(method, at(guid), { tags: {} }), 'InvalidInput', 400)
    }
    await refused(w.call('GET', at('absent')), 'ResourceNotFound', 404)
    assert.equal((await w.call('DELETE', at('absent'))).status, 204)
    const made = await w.put(guid, ['postgres'], {
      migrationMode: 'offline',
      migrationOption: 'Validate',
      setupLogicalReplicationOnSourceDbIfNeeded: 'False',
      overwriteDbsInTarget: 'True',
    })
    assert.equal(made.status, 201)
    const { properties } = made.body
    assert.deepEqual(
      {
        mode: properties.migrationMode,
        cuts: properties.triggerCutover,
        roles: properties.migrateRoles,
        sets: properties.setupLogicalReplicationOnSourceDbIfNeeded,
      },
      { mode: 'Offline', cuts: 'True', roles: 'False', sets: 'False' },
    )
    assert.ok(!Number.isNaN(Date.parse(properties.migrationWindowStartTimeInUtc)))
    const done = await w.until(guid, isSettled)
    assert.equal(done.state, 'Succeeded', JSON.stringify(done.validation))
    const shown = await w.call('GET', at(guid))
    const again = await w.call('PUT', at(guid), shown.body)
    assert.equal(again.status, 200, 'what it shows changes nothing')
    assert.equal(again.etag, shown.etag)
    const secretParameters = {
      adminCredentials: {
        sourceServerPassword: w.source.password,
        targetServerPassword: w.target.password,
      },
    }
    const { location, properties: asShown } = shown.body
    const other = { location, properties: { ...asShown, secretParameters } }
    assert.equal((await w.call('PUT', at('copied'), other)).status, 201)
    assert.equal((await w.until('copied', isSettled)).state, 'Succeeded')
    for (const name of ['copied', guid])
      assert.equal((await w.call('DELETE', at(name))).status, 200)
  })
})
