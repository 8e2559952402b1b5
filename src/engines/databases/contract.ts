/**
 * The promises of `engine.ts` as tests, for every engine alike. Nothing is timed: tests wait for a state, and
 * fail when it does not come. What only servers of a kind do stands beside their engine.
 */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import {
  type Credentials,
  type DatabaseEngine,
  DatabaseEngineError,
  type DatabaseEngineErrorKind,
  isToken,
  type MigrationSpec,
  type ObservedMigration,
} from './engine.ts'

/** Two servers with an engine in front of them. */
export interface Backend extends AsyncDisposable {
  readonly credentials: Credentials
  /** A new engine over the same records, as another process would open it. */
  open(): DatabaseEngine
  spec(databases: readonly string[], more?: Partial<MigrationSpec>): MigrationSpec
  /** A database of some tables at that side. */
  makeDatabase(side: 'source' | 'target', name: string): Promise<void>
  /** Writes rows that were not there before. */
  write(database: string): Promise<void>
  /** A value that is equal for equal content; undefined without such a database. */
  contentOf(side: 'source' | 'target', database: string): Promise<string | undefined>
}

export type OpenBackend = () => Promise<Backend | string>
type Require = (t: TestContext, available: boolean, how: string) => boolean

const looksMax = 1_200
const lookMilliseconds = 50

async function until(
  engine: DatabaseEngine,
  migration: string,
  wanted: (observed: ObservedMigration) => boolean,
): Promise<ObservedMigration> {
  let seen: ObservedMigration | undefined
  for (let looks = 0; looks < looksMax; looks++) {
    seen = await engine.observe(migration)
    if (wanted(seen)) return seen
    await new Promise((done) => setTimeout(done, lookMilliseconds))
  }
  throw new Error(`the wanted state did not come; the last seen was ${JSON.stringify(seen)}`)
}

const failsWith =
  (kind: DatabaseEngineErrorKind, number?: number) =>
  (error: unknown): boolean =>
    error instanceof DatabaseEngineError && error.kind === kind && error.number === number

