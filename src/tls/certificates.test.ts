/** Certificates of a home and of files, used by real handshakes: their names, and when they are renewed. */

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect, createServer, type PeerCertificate } from 'node:tls'
import { silentLog } from '#kernel/ports.ts'
import { createAuthority, issueCertificate, type KeyPair } from './certificate.ts'
import { openFileCertificates, openHomeCertificates } from './certificates.ts'

const day = 86_400_000

function freshHome(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'armature-tls-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  return home
}

function open(home: string, more: { names?: readonly string[]; now?: number } = {}) {
  return openHomeCertificates({
    home,
    names: more.names ?? ['localhost', '127.0.0.1', '::1'],
    addresses: ['10.1.2.3', '198.51.100.7'],
    clock: { now: () => more.now ?? Date.now() },
    log: silentLog,
  })
}

/** The certificate seen by a client that trusts `ca` and calls `name`. Rejects if the client does not accept it. */
async function handshake(pair: KeyPair, ca: string, name: string): Promise<PeerCertificate> {
  const server = createServer({ cert: pair.certificate, key: pair.key })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  try {
    return await new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', ca, servername: name }, () => {
        resolve(socket.getPeerCertificate())
        socket.end()
      })
      socket.on('error', reject)
    })
  } finally {
    server.close()
  }
}

test('a client that trusts the authority believes every name, and no other one', async (t) => {
  using certificates = await open(freshHome(t))
  const pair = certificates.current()
  const ca = readFileSync(certificates.authorityFile, 'utf8')
  await handshake(pair, ca, 'localhost')
  const certificate = new X509Certificate(pair.certificate)
  for (const address of ['127.0.0.1', '::1', '10.1.2.3', '198.51.100.7']) {
    assert.equal(certificate.checkIP(address), address)
  }
  await assert.rejects(handshake(pair, ca, 'other.example'), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
  const stranger = createAuthority('another', { names: ['localhost'], now: Date.now(), days: 1 })
  await assert.rejects(handshake(pair, stranger.certificate, 'localhost'), /verify/)
})

test('the authority cannot speak for names that it was not made for', async () => {
  const now = Date.now()
  const authority = createAuthority('ours', { names: ['armature.example'], now, days: 10 })
  const key = createPrivateKey(authority.key)
  const issue = (name: string) => issueCertificate(authority, key, { names: [name], now, days: 1 })
  await handshake(issue('armature.example'), authority.certificate, 'armature.example')
  await handshake(issue('eu.armature.example'), authority.certificate, 'eu.armature.example')
  await assert.rejects(
    handshake(issue('bank.example'), authority.certificate, 'bank.example'),
    /permitted subtree/,
  )
  await assert.rejects(handshake(issue('8.8.8.8'), authority.certificate, 'localhost'))
})

test('keys are for this user alone', async (t) => {
  const home = freshHome(t)
  using _ = await open(home)
  const modeOf = (name: string) => (statSync(join(home, 'tls', name)).mode & 0o777).toString(8)
  assert.equal(modeOf('.'), '700')
  assert.equal(modeOf('ca.key'), '600')
  assert.equal(modeOf('certificate.key'), '600')
})

test('the next start takes what there is, renews what ends soon, and makes anew what is damaged', async (t) => {
  const home = freshHome(t)
  const pairOf = async (more: Parameters<typeof open>[1] = {}) => {
    using certificates = await open(home, more)
    const authority = readFileSync(certificates.authorityFile, 'utf8')
    return { authority, certificate: certificates.current().certificate }
  }
  const first = await pairOf()
  assert.deepEqual(await pairOf(), first)
  const renewed = await pairOf({ now: Date.now() + 61 * day })
  assert.equal(renewed.authority, first.authority)
  assert.notEqual(renewed.certificate, first.certificate)
  // A name below a known one needs no other authority; a different one does.
  const below = await pairOf({ names: ['localhost', 'api.localhost'] })
  assert.equal(below.authority, first.authority)
  assert.ok(new X509Certificate(below.certificate).checkHost('api.localhost'))
  const strange = await pairOf({ names: ['localhost', 'armature.example'] })
  assert.notEqual(strange.authority, first.authority)
  const later = await pairOf({ names: ['localhost'], now: Date.now() + 3640 * day })
  assert.notEqual(later.authority, strange.authority)
  writeFileSync(join(home, 'tls', 'certificate.pem'), 'nonsense')
  assert.match((await pairOf()).certificate, /BEGIN CERTIFICATE/)
})

test('files are read again when both have changed, and not before they belong together', async (t) => {
  const folder = freshHome(t)
  const now = Date.now()
  const at = (name: string) => join(folder, name)
  const write = (name: string) => {
    const pair = createAuthority(name, { names: ['localhost'], now, days: 2 })
    writeFileSync(at(`${name}.pem`), pair.certificate)
    writeFileSync(at(`${name}.key`), pair.key)
    return pair
  }
  const first = write('server')
  const second = write('next')
  using certificates = openFileCertificates({
    certificate: at('server.pem'),
    key: at('server.key'),
    log: silentLog,
  })
  assert.equal(certificates.current().certificate, first.certificate)
  const changed = new Promise<void>((resolve) => certificates.onChange(resolve))
  copyFileSync(at('next.key'), at('server.key'))
  // Long enough for half of a pair to be seen.
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  assert.equal(certificates.current().key, first.key)
  copyFileSync(at('next.pem'), at('server.pem'))
  await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 20_000).unref())])
  assert.deepEqual(certificates.current(), {
    certificate: second.certificate,
    key: second.key,
  })
})

test('files that do not belong together are refused at the start', (t) => {
  const folder = freshHome(t)
  const make = () => createAuthority('x', { names: ['localhost'], now: Date.now(), days: 2 })
  writeFileSync(join(folder, 'a.pem'), make().certificate)
  writeFileSync(join(folder, 'b.key'), make().key)
  writeFileSync(join(folder, 'empty'), '')
  writeFileSync(join(folder, 'long'), `${make().certificate}${'x'.repeat(70_000)}`)
  assert.throws(
    () =>
      openFileCertificates({
        certificate: join(folder, 'a.pem'),
        key: join(folder, 'b.key'),
        log: silentLog,
      }),
    /key values mismatch/,
  )
  for (const [certificate, key, expected] of [
    ['empty', 'b.key', /empty is empty/],
    ['a.pem', 'empty', /empty is empty/],
    ['long', 'b.key', /at most 65536/],
  ] as const) {
    const files = { certificate: join(folder, certificate), key: join(folder, key), log: silentLog }
    assert.throws(() => openFileCertificates(files), expected)
  }
})
