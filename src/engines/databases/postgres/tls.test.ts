/** The TLS modes, against a server with a certificate of its own authority, and against one without. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { watchedWay } from '#outbound/testing/ways.ts'
import { isLong } from '../../../../tests/long.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import {
  DatabaseEngineError,
  type MigrationSpec,
  type ServerAddress,
  type SslMode,
} from '../engine.ts'
import { isEnded, only, openMigrationFixture, startReplicating } from '../testing/fixture.ts'
import { findServer, howToGetServers, startServer } from '../testing/servers.ts'
import { runProgram } from './client-programs.ts'
import { findClientPrograms } from './find-client-programs.ts'
import { createPostgresEngine } from './postgres-engine.ts'

const openssl = '/usr/bin/openssl'

interface Certificates {
  /** The certificate of the authority. */
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

/** An authority and a server certificate for this name only. The files belong to the user that runs the servers. */
function makeCertificates(folder: string, name: string): Certificates {
  const file = (of: string): string => join(folder, of)
  const run = (...args: readonly string[]) => execFileSync(openssl, args, { stdio: 'ignore' })
  const [authority, certificate, key] = ['root.crt', 'server.crt', 'server.key'].map(file)
  if (authority === undefined || certificate === undefined || key === undefined) {
    throw new Error('three names were given')
  }
  // Made in a moment, unlike those of RSA.
  const fresh = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  run(
    ...fresh,
    ...['-x509', '-days', '2', '-subj', '/CN=root'],
    '-keyout',
    file('root.key'),
    '-out',
    authority,
  )
  run(...fresh, '-subj', '/CN=server', '-keyout', key, '-out', file('server.csr'))
  writeFileSync(file('names'), `subjectAltName=${name}`)
  run(
    ...['x509', '-req', '-days', '2', '-in', file('server.csr'), '-extfile', file('names')],
    ...['-CA', authority, '-CAkey', file('root.key'), '-CAcreateserial', '-out', certificate],
  )
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'))
  const [, , uid, gid] = line?.split(':') ?? []
  if (process.getuid?.() === 0 && uid !== undefined && gid !== undefined) {
    for (const path of [folder, authority, certificate, key]) {
      chownSync(path, Number(uid), Number(gid))
    }
  }
  return { authority, certificate, key }
}

/** A folder that is removed with the test. */
function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'armature-tls-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the name is verified and the judged address connected to, by sessions and client programs', async (t) => {
  const programs = await findClientPrograms()
  const there = findServer(15) !== undefined && existsSync(openssl) && programs !== undefined
  if (!requireOrSkip(t, there, `${howToGetServers}; and openssl`) || !programs) return
  const { authority, certificate, key } = makeCertificates(folderFor(t), 'DNS:db.test')
  await using server = await startServer(15, {
    ssl: 'on',
    ssl_cert_file: certificate,
    ssl_key_file: key,
  })
  const { address, password } = server
  // No name server knows these names, so resolving them again would fail.
  const names = { 'db.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] }
  const { outbound, asked } = watchedWay({ allow: ['*.test'] }, names)
  const folder = folderFor(t)
  await using engine = createPostgresEngine({ clock: { now: () => 0 }, outbound, folder })
  const rootCertificates = readFileSync(authority, 'utf8')
  const at = (host: string): ServerAddress => ({
    ...address,
    host,
    sslMode: 'verify-full',
    rootCertificates,
  })
  const dump = (host: string) =>
    runProgram({
      programs,
      name: 'pg_dump',
      args: ['--schema-only'],
      server: { address: at(host), password, outbound },
      database: 'postgres',
      applicationName: 'test',
      rootCertificateFile: authority,
      outputFile: join(folder, 'dump'),
      signal: AbortSignal.timeout(60_000),
    })
  assert.equal((await engine.inspect({ address: at('db.test'), password })).encrypted, true)
  await dump('DB.test.')
  assert.match(readFileSync(join(folder, 'dump'), 'utf8'), /PostgreSQL database dump complete/)
  assert.deepEqual(asked, ['db.test', 'db.test'])
  await assert.rejects(engine.inspect({ address: at('other.test'), password }), isRefused)
  await assert.rejects(dump('other.test'), /certificate|does not match/)
})

const isRefused = (error: unknown): boolean =>
  error instanceof DatabaseEngineError && error.kind === 'refused' && error.number === 603001

