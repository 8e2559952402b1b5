/**
 * Migrations through the plane, between real servers: the contract's rows, every substate, and who refuses what.
 */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { ApiError } from '#kernel/error.ts'
import { ask } from '#plane/testing/ask.ts'
import { owner } from '#plane/testing/start.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import {
  group,
  isSettled,
  type MigrationFixture,
  openMigrationFixture,
  refused,
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

  row('a password is not sent to a server that was moved to the id of another', async (w) => {
    await w.make('swapped')
    const there = `${servers}/swapped`
    const [aside, elsewhere] = [`${group}-aside`, `${group}-elsewhere`]
    await using trap = await openTrap()
    const { address } = w.source
    await w.register(`${elsewhere}${there.slice(group.length)}`, {
      ...w.source,
      address: { ...address, port: trap.port },
      password: 'of whoever may write the servers',
    })
    await w.register(there, w.source)
    await w.put('swapped', ['swapped'], {
      sourceType: 'PostgreSQLSingleServer',
      sourceDbServerResourceId: there,
      sslMode: 'Prefer',
      startDataMigration: 'False',
    })
    await w.until('swapped', waitsFor('WaitingForDataMigrationScheduling'))
    const move = async (from: string, to: string): Promise<void> => {
      const resources = [`${from}${there.slice(group.length)}`]
      const body = { targetResourceGroup: to, resources }
      await ask(w.plane, 'POST', `${from}/moveResources`, body, {
        as: owner,
        version: '2021-04-01',
      })
    }
    await w.register(`${aside}${servers.slice(group.length)}/any`)
    await move(group, aside)
    await move(elsewhere, group)
    await w.patch('swapped', { startDataMigration: 'True' })
    const { error } = await w.until('swapped', (status) => status.error !== undefined)
    assert.match(error ?? '', /sourceServerPassword was given: give it again/)
    assert.ok(!trap.told().includes(w.source.password))
    await w.patch('swapped', { cancel: 'True' })
    await w.until('swapped', isSettled)
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
