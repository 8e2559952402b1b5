/** The settings: their defaults, what overrides what, and that all bad values are reported at once. */

import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { defaultLimits } from '#kernel/limits.ts'
import { ConfigError, describeSettings, type Environment, readConfig } from './config.ts'

function withFolder(run: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'armature-config-'))
  try {
    run(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function problemsOf(environment: Environment, file?: string): Record<string, string> {
  let found: Record<string, string> = {}
  withFolder((directory) => {
    if (file !== undefined) writeFileSync(join(directory, 'armature.config.json'), file)
    try {
      readConfig({ environment, directory })
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error))
      found = Object.fromEntries(error.problems.map((p) => [p.setting, p.message]))
    }
  })
  return found
}

test('api-versions are lenient where the vendor words are set, unless they are set themselves', () => {
  const rule = (environment: Environment): string =>
    readConfig({ environment, directory: tmpdir() }).apiVersions
  assert.equal(rule({}), 'known')
  assert.equal(rule({ ARMATURE_VENDOR_NAMESPACE: 'Contoso' }), 'nearest')
  assert.equal(rule({ ARMATURE_API_VERSIONS: 'nearest' }), 'nearest')
  const strict = { ARMATURE_VENDOR_NAMESPACE: 'Contoso', ARMATURE_API_VERSIONS: 'known' }
  assert.equal(rule(strict), 'known')
})

test('defaults', () => {
  withFolder((directory) => {
    const config = readConfig({ environment: {}, directory })
    assert.equal(config.home, join(directory, '.armature'))
    assert.equal(config.host, '127.0.0.1')
    assert.equal(config.port, 8900)
    assert.equal(config.store, undefined)
    assert.equal(config.publicUrl, undefined)
    assert.deepEqual(config.words, { namespace: 'Vendor', brand: 'Vendor' })
    assert.equal(config.scopes, 'implicit')
    assert.deepEqual(config.issuers, [])
    assert.equal(config.throttle.owner, false)
    assert.deepEqual(config.throttle.reads, { size: 250, refillPerSecond: 25 })
    assert.deepEqual(config.throttle.deletes, { size: 200, refillPerSecond: 10 })
    assert.deepEqual(config.limits, defaultLimits)
    assert.deepEqual(config.warnings, [])
  })
})

test('the command line is above the environment, that above the file, that above the default', () => {
  withFolder((directory) => {
    const file = {
      port: 1,
      host: 'file',
      scopes: 'declared',
      limitPageSize: 7,
      throttleOwner: true,
    }
    writeFileSync(join(directory, 'armature.config.json'), JSON.stringify(file))
    const environment = { ARMATURE_PORT: '2', ARMATURE_HOST: 'environment' }
    const config = readConfig({ environment, directory, overrides: { port: '3' } })
    assert.equal(config.port, 3)
    assert.equal(config.host, 'environment')
    assert.equal(config.scopes, 'declared')
    assert.equal(config.limits.pageSize, 7)
    assert.equal(config.throttle.owner, true)
    assert.equal(config.logLevel, 'info')
  })
})

test('an empty variable counts as not set', () => {
  withFolder((directory) => {
    writeFileSync(join(directory, 'armature.config.json'), '{"port": 4}')
    assert.equal(readConfig({ environment: { ARMATURE_PORT: '' }, directory }).port, 4)
  })
})

test('a settings file of another user, or one that everybody may write, is not taken unless it is named', () => {
  const isRoot = process.getuid?.() === 0
  const harm: readonly ((path: string) => void)[] = [
    (path) => chmodSync(path, 0o666),
    ...(isRoot ? [(path: string) => chownSync(path, 65_534, 65_534)] : []),
  ]
  for (const change of harm) {
    withFolder((directory) => {
      const path = join(directory, 'armature.config.json')
      writeFileSync(path, '{"port": 4}')
      assert.equal(readConfig({ environment: {}, directory }).port, 4)
      change(path)
      assert.throws(() => readConfig({ environment: {}, directory }), /ARMATURE_CONFIG/)
      assert.equal(readConfig({ environment: { ARMATURE_CONFIG: path }, directory }).port, 4)
    })
  }
})

test('a home of another user is not taken unless it is named', {
  skip: process.getuid?.() !== 0,
}, () => {
  withFolder((directory) => {
    const home = join(directory, '.armature')
    mkdirSync(home)
    assert.equal(readConfig({ environment: {}, directory }).home, home)
    chownSync(home, 65_534, 65_534)
    assert.throws(() => readConfig({ environment: {}, directory }), /ARMATURE_HOME: .*another user/)
    assert.equal(readConfig({ environment: { ARMATURE_HOME: home }, directory }).home, home)
    assert.equal(readConfig({ environment: {}, directory, overrides: { home } }).home, home)
  })
})

test('a relative home in the file lies beside the file', () => {
  withFolder((directory) => {
    const path = join(directory, 'other.json')
    writeFileSync(path, '{"home": "data"}')
    const environment = { ARMATURE_CONFIG: path }
    assert.equal(readConfig({ environment, directory: '/' }).home, join(directory, 'data'))
    const both = { ...environment, ARMATURE_HOME: 'mine' }
    assert.equal(readConfig({ environment: both, directory: '/' }).home, '/mine')
  })
})

