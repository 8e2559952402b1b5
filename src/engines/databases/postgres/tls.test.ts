/** The TLS modes, against a server with a certificate of an authority of its own, and against one without. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import { DatabaseEngineError, type ServerAddress, type SslMode } from '../engine.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'
import { isEnded, only, openWorld } from '../testing/world.ts'

const openssl = '/usr/bin/openssl'

/** Signed by itself, for this name only; both files belong to whom the server runs as. */
function makeCertificate(folder: string, name: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')]
  const shape = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`]
  execFileSync(
    openssl,
    [
      'req',
      ...shape,
      ...['-addext', `subjectAltName=${name}`, '-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  )
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'))
  const [, , uid, gid] = line?.split(':') ?? []
  if (process.getuid?.() === 0 && uid !== undefined && gid !== undefined) {
    for (const path of [folder, certificate, key]) chownSync(path, Number(uid), Number(gid))
  }
  return { certificate, key }
}

for (const [name, matches] of [
  ['IP:127.0.0.1', true],
  ['DNS:elsewhere.example', false],
] as const) {
  test(`TLS modes with a certificate for ${name}`, async (t) => {
    const there = findServer(15) !== undefined && existsSync(openssl)
    if (!requireOrSkip(t, there, `${howToGetServers}; and openssl`)) return
    const folder = mkdtempSync(join(tmpdir(), 'armature-tls-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const { certificate, key } = makeCertificate(folder, name)
    await using world = await openWorld(15, 15, {
      ssl: 'on',
      ssl_cert_file: certificate,
      ssl_key_file: key,
    })
    await using engine = world.open()
    const authorities = readFileSync(certificate, 'utf8')
    const { password } = world.source
    const address = (sslMode: SslMode, trusted: boolean): ServerAddress => ({
      ...world.source.address,
      sslMode,
      ...(trusted ? { rootCertificates: authorities } : {}),
    })
    const isRefused = (error: unknown): boolean =>
      error instanceof DatabaseEngineError && error.kind === 'refused' && error.number === 603001

    for (const mode of ['prefer', 'require'] as const) {
      assert.equal(
        (await engine.inspect({ address: address(mode, false), password })).encrypted,
        true,
      )
    }
    for (const mode of ['verify-ca', 'verify-full'] as const) {
      await assert.rejects(engine.inspect({ address: address(mode, false), password }), isRefused)
    }
    assert.equal(
      (await engine.inspect({ address: address('verify-ca', true), password })).encrypted,
      true,
    )
    const full = engine.inspect({ address: address('verify-full', true), password })
    if (matches) assert.equal((await full).encrypted, true)
    else await assert.rejects(full, isRefused)

    await world.make('sealed', ['CREATE TABLE t (a int); INSERT INTO t VALUES (1)'])
    const mode = matches ? 'verify-full' : 'verify-ca'
    const spec = world.spec(['sealed'], { source: address(mode, true) })
    await engine.run('tls', spec, world.credentials)
    const ended = await world.until(engine, 'tls', isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
    // The target has no certificate: a mode that demands one is refused, and nothing is begun in the clear.
    await assert.rejects(
      engine.inspect({
        address: { ...world.target.address, sslMode: 'require' },
        password: world.target.password,
      }),
      isRefused,
    )
  })
}