export function databaseEngineContract(name: string, open: OpenBackend, require: Require): void {
  describe(name, () => {
    let backend: Backend | string = 'not opened'
    before(async () => {
      backend = await open()
    })
    after(async () => {
      if (typeof backend !== 'string') await backend[Symbol.asyncDispose]()
    })
    const promise = (
      title: string,
      body: (b: Backend, e: DatabaseEngine) => Promise<void>,
    ): void => {
      test(title, async (t) => {
        const reason = typeof backend === 'string' ? backend : ''
        if (!require(t, typeof backend !== 'string', reason) || typeof backend === 'string') return
        await using engine = backend.open()
        await body(backend, engine)
      })
    }

    test('tokens are short words', () => {
      assert.ok(isToken('0f8fad5bd9cb469fa16570867728950e'))
      for (const bad of ['', 'A', 'a-b', 'a'.repeat(41), '../x', "a'b"])
        assert.ok(!isToken(bad), bad)
    })

    promise('says what it is', async (_, engine) => {
      const { title, clientMajor } = await engine.describe()
      assert.notEqual(title, '')
      assert.equal(typeof clientMajor, 'number')
    })

    promise('a migration never heard of is none, and asks of it are absent', async (_, engine) => {
      const observed = await engine.observe('unheard')
      assert.equal(observed.worker, 'none')
      assert.deepEqual(observed.databases, [])
      await assert.rejects(engine.cutover('unheard', ['a']), failsWith('absent'))
      await assert.rejects(engine.cancel('unheard', ['a']), failsWith('absent'))
      await engine.forget('unheard')
    })

    promise('inspects a server, and says why it cannot', async (b, engine) => {
      await b.makeDatabase('source', 'inspected')
      const { source } = b.spec(['inspected'])
      const password = b.credentials.sourcePassword
      const facts = await engine.inspect({ address: source, password })
      assert.ok(facts.databases.some(({ name: database }) => database === 'inspected'))
      assert.ok(facts.major > 0 && facts.dataBytes > 0)
      const settings = await engine.settings({ address: source, password })
      const wal = settings.find(({ name: setting }) => setting === 'wal_level')
      assert.equal(wal?.value, 'logical')
      assert.ok(wal.words.includes('replica') && wal.needsRestart)
      // Settings that may hold a secret, or name files.
      const names = settings.map(({ name: setting }) => setting)
      const hidden = ['primary_conninfo', 'archive_command', 'data_directory', 'hba_file']
      assert.deepEqual(
        hidden.filter((one) => names.includes(one)),
        [],
      )
      await assert.rejects(
        engine.inspect({ address: source, password: 'wrong' }),
        failsWith('refused', 603100),
      )
      await assert.rejects(
        engine.inspect({ address: { ...source, port: 1 }, password }),
        failsWith('unavailable', 603000),
      )
      await assert.rejects(
        engine.inspect({ address: { ...source, sslMode: 'require' }, password }),
        failsWith('refused', 603001),
      )
    })

    promise('makes and drops a database, and says why it cannot', async (b, engine) => {
      const { target } = b.spec(['ordered'])
      const server = { address: target, password: b.credentials.targetPassword }
      const names = async (): Promise<readonly string[]> =>
        (await engine.inspect(server)).databases.map(({ name }) => name)
      await engine.createDatabase(server, { name: 'or"dered', encoding: 'utf8', collation: 'C' })
      assert.ok((await names()).includes('or"dered'))
      await assert.rejects(
        engine.createDatabase(server, { name: 'or"dered' }),
        failsWith('refused'),
      )
      await assert.rejects(
        engine.createDatabase(server, { name: 'other', collation: 'xx_XX' }),
        failsWith('refused'),
      )
      await engine.dropDatabase(server, 'or"dered')
      await engine.dropDatabase(server, 'or"dered')
      assert.ok(!(await names()).includes('or"dered'))
    })

    promise('a survey tells what is there, at both servers', async (b, engine) => {
      await b.makeDatabase('source', 'surveyed')
      await b.makeDatabase('target', 'surveyed')
      const spec = b.spec(['surveyed', 'lacking'], { mode: 'online' })
      const survey = await engine.survey('survey', spec, b.credentials)
      assert.deepEqual(survey.missing, ['lacking'])
      assert.deepEqual(survey.targetDatabases, [{ name: 'surveyed', made: false }])
      assert.equal(survey.replication.kind, 'ready')
    })

    promise('an unreachable server is a finding of the validation', async (b, engine) => {
      const spec = b.spec(['any'])
      const away = { ...spec, target: { ...spec.target, port: 1 } }
      const report = await engine.validate(away, b.credentials)
      assert.equal(report.state, 'Failed')
      const finding = report.server.find(({ type }) => type === 'TargetConnection')
      assert.match(finding?.messages[0]?.message ?? '', /603000/)
    })

    promise(
      'an offline migration copies, ends, leaves nothing, and is forgotten',
      async (b, engine) => {
        await b.makeDatabase('source', 'offline')
        const spec = b.spec(['offline'])
        await engine.run('off1', spec, b.credentials)
        await engine.run('off1', spec, b.credentials)
        await assert.rejects(engine.cutover('off1', ['offline']), failsWith('refused', 603114))
        const ended = await until(b.open(), 'off1', ({ worker }) => worker === 'ended')
        const [database] = ended.databases
        assert.equal(database?.phase, 'succeeded', database?.message)
        assert.ok((database?.counters.fullLoadCompletedTables ?? 0) > 0)
        assert.equal(await b.contentOf('target', 'offline'), await b.contentOf('source', 'offline'))
        assert.deepEqual(await engine.traces('off1', spec, b.credentials), [])
        await assert.rejects(
          engine.run('off1', { ...spec, verify: 'none' }, b.credentials),
          failsWith('refused'),
        )
        assert.ok((await engine.list()).includes('off1'))
        await engine.forget('off1')
        assert.ok(!(await engine.list()).includes('off1'))
      },
    )

    promise(
      'a wrong password fails the databases, and leaves nothing pending',
      async (b, engine) => {
        await b.makeDatabase('source', 'locked')
        for (const [migration, wrong] of [
          ['pass1', { ...b.credentials, targetPassword: 'wrong' }],
          ['pass2', { ...b.credentials, sourcePassword: 'wrong' }],
        ] as const) {
          await engine.run(migration, b.spec(['locked']), wrong)
          const ended = await until(engine, migration, ({ worker }) => worker === 'ended')
          assert.equal(ended.databases[0]?.phase, 'failed')
          assert.equal(ended.databases[0]?.number, 603100)
          assert.deepEqual(ended.pendingCleanUps, [])
        }
      },
    )

    promise('a target that is away is waited for, until canceled', async (b, engine) => {
      await b.makeDatabase('source', 'patient')
      const spec = b.spec(['patient'])
      const away = { ...spec, target: { ...spec.target, port: 1 } }
      await engine.run('away1', away, b.credentials)
      await until(engine, 'away1', ({ worker, message }) => worker === 'running' && message !== '')
      await engine.cancel('away1', ['patient'])
      const ended = await until(engine, 'away1', ({ worker }) => worker === 'ended')
      assert.equal(ended.databases[0]?.phase, 'canceled')
      await engine.forget('away1')
    })

    promise(
      'a database of the target that is not its own is left alone unless allowed',
      async (b, engine) => {
        await b.makeDatabase('source', 'taken')
        await b.makeDatabase('target', 'taken')
        await b.write('taken')
        const theirs = await b.contentOf('target', 'taken')
        await engine.run('take1', b.spec(['taken']), b.credentials)
        const refused = await until(engine, 'take1', ({ worker }) => worker === 'ended')
        assert.equal(refused.databases[0]?.phase, 'failed')
        assert.equal(refused.databases[0]?.number, 603101)
        assert.equal(await b.contentOf('target', 'taken'), theirs)
        await engine.run('take2', b.spec(['taken'], { overwrite: true }), b.credentials)
        const done = await until(engine, 'take2', ({ worker }) => worker === 'ended')
        assert.equal(done.databases[0]?.phase, 'succeeded', done.databases[0]?.message)
        assert.equal(await b.contentOf('target', 'taken'), await b.contentOf('source', 'taken'))
      },
    )

    promise(
      'an online migration follows changes, and cuts over each database when asked',
      async (b, engine) => {
        await b.makeDatabase('source', 'first')
        await b.makeDatabase('source', 'second')
        const spec = b.spec(['first', 'second'], { mode: 'online' })
        await engine.run('on1', spec, b.credentials)
        await until(
          engine,
          'on1',
          ({ databases }) =>
            databases.length === 2 && databases.every(({ phase }) => phase === 'replicating'),
        )
        await assert.rejects(engine.forget('on1'), failsWith('busy'))
        await b.write('first')
        await until(
          engine,
          'on1',
          ({ databases }) => (databases[0]?.counters.appliedChanges ?? 0) > 0,
        )
        await engine.cutover('on1', ['first'])
        const half = await until(
          engine,
          'on1',
          ({ databases }) => databases[0]?.phase === 'succeeded',
        )
        assert.equal(half.databases[1]?.phase, 'replicating')
        assert.equal(half.worker, 'running')
        assert.ok((half.databases[0]?.pauseMilliseconds ?? 0) > 0)
        assert.equal(await b.contentOf('target', 'first'), await b.contentOf('source', 'first'))
        await b.write('second')
        await b.open().cutover('on1', ['second'])
        await until(engine, 'on1', ({ worker }) => worker === 'ended')
        assert.equal(await b.contentOf('target', 'second'), await b.contentOf('source', 'second'))
        assert.deepEqual(await engine.traces('on1', spec, b.credentials), [])
      },
    )

    promise(
      'a canceled database leaves the source free and, unless told, the copy',
      async (b, engine) => {
        await b.makeDatabase('source', 'kept')
        await b.makeDatabase('source', 'dropped')
        const spec = b.spec(['kept', 'dropped'], { mode: 'online' })
        await engine.run('can1', spec, b.credentials)
        await until(
          engine,
          'can1',
          ({ databases }) =>
            databases.length === 2 && databases.every(({ phase }) => phase === 'replicating'),
        )
        await engine.cancel('can1', ['kept'])
        await until(engine, 'can1', ({ databases }) => databases[0]?.phase === 'canceled')
        await engine.cancel('can1', ['dropped'], { dropTarget: true })
        const ended = await until(engine, 'can1', ({ worker }) => worker === 'ended')
        assert.deepEqual(ended.asked.cancel, ['kept', 'dropped'])
        assert.deepEqual(
          ended.databases.map(({ phase }) => phase),
          ['canceled', 'canceled'],
        )
        assert.deepEqual(await engine.traces('can1', spec, b.credentials), [])
        assert.equal(await b.contentOf('target', 'kept'), await b.contentOf('source', 'kept'))
        assert.equal(await b.contentOf('target', 'dropped'), undefined)
      },
    )
  })
}