const bad: readonly [variable: string, value: string][] = [
  ['ARMATURE_HOME', 'a\0b'],
  ['ARMATURE_HOST', 'two words'],
  ['ARMATURE_PORT', '65536'],
  ['ARMATURE_PORT', '-1'],
  ['ARMATURE_PORT', '80.5'],
  ['ARMATURE_PORT', '0x50'],
  ['ARMATURE_PORT', 'http'],
  ['ARMATURE_STORE', 'mysql://host/db'],
  ['ARMATURE_STORE', 'sqlite.db'],
  ['ARMATURE_STORE_CONNECTIONS', '2'],
  ['ARMATURE_KEY', 'c2hvcnQ='],
  ['ARMATURE_PUBLIC_URL', 'example.com'],
  ['ARMATURE_PUBLIC_URL', 'ftp://example.com'],
  ['ARMATURE_PUBLIC_URL', 'https://example.com/?a=b'],
  ['ARMATURE_PUBLIC_URL', 'https://user@example.com'],
  ['ARMATURE_VENDOR_NAMESPACE', 'vendor'],
  ['ARMATURE_VENDOR_BRAND', 'Two Words'],
  ['ARMATURE_SCOPES', 'Implicit'],
  ['ARMATURE_API_VERSIONS', 'newest'],
  ['ARMATURE_ISSUERS', '{'],
  ['ARMATURE_ISSUERS', '{}'],
  ['ARMATURE_ISSUERS', '[{}]'],
  ['ARMATURE_ISSUERS', '[{"issuer":"https://a.example","audiences":[]}]'],
  ['ARMATURE_ISSUERS', '[{"issuer":"http://a.example","audiences":["x"]}]'],
  ['ARMATURE_ISSUERS', '[{"issuer":"https://a.example","audiences":["x"],"claims":{"oid":1}}]'],
  ['ARMATURE_ISSUERS', '[{"issuer":"https://a.example","audiences":["x"],"audience":"x"}]'],
  ['ARMATURE_LOG_LEVEL', 'verbose'],
  ['ARMATURE_THROTTLE', 'on'],
  ['ARMATURE_THROTTLE_OWNER', '1'],
  ['ARMATURE_THROTTLE_READS_BUCKET', '0'],
  ['ARMATURE_LIMIT_BODY_BYTES_MAX', '4MB'],
  ['ARMATURE_LIMIT_PAGE_SIZE', '0'],
]

test('every bad value is a problem that names the setting and what was expected', () => {
  for (const [variable, value] of bad) {
    const problems = problemsOf({ [variable]: value })
    assert.deepEqual(Object.keys(problems), [variable], `${variable}=${value}`)
    assert.match(problems[variable] ?? '', /expected|JSON|unknown/, `${variable}=${value}`)
  }
})

test('all problems are reported at once, those of the file too', () => {
  const file = '{"prot": 1, "port": "x", "hosts": [], "scopes": 3, "zzzzzzzz": 1}'
  const problems = problemsOf({ ARMATURE_LOG_LEVEL: 'loud', ARMATURE_PORT: '' }, file)
  assert.deepEqual(problems, {
    'armature.config.json: prot': 'unknown setting; did you mean `port`?',
    'armature.config.json: hosts': 'unknown setting; did you mean `host`?',
    'armature.config.json: zzzzzzzz': 'unknown setting',
    'armature.config.json: port': 'expected a whole number from 0 to 65535, got "x"',
    'armature.config.json: scopes': 'expected `implicit`, `declared`, got 3',
    ARMATURE_LOG_LEVEL: 'expected `silent`, `error`, `warn`, `info`, `debug`, got "loud"',
  })
})

test('a file that cannot be used is a problem; one that is absent only when it was asked for', () => {
  for (const content of ['', '{', '[]', 'null', '7']) {
    assert.equal(Object.keys(problemsOf({}, content)).length, 1, content)
  }
  assert.deepEqual(problemsOf({}), {})
  assert.equal(Object.keys(problemsOf({ ARMATURE_CONFIG: 'absent.json' })).length, 1)
})

test('a secret setting is not printed in its problem', () => {
  const problems = problemsOf({ ARMATURE_STORE: 'postgress://user:hunter2@host/db' })
  assert.doesNotMatch(JSON.stringify(problems), /hunter2/)
  assert.doesNotMatch(JSON.stringify(problemsOf({ ARMATURE_KEY: 'abcdefgh' })), /abcdefgh/)
})

test('issuers are taken from JSON text and from the file, with the usual claim filled in', () => {
  const issuer = { issuer: 'https://id.example/realm', audiences: ['api'], claims: { name: 'n' } }
  const expected = [{ ...issuer, claims: { name: 'n', oid: 'oid' } }]
  withFolder((directory) => {
    const environment = { ARMATURE_ISSUERS: JSON.stringify([issuer]) }
    assert.deepEqual(readConfig({ environment, directory }).issuers, expected)
    writeFileSync(join(directory, 'armature.config.json'), JSON.stringify({ issuers: [issuer] }))
    assert.deepEqual(readConfig({ environment: {}, directory }).issuers, expected)
  })
})

