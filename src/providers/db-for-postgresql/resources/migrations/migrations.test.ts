/**
 * Migrations through the plane, between real servers: the contract's rows, every substate, and who refuses what.
 */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { ApiError } from '#kernel/error.ts'
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
import { openTrap } from '../../testing/trap.ts'

const isThere = findServer(15) !== undefined

describe('migrations', () => {
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

  row('a registered server is looked at, and its databases are listed', async (w) => {
    const { body } = await w.call('GET', target)
    assert.equal(body.properties.state, 'Ready')
    assert.equal(body.properties.version, '15')
    assert.equal(body.properties.provisioningState, 'Succeeded')
    assert.equal(body.properties.administratorLoginPassword, undefined)
    await w.make('listed', 'target')
    const list = await w.call('GET', `${target}/databases`)
    const found = list.body.value.find((one: { name: string }) => one.name === 'listed')
    assert.deepEqual(found.properties.charset, 'UTF8')
    const one = await w.call('GET', `${target}/databases/listed`)
    assert.equal(one.body.id, `${target}/databases/listed`)
    await refused(w.call('GET', `${target}/databases/none`), 'ResourceNotFound', 404)
    const wrong = await w.register(`${servers}/wrong`, { ...w.target, password: 'wrong' })
    assert.equal(wrong.body.properties.provisioningState, 'Failed')
    assert.match(wrong.body.properties.stateReason, /password|authentic/)
    await refused(w.call('GET', `${servers}/wrong/databases`), 'ServerNotReachable', 409)
    await w.call('DELETE', `${servers}/wrong`)
    const properties = { fullyQualifiedDomainName: 'db.example:5433', administratorLogin: 'u' }
    await refused(
      w.call('PUT', `${servers}/joined`, { location: 'here', properties }),
      'InvalidParameterValue',
      400,
      /without a port/,
    )
  })

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

  row(
    'a server without an address is where the operator says, or shows that it has none',
    async (w) => {
      const { password } = w.target
      const administratorLogin = w.target.address.user
      const properties = { administratorLogin, administratorLoginPassword: password }
      for (const name of ['mapped', 'unmapped']) {
        await w.call('PUT', `${servers}/${name}`, { location: 'local', properties })
      }
      await w.plane.reconciler.idle()
      const mapped = (await w.call('GET', `${servers}/mapped`)).body.properties
      assert.deepEqual([mapped.state, mapped.port], ['Ready', w.target.address.port])
      const unmapped = (await w.call('GET', `${servers}/unmapped`)).body.properties
      assert.equal(unmapped.state, 'Inaccessible')
      assert.equal(unmapped.provisioningState, 'Succeeded')
      assert.match(unmapped.stateReason, /postgresServers/)
      assert.equal(unmapped.fullyQualifiedDomainName, 'unmapped.no-address.invalid')
      // The properties that clients compute with are there.
      assert.deepEqual(
        [unmapped.storage.storageSizeGB, unmapped.storage.tier, unmapped.availabilityZone],
        [32, 'P4', '1'],
      )
      const again = { location: 'local', properties: { ...unmapped, ...properties } }
      await w.call('PUT', `${servers}/unmapped`, again)
      const storage = { storageSizeGB: 512 }
      await w.plane.reconciler.idle()
      await w.call('PATCH', `${servers}/unmapped`, { properties: { storage } })
      const larger = (await w.call('GET', `${servers}/unmapped`)).body.properties.storage
      assert.deepEqual([larger.storageSizeGB, larger.tier], [512, 'P20'])
      await w.plane.reconciler.idle()
      for (const name of ['mapped', 'unmapped']) await w.call('DELETE', `${servers}/${name}`)
    },
  )

  row('an offline migration moves a database, with every field of the contract', async (w) => {
    await w.make('moved')
    const made = await w.put('offline', ['moved'], { migrationOption: 'ValidateAndMigrate' })
    assert.equal(made.status, 201)
    assert.equal(made.operation, undefined, 'neither PUT nor PATCH is long-running')
    assert.equal(statusOf(made).state, 'InProgress')
    assert.equal(statusOf(made).subState, 'PerformingPreRequisiteSteps')
    const done = await w.until('offline', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
    assert.equal(done.subState, 'Completed')
    assert.equal(await w.contentOf('target', 'moved'), await w.contentOf('source', 'moved'))
    const { body } = await w.call('GET', at('offline'))
    const { properties } = body
    assert.match(properties.migrationId, /^[0-9a-f-]{36}$/)
    assert.equal(properties.migrationMode, 'Offline')
    assert.equal(properties.migrationOption, 'ValidateAndMigrate')
    assert.equal(properties.sourceType, 'OnPremises')
    assert.equal(properties.sslMode, 'Prefer')
    assert.equal(properties.targetDbServerResourceId, target)
    assert.deepEqual(properties.dbsToMigrate, ['moved'])
    assert.equal(properties.secretParameters, undefined)
    for (const side of ['sourceDbServerMetadata', 'targetDbServerMetadata']) {
      assert.equal(properties[side].version, '15')
      assert.ok(Number.isInteger(properties[side].storageMb))
    }
    assert.deepEqual(properties.targetDbServerMetadata.sku, {
      name: 'Registered',
      tier: 'GeneralPurpose',
    })
    const { moved } = done.databases
    assert.equal(moved.databaseName, 'moved')
    assert.equal(moved.migrationState, 'Succeeded')
    assert.equal(moved.fullLoadCompletedTables, 2)
    for (const counter of [
      'incomingChanges',
      'appliedChanges',
      'cdcInsertCounter',
      'cdcUpdateCounter',
      'cdcDeleteCounter',
      'fullLoadErroredTables',
      'fullLoadLoadingTables',
      'fullLoadQueuedTables',
    ]) {
      assert.equal(moved[counter], 0, counter)
    }
    assert.ok(Date.parse(moved.startedOn) <= Date.parse(moved.endedOn))
    assert.notEqual(done.validation.status, 'Failed')
    const [server] = done.validation.serverLevelValidationDetails
    assert.deepEqual(Object.keys(server).sort(), ['messages', 'state', 'type'])
    const [database] = done.validation.dbLevelValidationDetails
    assert.equal(database.databaseName, 'moved')
    assert.ok(database.summary.length > 0)
    const stored = JSON.stringify(await w.store.list({ under: '/', limit: 1000 }))
    assert.ok(!stored.includes(w.source.password), 'passwords are sealed')
    assert.ok(!JSON.stringify(body).includes(w.source.password))
  })

  row('ended ones are in the list of all, and can be removed', async (w) => {
    const names = async (query: string) =>
      (await w.call('GET', `${target}/migrations${query}`)).body.value.map(
        (one: { name: string }) => one.name,
      )
    assert.ok(!(await names('')).includes('offline'))
    assert.ok((await names('?migrationListFilter=All')).includes('offline'))
    await refused(
      w.call('GET', `${target}/migrations?migrationListFilter=Some`),
      'InvalidQueryParameter',
      400,
    )
    const ask = (name: string, type = 'Vendor.DBforPostgreSQL/flexibleServers/migrations') =>
      w.call('POST', `${target}/checkMigrationNameAvailability`, { name, type })
    assert.equal((await ask('free')).body.nameAvailable, true)
    assert.equal((await ask('offline')).body.reason, 'AlreadyExists')
    assert.equal((await ask('Not-A-Name')).body.reason, 'Invalid')
    assert.equal((await ask('free', 'other')).body.reason, 'Invalid')
    await refused(
      w.patch('offline', { triggerCutover: 'True' }),
      'MigrationStateConflict',
      409,
      /603113/,
    )
    await refused(w.patch('offline', { cancel: 'True' }), 'MigrationStateConflict', 409)
    // The worker and its record are long gone.
    const { body: report } = await w.call('GET', `${at('offline')}/report`)
    const [of] = report.databases
    assert.deepEqual([report.state, of.name, of.outcome], ['Succeeded', 'moved', 'succeeded'])
    for (const { address, version } of [report.source, report.target])
      assert.match(`${address} ${version}`, /^127\.0\.0\.1:\d+ \d+$/)
    type Told = { name: string; rows: number; compared: { how: string; rows: number } }
    assert.deepEqual(
      of.tables.map(({ name, compared }: Told) => [name, compared.how, compared.rows]).toSorted(),
      [
        ['public.child', 'counts', 500],
        ['public.parent', 'counts', 500],
      ],
    )
    assert.ok(of.tables.length > 0 && of.verified.tables === of.tables.length)
    await refused(w.call('POST', `${at('offline')}/catchUp`, {}), 'MigrationStateConflict', 409)
    await refused(
      w.call('POST', `${at('offline')}/catchUp`, { databases: ['moved'] }),
      'InvalidParameterValue',
      400,
    )
    await refused(
      w.call('POST', `${at('offline')}/retry`, {}),
      'MigrationStateConflict',
      409,
      /no database that has failed/,
    )
    assert.equal((await w.call('PATCH', at('offline'), { tags: { a: 'b' } })).body.tags.a, 'b')
    assert.equal((await w.call('DELETE', at('offline'))).status, 200)
    await refused(w.call('GET', at('offline')), 'ResourceNotFound', 404)
    assert.equal((await w.call('DELETE', at('offline'))).status, 204)
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

  row('an online migration waits for cutover, database by database', async (w) => {
    for (const name of ['first', 'second', 'third']) await w.make(name)
    await w.put('online', ['first', 'second', 'third'], {
      migrationMode: 'Online',
      setupLogicalReplicationOnSourceDbIfNeeded: 'True',
    })
    await refused(w.put('other', ['first']), 'MigrationInProgress', 409, /migrations\/online/)
    await w.until('online', waitsFor('WaitingForCutoverTrigger'))
    const waiting = await w.call('GET', at('online'))
    {
      await using inside = await w.session('target', 'postgres')
      const reached = await inside.rows<{ text: string }>(
        'SELECT subconninfo AS text FROM pg_subscription',
      )
      assert.equal(reached.length, 3)
      for (const { text } of reached) assert.match(text, /localhost/)
    }
    {
      await using inside = await w.session('source', 'first')
      await inside.run(`INSERT INTO public.parent VALUES (1001, 'late'); UPDATE public.parent SET t = 'x' WHERE id = 1;
        DELETE FROM public.child WHERE id = 7`)
    }
    const counted = await w.until(
      'online',
      ({ databases }) => databases['first'].appliedChanges >= 3,
    )
    const { first } = counted.databases
    assert.deepEqual(
      [first.cdcInsertCounter, first.cdcUpdateCounter, first.cdcDeleteCounter],
      [1, 1, 1],
    )
    assert.equal(first.migrationState, 'WaitingForCutoverTrigger')
    assert.equal(typeof first.latency, 'number')
    assert.ok(first.incomingChanges >= 3)
    // Progress is no change: an earlier tag still matches.
    const tagged = await w.call(
      'PATCH',
      at('online'),
      { tags: { on: 'time' } },
      {
        ifMatch: waiting.etag ?? '',
      },
    )
    assert.equal(tagged.status, 200)
    for (const [properties, text] of [
      [{ dbsToMigrate: ['first'] }, /dbsToMigrate cannot be changed/],
      [{ migrationMode: 'Offline' }, /migrationMode cannot be changed/],
      [{ overwriteDbsInTarget: 'True' }, /overwriteDbsInTarget/],
      [{ startDataMigration: 'False' }, /has started already/],
    ] as const) {
      await refused(w.patch('online', properties), 'MigrationStateConflict', 409, text)
    }
    await refused(
      w.patch('online', { triggerCutover: 'True', dbsToTriggerCutoverOn: ['none'] }),
      'InvalidParameterValue',
      400,
      /not among dbsToMigrate/,
    )
    const cut = await w.patch('online', {
      triggerCutover: 'True',
      dbsToTriggerCutoverOn: ['first'],
    })
    assert.equal(cut.status, 200)
    const shown = statusOf(cut)
    assert.equal(shown.databases['first'].migrationState, 'InProgress')
    assert.equal(shown.subState, 'WaitingForCutoverTrigger', 'the others wait')
    assert.deepEqual(cut.body.properties.dbsToTriggerCutoverOn, ['first'])
    await w.until('online', ({ databases }) => databases['first'].migrationState === 'Succeeded')
    assert.equal(await w.contentOf('target', 'first'), await w.contentOf('source', 'first'))
    // Names alone request nothing, and a later body does not use them.
    const named = await w.patch('online', { dbsToTriggerCutoverOn: ['second'] })
    assert.deepEqual(named.body.properties.dbsToTriggerCutoverOn, ['first'])
    // By the contract, the list of databases to cancel goes with `triggerCutover`.
    const canceled = await w.patch('online', {
      triggerCutover: 'True',
      dbsToCancelMigrationOn: ['third'],
    })
    const { second, third } = statusOf(canceled).databases
    assert.equal(third.migrationState, 'Canceling')
    assert.equal(second.migrationState, 'WaitingForCutoverTrigger')
    await w.until('online', ({ databases }) => databases['third'].migrationState === 'Canceled')
    await refused(
      w.patch('online', { triggerCutover: 'True', dbsToTriggerCutoverOn: ['second', 'none'] }),
      'InvalidParameterValue',
      400,
    )
    const untouched = statusOf(await w.patch('online', { dbsToTriggerCutoverOn: ['second'] }))
    assert.equal(untouched.databases['second'].migrationState, 'WaitingForCutoverTrigger')
    await w.patch('online', { triggerCutover: 'True', dbsToTriggerCutoverOn: ['second'] })
    const done = await w.until('online', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
    assert.equal(done.databases['third'].migrationState, 'Canceled')
    assert.deepEqual(await w.tracesAtSource(), [])
  })

  row('of two that begin at once one does, and the other is told of it', async (w) => {
    const outcomes = await Promise.allSettled([w.put('racea', []), w.put('raceb', [])])
    const made = outcomes.filter(({ status }) => status === 'fulfilled')
    assert.equal(made.length, 1)
    const lost = outcomes.find(({ status }) => status === 'rejected')
    assert.ok(lost?.status === 'rejected' && lost.reason instanceof ApiError)
    assert.equal(lost.reason.code, 'MigrationInProgress')
    for (const name of ['racea', 'raceb']) {
      if ((await w.call('DELETE', at(name))).status === 200) await w.until(name, isSettled)
    }
  })

  row(
    'cancel wins over cutover, keeps what was copied, and leaves the source as it was',
    async (w) => {
      await w.make('kept')
      await w.put('called', ['kept'], {
        migrationMode: 'Online',
        setupLogicalReplicationOnSourceDbIfNeeded: 'True',
      })
      await refused(w.patch('called', { triggerCutover: 'True' }), 'MigrationStateConflict', 409)
      await w.until('called', waitsFor('WaitingForCutoverTrigger'))
      assert.notDeepEqual(await w.tracesAtSource(), [])
      const called = statusOf(await w.patch('called', { triggerCutover: 'True', cancel: 'True' }))
      // The answer already shows it.
      assert.equal(called.subState, 'CancelingRequestedDBMigrations')
      assert.equal(called.databases['kept'].migrationState, 'Canceling')
      const done = await w.until('called', isSettled)
      assert.equal(done.state, 'Canceled')
      assert.equal(done.subState, 'Completed')
      assert.equal(done.databases['kept'].migrationState, 'Canceled')
      assert.equal(await w.contentOf('target', 'kept'), await w.contentOf('source', 'kept'))
      assert.deepEqual(await w.tracesAtSource(), [])
      assert.deepEqual(await w.engine.list(), [])
    },
  )

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

  row('a database of the target is not touched until its overwriting is allowed', async (w) => {
    await w.make('taken')
    await w.make('taken', 'target')
    {
      await using inside = await w.session('target', 'taken')
      await inside.run("INSERT INTO public.parent VALUES (9999, 'theirs')")
    }
    const theirs = await w.contentOf('target', 'taken')
    await w.put('over', ['taken'])
    const waiting = await w.until('over', waitsFor('WaitingForTargetDBOverwriteConfirmation'))
    assert.match(waiting.databases['taken'].message, /overwriteDbsInTarget/)
    assert.equal(await w.contentOf('target', 'taken'), theirs)
    await w.patch('over', { overwriteDbsInTarget: 'True' })
    assert.equal((await w.until('over', isSettled)).state, 'Succeeded')
    assert.equal(await w.contentOf('target', 'taken'), await w.contentOf('source', 'taken'))
  })

  row('Validate judges and moves nothing; what fails says what to do', async (w) => {
    await w.make('judged')
    await w.put('judge', ['judged'], { migrationOption: 'Validate' })
    const clean = await w.until('judge', isSettled)
    assert.equal(clean.state, 'Succeeded', clean.error)
    assert.equal(clean.databases['judged'].migrationState, 'Succeeded')
    assert.equal(clean.databases['judged'].migrationOperation, 'Validated')
    assert.equal(await w.contentOf('target', 'judged'), undefined)
    await w.put('lacking', ['judged', 'missing'], { migrationOption: 'ValidateAndMigrate' })
    const failed = await w.until('lacking', isSettled)
    assert.equal(failed.state, 'ValidationFailed')
    assert.equal(failed.subState, 'Completed')
    assert.match(failed.error ?? '', /missing/)
    assert.equal(failed.databases['missing'].migrationState, 'Failed')
    assert.equal(failed.databases['judged'].migrationState, 'Succeeded')
    assert.equal(failed.validation.status, 'Failed')
    await w.put('unjudged', ['judged', 'missing'])
    const plain = await w.until('unjudged', isSettled)
    assert.equal(plain.state, 'Failed')
    assert.match(plain.error ?? '', /603102/)
  })

  row('a wrong password fails with its number, and a right one can be given before', async (w) => {
    await w.make('locked')
    const wrong = (target: string) => ({
      secretParameters: {
        adminCredentials: { sourceServerPassword: 'wrong', targetServerPassword: target },
      },
    })
    await w.put('locked1', ['locked'], wrong(w.target.password))
    const failed = await w.until('locked1', isSettled)
    assert.equal(failed.state, 'Failed')
    assert.match(failed.error ?? '', /^603100/)
    await w.put('locked2', [], { ...wrong(w.target.password) })
    await w.until('locked2', waitsFor('WaitingForDBsToMigrateSpecification'))
    await w.patch('locked2', {
      dbsToMigrate: ['locked'],
      secretParameters: { adminCredentials: { sourceServerPassword: w.source.password } },
    })
    assert.equal((await w.until('locked2', isSettled)).state, 'Succeeded')
  })

  row('a password is not sent to a server that was changed after it was given', async (w) => {
    await w.make('lent')
    const lent = `${servers}/lent`
    await w.register(lent, w.source)
    await using trap = await openTrap()
    const body = (sourceServerPassword: string) => ({
      secretParameters: { adminCredentials: { sourceServerPassword } },
    })
    await w.put('lent', ['lent'], {
      sourceType: 'PostgreSQLSingleServer',
      sourceDbServerResourceId: lent,
      sslMode: 'Prefer',
      startDataMigration: 'False',
    })
    await w.until('lent', waitsFor('WaitingForDataMigrationScheduling'))
    const move = (port: number, administratorLoginPassword: string) =>
      w.call('PATCH', lent, { properties: { port, administratorLoginPassword } })
    await move(trap.port, 'of whoever may write the server')
    // Another password does not authorize it.
    const { password } = w.target
    await w.patch('lent', {
      startDataMigration: 'True',
      secretParameters: { adminCredentials: { targetServerPassword: password } },
    })
    const refusedNow = await w.until('lent', ({ error }) => error !== undefined)
    assert.match(refusedNow.error ?? '', /sourceServerPassword was given: give it again/)
    for (let looks = 0; !trap.told().includes('whoever') && looks < 1200; looks++) {
      await new Promise((done) => setTimeout(done, 50))
    }
    assert.match(trap.told(), /of whoever may write the server/)
    assert.ok(!trap.told().includes(w.source.password))
    // The observation that the trap was told of may still be running.
    for (let looks = 0; looks < 1200; looks++) {
      const { body: seen } = await w.call('GET', lent)
      if (seen.properties.provisioningState !== 'Updating') break
      await new Promise((done) => setTimeout(done, 50))
    }
    await move(w.source.address.port, w.source.password)
    await w.patch('lent', body(w.source.password))
    const done = await w.until('lent', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
    // After the end, a right guess is not confirmed.
    for (const guess of [w.source.password, 'wrong']) {
      assert.equal((await w.patch('lent', body(guess))).status, 200)
    }
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

  row('a target that does not allow it, or a server one may not see, is refused', async (w) => {
    const small = `${servers}/small`
    await w.call('PUT', small, {
      location: 'here',
      sku: { name: 'B1', tier: 'Burstable' },
      properties: { fullyQualifiedDomainName: '127.0.0.1', administratorLogin: 'x' },
    })
    await refused(
      w.call('PUT', `${small}/migrations/m`, w.body(['listed'])),
      'InvalidParameterValue',
      400,
      /Burstable/,
    )
    await w.call('DELETE', small)
  })
})