for (const [name, matches] of [
  ['IP:127.0.0.1', true],
  ['DNS:elsewhere.example', false],
] as const) {
  test(`TLS modes with a certificate for ${name}`, async (t) => {
    const there = findServer(15) !== undefined && existsSync(openssl)
    if (!requireOrSkip(t, there, `${howToGetServers}; and openssl`)) return
    const { authority, certificate, key } = makeCertificates(folderFor(t), name)
    const other = makeCertificates(folderFor(t), name)
    await using fixture = await openMigrationFixture(15, 15, {
      ssl: 'on',
      ssl_cert_file: certificate,
      ssl_key_file: key,
    })
    await using engine = fixture.open()
    const authorities = readFileSync(authority, 'utf8')
    const { password } = fixture.source
    const address = (sslMode: SslMode, trusted: boolean): ServerAddress => ({
      ...fixture.source.address,
      sslMode,
      ...(trusted ? { rootCertificates: authorities } : {}),
    })
    for (const mode of ['prefer', 'require'] as const) {
      assert.equal(
        (await engine.inspect({ address: address(mode, false), password })).encrypted,
        true,
      )
    }
    for (const mode of ['verify-ca', 'verify-full'] as const) {
      await assert.rejects(engine.inspect({ address: address(mode, false), password }), isRefused)
      const rootCertificates = readFileSync(other.authority, 'utf8')
      const wrong = { ...address(mode, false), rootCertificates }
      await assert.rejects(engine.inspect({ address: wrong, password }), isRefused)
    }
    assert.equal(
      (await engine.inspect({ address: address('verify-ca', true), password })).encrypted,
      true,
    )
    const full = engine.inspect({ address: address('verify-full', true), password })
    if (matches) assert.equal((await full).encrypted, true)
    else await assert.rejects(full, isRefused)

    await fixture.make('sealed', ['CREATE TABLE t (a int); INSERT INTO t VALUES (1)'])
    const mode = matches ? 'verify-full' : 'verify-ca'
    const spec = fixture.spec(['sealed'], { source: address(mode, true) })
    await engine.run('tls', spec, fixture.credentials)
    const ended = await fixture.until(engine, 'tls', isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
    // The target has no certificate: a mode that requires one is refused, and nothing is sent unencrypted.
    await assert.rejects(
      engine.inspect({
        address: { ...fixture.target.address, sslMode: 'require' },
        password: fixture.target.password,
      }),
      isRefused,
    )
  })
}

test('a subscription keeps to the TLS mode of the source', async (t) => {
  const there = findServer(15) !== undefined && existsSync(openssl)
  if (!requireOrSkip(t, there, `${howToGetServers}; and openssl`)) return
  const { authority, certificate, key } = makeCertificates(folderFor(t), 'IP:127.0.0.1')
  const other = makeCertificates(folderFor(t), 'IP:127.0.0.1')
  await using fixture = await openMigrationFixture(15, 15, {
    ssl: 'on',
    ssl_cert_file: certificate,
    ssl_key_file: key,
  })
  await using engine = fixture.open()
  await fixture.make('sealed', ['CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)'])
  const rootCertificates = readFileSync(authority, 'utf8')
  const specOf = (sslMode: SslMode, more: Partial<MigrationSpec> = {}): MigrationSpec =>
    fixture.spec(['sealed'], {
      mode: 'online',
      overwrite: true,
      source: { ...fixture.source.address, sslMode, rootCertificates },
      ...more,
    })
  const localhost = { host: 'localhost', port: fixture.source.server.port }
  const kept: readonly MigrationSpec[] = [
    specOf('prefer'),
    specOf('require'),
    specOf('verify-ca', { authoritiesAtTarget: authority, sourceFromTarget: localhost }),
    specOf('verify-full', { authoritiesAtTarget: authority }),
  ]
  // The first two only differ from the last ones in what they do not check.
  for (const [index, spec] of (isLong ? kept : kept.slice(2)).entries()) {
    const migration = `kept${index}`
    assert.notEqual((await engine.validate(spec, fixture.credentials)).state, 'Failed')
    await startReplicating(fixture, engine, migration, spec)
    await using source = await fixture.session('source', 'sealed')
    let seen: string | undefined
    for (let looks = 0; looks < 600 && seen === undefined; looks++) {
      seen = await source.value(
        `SELECT bool_and(ssl) FROM pg_catalog.pg_stat_ssl
         JOIN pg_catalog.pg_stat_replication USING (pid) WHERE application_name LIKE 'mig\\_kept%'`,
      )
      await new Promise((done) => setTimeout(done, 50))
    }
    assert.equal(seen, 'true')
    await source.run(`INSERT INTO public.t VALUES (${index + 10})`)
    await engine.cutover(migration, ['sealed'])
    const ended = only(await fixture.until(engine, migration, isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
  }
  const broken: readonly MigrationSpec[] = [
    // Its own default file, which does not exist.
    specOf('verify-ca'),
    specOf('verify-ca', { authoritiesAtTarget: other.authority }),
    specOf('verify-full', { authoritiesAtTarget: authority, sourceFromTarget: localhost }),
  ]
  for (const [index, spec] of broken.entries()) {
    const migration = `broken${index}`
    const report = await engine.validate(spec, fixture.credentials)
    const found = report.server.find(({ type }) => type === 'TargetReachesSource')
    assert.equal(found?.state, 'Failed')
    assert.match(JSON.stringify(found), /603001/)
    await engine.run(migration, spec, fixture.credentials)
    const ended = only(await fixture.until(engine, migration, isEnded))
    assert.equal(ended.phase, 'failed')
    assert.equal(ended.number, 603001, ended.message)
    assert.deepEqual(await engine.traces(migration, spec, fixture.credentials), [])
  }
})