test('how targets reach sources: a list of pairs, and whom they trust', () => {
  withFolder((directory) => {
    const environment = {
      ARMATURE_MIGRATIONS_SOURCES_FROM_TARGETS: '127.0.0.1:5433=db:5432, Other:1=x:2',
    }
    const { migrations } = readConfig({ environment, directory })
    assert.deepEqual(
      [...migrations.sourcesFromTargets],
      [
        ['127.0.0.1:5433', { host: 'db', port: 5432 }],
        ['other:1', { host: 'x', port: 2 }],
      ],
    )
  })
  withFolder((directory) => {
    const read = (environment: Record<string, string>) =>
      readConfig({ environment, directory }).migrations.authoritiesAtTarget
    assert.equal(read({}), undefined)
    assert.equal(read({ ARMATURE_MIGRATIONS_AUTHORITIES_AT_TARGETS: 'system' }), 'system')
  })
  for (const bad of ['a=b', 'a:1', 'a:1=b:0', 'a:1=b:99999', 'a b:1=c:1']) {
    const problems = problemsOf({ ARMATURE_MIGRATIONS_SOURCES_FROM_TARGETS: bad })
    assert.match(problems['ARMATURE_MIGRATIONS_SOURCES_FROM_TARGETS'] ?? '', /host:port=host:port/)
  }
})

test('a variable that is no setting is a warning with a suggestion', () => {
  withFolder((directory) => {
    const environment = { ARMATURE_PROT: '1', ARMATURE_TEST_REQUIRE: 'all', OTHER: 'x' }
    assert.deepEqual(readConfig({ environment, directory }).warnings, [
      'ARMATURE_PROT is not a setting and has no effect; did you mean `ARMATURE_PORT`?',
    ])
  })
})

test('every setting is described, and every default keeps its own rule', () => {
  const described = describeSettings()
  assert.ok(described.length > 25)
  for (const setting of described) {
    assert.match(setting.environment, /^ARMATURE_[A-Z_]+$/)
    assert.notEqual(setting.description, '')
    assert.notEqual(setting.expected, '')
    if (setting.default === '') continue
    assert.deepEqual(problemsOf({ [setting.environment]: setting.default }), {}, setting.name)
  }
  assert.deepEqual(
    described.filter((setting) => setting.secret).map((setting) => setting.name),
    ['store', 'key', 'keyCommand', 'keyNext', 'keyNextCommand', 'mailServer'],
  )
})

test('trusted proxies are addresses and networks', () => {
  withFolder((directory) => {
    const read = (value: string) =>
      readConfig({ environment: { ARMATURE_TRUSTED_PROXIES: value }, directory }).trustedProxies
    assert.deepEqual(read(''), [])
    assert.deepEqual(read('10.0.0.0/8, ::1,192.0.2.7,2001:db8::/32'), [
      '10.0.0.0/8',
      '::1',
      '192.0.2.7',
      '2001:db8::/32',
    ])
  })
  for (const bad of [
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/8/1',
    '::1/129',
    '10.0.0.0/',
    'fe80::1%eth0',
  ]) {
    assert.deepEqual(problemsOf({ ARMATURE_TRUSTED_PROXIES: bad }), {
      ARMATURE_TRUSTED_PROXIES: `${JSON.stringify(bad)} is no address and no network such as 10.0.0.0/8`,
    })
  }
})

test('metrics are beside everything else only where the server is reached from its own machine', () => {
  withFolder((directory) => {
    const read = (environment: Environment) => readConfig({ environment, directory }).metrics
    assert.equal(read({}), 'public')
    assert.equal(read({ ARMATURE_PUBLIC_URL: 'http://127.0.0.1:8900' }), 'public')
    assert.equal(read({ ARMATURE_HOST: '0.0.0.0' }), 'nowhere')
    assert.equal(read({ ARMATURE_HOST: '::' }), 'nowhere')
    assert.equal(read({ ARMATURE_TRUSTED_PROXIES: '127.0.0.1' }), 'nowhere')
    assert.equal(read({ ARMATURE_PUBLIC_URL: 'https://plane.example' }), 'nowhere')
    assert.equal(read({ ARMATURE_HOST: '0.0.0.0', ARMATURE_METRICS_ADDRESS: 'public' }), 'public')
    const own = (value: string) => read({ ARMATURE_METRICS_ADDRESS: value })
    assert.deepEqual(own('10.0.0.7:9464'), { host: '10.0.0.7', port: 9464 })
    assert.deepEqual(own('[::1]:0'), { host: '::1', port: 0 })
  })
  for (const bad of ['9464', 'host', 'host:70000', 'http://host:1', '::1:9464']) {
    assert.match(
      problemsOf({ ARMATURE_METRICS_ADDRESS: bad })['ARMATURE_METRICS_ADDRESS'] ?? '',
      /^expected empty, `public`, or `host:port`/,
    )
  }
})
