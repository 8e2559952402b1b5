/** The settings of outbound connections: the mode of an installation, and errors in rules. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from '../config.ts'

const directory = mkdtempSync(join(tmpdir(), 'armature-outbound-config-'))
test.after(() => rmSync(directory, { recursive: true, force: true }))

const read = (environment: Record<string, string>) => readConfig({ environment, directory })

test('it is guarded as soon as others reach the server, unless a setting says otherwise', () => {
  for (const [environment, mode] of [
    [{}, 'open'],
    [{ ARMATURE_HOST: 'localhost' }, 'open'],
    [{ ARMATURE_HOST: '::1' }, 'open'],
    [{ ARMATURE_PUBLIC_URL: 'http://localhost:1234' }, 'open'],
    [{ ARMATURE_HOST: '0.0.0.0' }, 'guarded'],
    [{ ARMATURE_HOST: '::' }, 'guarded'],
    [{ ARMATURE_HOST: '192.168.1.5' }, 'guarded'],
    [{ ARMATURE_HOST: 'armature.example' }, 'guarded'],
    [{ ARMATURE_PUBLIC_URL: 'https://armature.example' }, 'guarded'],
    [{ ARMATURE_TRUSTED_PROXIES: '127.0.0.1' }, 'guarded'],
    [{ ARMATURE_HOST: '0.0.0.0', ARMATURE_OUTBOUND: 'open' }, 'open'],
    [{ ARMATURE_OUTBOUND: 'guarded' }, 'guarded'],
    [{ ARMATURE_OUTBOUND: 'listed' }, 'listed'],
  ] as const) {
    assert.equal(read(environment).outbound.mode, mode, JSON.stringify(environment))
  }
})

test('lists of rules are read; what is no rule is named', () => {
  const { outbound } = read({
    ARMATURE_OUTBOUND_ALLOW: 'git.lan, 10.1.0.0/16:5432',
    ARMATURE_OUTBOUND_DENY: '*:25',
  })
  assert.deepEqual(outbound.allow, ['git.lan', '10.1.0.0/16:5432'])
  assert.deepEqual(outbound.deny, ['*:25'])
  assert.throws(
    () => read({ ARMATURE_OUTBOUND_DENY: 'a.example,10.0.0.0/99' }),
    (error) =>
      error instanceof ConfigError &&
      /OUTBOUND_DENY: "10.0.0.0\/99" is no rule/.test(error.message),
  )
})

test('settings that are gone say what replaces them', () => {
  for (const name of ['ARMATURE_CONSENT_PRIVATE', 'ARMATURE_TEMPLATE_LINKS_PRIVATE']) {
    assert.throws(() => read({ [name]: 'true' }), /is replaced by .*ARMATURE_OUTBOUND_ALLOW/)
  }
  writeFileSync(join(directory, 'armature.config.json'), '{"consentPrivate": true}')
  assert.throws(() => read({}), /consentPrivate: is replaced by .*outboundAllow/)
})
