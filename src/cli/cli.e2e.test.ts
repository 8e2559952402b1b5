/** The command line against a server that it started itself: what a new user does, from `serve` to `demo`. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { requireOrSkip } from '../../tests/require.ts'
import { until } from '../../tests/until.ts'
import { walkForms } from './testing/form-walker.ts'
import { type Ran, type RunOptions, runCli } from './testing/run-cli.ts'
import { root, startServer, type TestServer } from './testing/start-server.ts'

type Json = Readonly<Record<string, unknown>>

interface Shell {
  readonly server: TestServer
  run(line: string | readonly string[], options?: RunOptions): Promise<Ran>
  /** The parsed output of a command that must succeed. */
  json(line: string | readonly string[]): Promise<Json>
  rows(line: string | readonly string[]): Promise<readonly Json[]>
}

function openShell(server: TestServer): Shell {
  const run = (line: string | readonly string[], options: RunOptions = {}): Promise<Ran> => {
    const words = typeof line === 'string' ? line.split(' ') : line
    return runCli(words, { environment: { ARMATURE_HOME: server.home }, ...options })
  }
  const parsed = async (line: string | readonly string[]): Promise<unknown> => {
    const { code, out, error } = await run(line)
    assert.equal(code, 0, `${line}: ${error}${out}`)
    return JSON.parse(out)
  }
  return {
    server,
    run,
    // Assertions fail if the shape is wrong.
    json: async (line) => (await parsed(line)) as Json,
    rows: async (line) => (await parsed(line)) as readonly Json[],
  }
}

/** Requests a token of a service principal, or returns the error. */
function login(shell: Shell, clientId: unknown, clientSecret: unknown): Promise<Ran> {
  return shell.run(`token --client-id ${clientId} --client-secret -`, {
    input: String(clientSecret),
  })
}

async function succeeds(
  shell: Shell,
  line: string | readonly string[],
  options?: RunOptions,
): Promise<Ran> {
  const ran = await shell.run(line, options)
  assert.equal(ran.code, 0, `${line}: ${ran.error}${ran.out}`)
  return ran
}

test('the command line, against a server of its own', { timeout: 360_000 }, async (t) => {
  await using server = await startServer()
  const shell = openShell(server)
  await t.test('the first lines of serve', () => startLines(shell))
  await t.test('status, token, rest', () => basics(shell))
  await t.test('the line that serve prints to paste', (c) => pasted(c, shell))
  await t.test('an application: created, granted, refused', () => application(shell))
  await t.test('people and groups', () => people(shell))
  await t.test('secrets, disabling, deleting', () => credentials(shell))
  await t.test('resource groups and subscriptions', () => scopes(shell))
  await t.test('roles', () => roles(shell))
  await t.test('access: checked, explained, who can', () => access(shell))
  await t.test('keys', () => keys(shell))
  await t.test('state, time and faults where they are off', () => controlOff(shell))
  await t.test('demo', () => demo(shell))
  await t.test('login and logout', () => session(shell))
  await t.test('stopping', () => stopping(shell))
})

async function startLines({ server }: Shell): Promise<void> {
  const output = server.output()
  assert.match(output, /^Armature is ready at http:\/\/127\.0\.0\.1:\d+ \(\d+\.\d\d s\)\n/)
  assert.match(output, /Subscription +[0-9a-f-]{36}\n/)
  assert.match(output, /Sign-in page +http/)
  assert.match(output, /First start: .*owner\.json/)
  assert.doesNotMatch(output, /warning/i)
  for (const name of readdirSync(server.home)) {
    if (name.startsWith('armature.db')) continue
    assert.equal(
      statSync(join(server.home, name)).mode & 0o077,
      0,
      `${name} is for its owner alone`,
    )
  }
  assert.equal(statSync(server.home).mode & 0o077, 0)
}

async function controlOff({ run }: Shell): Promise<void> {
  for (const line of ['reset --yes', 'snapshot list', 'clock show', 'fault list']) {
    const ran = await run(line)
    assert.equal(ran.code, 1)
    assert.match(ran.error, /^ControlOff: start the server with ARMATURE_CONTROL=local/, line)
  }
}

async function basics(shell: Shell): Promise<void> {
  const status = await shell.json('status --json')
  assert.deepEqual(Object.keys(status), [
    'url',
    'httpUrl',
    'tenantId',
    'subscriptionId',
    'principalId',
  ])
  assert.equal(status['url'], shell.server.url)
  assert.equal(status['httpUrl'], shell.server.url)
  const { out, error } = await succeeds(shell, 'token')
  assert.match(out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  assert.equal(error, '')
  const path = `/subscriptions/${status['subscriptionId']}`
  const read = await shell.json(`rest GET ${path}?api-version=2020-01-01`)
  assert.equal(read['subscriptionId'], status['subscriptionId'])
  const group = `${path}/resourceGroups/basics?api-version=2021-04-01`
  const options = {
    input: '{"location":"local"}',
    environment: { ARMATURE_HOME: shell.server.home },
  }
  const put = await shell.run(`rest PUT ${group} --body - --include`, options)
  assert.match(put.out, /^HTTP 201\n/, put.error)
  const missing = await shell.run(`rest GET ${path}/resourceGroups/nobody?api-version=2021-04-01`)
  assert.equal(missing.code, 1)
  assert.equal(JSON.parse(missing.out).error.code, 'ResourceGroupNotFound')
  const anonymous = await shell.run(`rest GET ${path}?api-version=2020-01-01 --token nonsense`)
  assert.equal(anonymous.code, 1)
  assert.match(anonymous.error, /HTTP 401/)
}

async function pasted(t: TestContext, shell: Shell): Promise<void> {
  const line = shell.server.output().match(/^ +curl .*$/m)?.[0]
  assert.ok(line)
  const options = { cwd: root, env: { ...process.env, ARMATURE_HOME: shell.server.home } }
  const run = promisify(execFile)
  const hasCurl = await run('curl', ['--version']).then(
    () => true,
    () => false,
  )
  if (!requireOrSkip(t, hasCurl, 'no curl: `apt-get install curl`')) return
  const { stdout } = await run('sh', ['-c', line], options)
  assert.ok(Array.isArray(JSON.parse(stdout).value), stdout)
}

async function application(shell: Shell): Promise<void> {
  const { subscriptionId } = await shell.json('status --json')
  const created = await shell.json('principal create --type ServicePrincipal --name ci --json')
  assert.deepEqual(Object.keys(created), ['principalId', 'clientId', 'clientSecret'])
  await succeeds(shell, 'resource-group create granted')
  await succeeds(shell, 'resource-group create other')
  const { clientId, clientSecret, principalId } = created
  const granted = `/subscriptions/${subscriptionId}/resourceGroups/granted`
  const asCi = async (request: string): Promise<Ran> => {
    const token = (await login(shell, clientId, clientSecret)).out.trim()
    return shell.run(`rest ${request}?api-version=2021-04-01 --token ${token}`)
  }
  assert.equal((await asCi(`GET ${granted}`)).error, 'HTTP 403\n')
  const grant = `role assignment create --scope ${granted} --role reader --assignee ${principalId} --json`
  const first = await shell.json(grant)
  assert.equal((await asCi(`GET ${granted}`)).code, 0)
  assert.equal((await asCi(`GET /subscriptions/${subscriptionId}/resourceGroups/other`)).code, 1)
  const refused = await asCi(`DELETE ${granted}`)
  assert.equal(JSON.parse(refused.out).error.code, 'AuthorizationFailed')
  assert.equal((await shell.json(grant))['id'], first['id'], 'granting twice is granting once')
  const rows = await shell.rows(`role assignment list --assignee ${principalId} --json`)
  assert.equal(rows.length, 1)
  const table = await succeeds(shell, `role assignment list --scope ${granted}`)
  assert.match(table.out, new RegExp(`${principalId} +ServicePrincipal +Reader `))
  const taken = `--scope ${granted} --role Reader --assignee ${principalId}`
  await succeeds(shell, `role assignment delete ${taken}`)
  assert.equal((await asCi(`GET ${granted}`)).error, 'HTTP 403\n')
  const again = await shell.run(`role assignment delete ${taken}`)
  assert.match(again.error, /^RoleAssignmentNotFound: /)
}

async function people(shell: Shell): Promise<void> {
  const words = ['principal', 'create', '--type', 'User', '--name', 'Ada Lovelace', '--json']
  const ada = await shell.json(words)
  assert.deepEqual(Object.keys(ada), ['principalId', 'signInName', 'password'])
  assert.equal(ada['signInName'], 'ada.lovelace')
  const group = await shell.json('principal create --type Group --name readers --json')
  assert.deepEqual(Object.keys(group), ['principalId'])
  const membership = `${group['principalId']} ${ada['principalId']}`
  await succeeds(shell, `group add-member ${membership}`)
  await succeeds(shell, `group add-member ${membership}`)
  const members = await shell.rows(`group list-members ${group['principalId']} --json`)
  assert.deepEqual(
    members.map((member) => member['id']),
    [ada['principalId']],
  )
  await succeeds(shell, `group remove-member ${membership}`)
  const table = await shell.run(`group list-members ${group['principalId']}`)
  assert.deepEqual([table.code, table.out, table.error], [0, '', '(none)\n'])
  await succeeds(shell, `principal set-password ${ada['principalId']} --password -`, {
    input: 'correct-horse-1',
  })
  const twice = await shell.run(words)
  assert.equal(twice.code, 1, 'the sign-in name is taken')
  const list = await shell.rows('principal list --type User --json')
  assert.ok(list.some((user) => user['displayName'] === 'Ada Lovelace'))
}

async function credentials(shell: Shell): Promise<void> {
  const created = await shell.json('principal create --type ServicePrincipal --name robot --json')
  const id = created['principalId']
  const secret = await shell.json(`principal secret add ${id} --name laptop --json`)
  const { clientId, clientSecret } = created
  assert.equal((await login(shell, clientId, secret['clientSecret'])).code, 0)
  assert.equal((await shell.rows(`principal secret list ${id} --json`)).length, 2)
  await succeeds(shell, `principal secret remove ${id} ${secret['secretId']}`)
  assert.match((await login(shell, clientId, secret['clientSecret'])).error, /^invalid_client: /)
  await succeeds(shell, `principal disable ${id}`)
  assert.equal((await login(shell, clientId, clientSecret)).code, 1)
  await succeeds(shell, `principal enable ${id}`)
  assert.equal((await login(shell, clientId, clientSecret)).code, 0)
  assert.equal((await shell.json(`principal show ${id} --json`))['displayName'], 'robot')
  await succeeds(shell, `principal delete ${id}`)
  assert.match((await shell.run(`principal get ${id}`)).error, /^PrincipalNotFound: /)
}

async function scopes(shell: Shell): Promise<void> {
  const created = await shell.json('resource-group create short --tag owner=ada --json')
  assert.deepEqual(created['tags'], { owner: 'ada' })
  assert.equal((await shell.json('resource-group show short --json'))['name'], 'short')
  assert.match((await succeeds(shell, 'resource-group list')).out, /^short +\S+ +Succeeded$/m)
  // Not awaited: the server sets the pace of a well-behaved client, which is too slow for a test.
  await succeeds(shell, 'resource-group delete short --no-wait')
  await disappears(shell, 'resource-group show short')
  const production = await shell.json('subscription create --name production --json')
  const again = await shell.json('subscription create --name production --json')
  assert.equal(again['subscriptionId'], production['subscriptionId'])
  assert.match((await succeeds(shell, 'subscription list')).out, / production$/m)
  const shown = await shell.json(`subscription show ${production['subscriptionId']} --json`)
  assert.equal(shown['displayName'], 'production')
  const elsewhere = `--subscription ${production['subscriptionId']}`
  await succeeds(shell, `resource-group create there ${elsewhere}`)
  assert.match((await succeeds(shell, `resource-group list ${elsewhere}`)).out, /^there /m)
}

async function disappears(shell: Shell, line: string): Promise<void> {
  const { error } = await until(async () => {
    const ran = await shell.run(line)
    return ran.code === 0 ? undefined : ran
  })
  assert.match(error, /^ResourceGroupNotFound: /)
}

async function roles(shell: Shell): Promise<void> {
  const { out } = await succeeds(shell, 'role definition list')
  assert.match(out, /^acdd72a7-3385-48ef-bd42-f606fba81ae7 +BuiltInRole +Reader$/m)
  const words = 'role assignment create --scope / --role Readr --assignee x'
  assert.match((await shell.run(words)).error, /^RoleNotFound: .*did you mean `Reader`/)
}

async function access(shell: Shell): Promise<void> {
  const application = await shell.json(
    'principal create --type ServicePrincipal --name auditor --json',
  )
  const id = String(application['principalId'])
  const secret = String(application['clientSecret'])
  const token = await login(shell, application['clientId'], secret)
  const action = 'Vendor.Resources/subscriptions/read'
  const subscription = `/subscriptions/${(await shell.json('status --json'))['subscriptionId']}`
  const refused = await shell.run(`subscription show --token ${token.out.trim()}`)
  const correlationId = /correlation id: (\S+)/.exec(refused.error)?.[1]
  assert.ok(correlationId, refused.error)
  const explained = await succeeds(shell, `access explain ${correlationId}`)
  assert.match(
    explained.out,
    new RegExp(`${action}[\\s\\S]*NotAllowed[\\s\\S]*no role assignment comes near`),
  )
  assert.match(
    (await shell.run('access explain 1b4e28ba-2fa1-41d2-883f-0016d3cca427')).error,
    /^RefusalNotFound: /,
  )
  const check = ['access', 'check', action, '--scope', subscription, '--principal', id]
  assert.equal((await shell.run(check)).code, 1)
  const level = '@Principal[Vendor.Directory/CustomSecurityAttributes/Id:Staff_Level]'
  await succeeds(shell, [
    ...['role', 'assignment', 'create', '--scope', subscription, '--role', 'Reader'],
    ...['--assignee', id, '--condition', `${level} NumericGreaterThan 3`],
  ])
  const narrow = await shell.run(check)
  assert.equal(narrow.code, 1)
  assert.match(narrow.out, /ConditionFalse: not true: @Principal/)
  await succeeds(shell, `principal set-attribute ${id} Staff_Level --value 4`)
  await succeeds(shell, check)
  await succeeds(shell, `subscription show --token ${token.out.trim()}`)
  const who = await shell.rows(`access who-can ${action} --scope ${subscription} --json`)
  assert.deepEqual(
    who.map((one) => [one['role'], one['condition'] === '']),
    [
      ['Owner', true],
      ['Reader', false],
    ],
  )
  await succeeds(shell, `principal set-attribute ${id} Staff_Level --remove`)
  assert.equal((await shell.run(check)).code, 1)
  await succeeds(shell, `principal delete ${id}`)
}

async function keys(shell: Shell): Promise<void> {
  const token = (await succeeds(shell, 'token')).out.trim()
  await succeeds(shell, 'key rotate')
  await succeeds(shell, `rest GET /subscriptions?api-version=2020-01-01 --token ${token}`)
  await succeeds(shell, 'subscription list')
}

async function demo(shell: Shell): Promise<void> {
  const printed = await succeeds(shell, 'demo access')
  assert.match(printed.out, /^curl -sS -X PUT 'http/m)
  assert.match(printed.out, /^npx armature rest PUT '/m)
  assert.equal((await succeeds(shell, 'demo access')).out, printed.out, 'twice is the same as once')
  const ran = await shell.rows('demo access --run --json')
  assert.deepEqual(
    ran.map((call) => call['status']),
    [201, 201, 403, 403, 403, 200],
  )
  const again = await shell.rows('demo access --run --json')
  assert.ok(again.every((call) => call['status'] === (call['expect'] ?? 200)))
  assert.match((await succeeds(shell, 'demo --run')).out, /^HTTP 20[01]\n\{/m)
  const listed = (await succeeds(shell, 'demo')).out
  assert.match(listed, /^ {2}- Operation 1: .*\n(?:.*\n)*? {2}npx armature demo access /m)
  assert.doesNotMatch(listed, /curl/, 'the calls of all areas together are too many to read')
}

async function session(shell: Shell): Promise<void> {
  const grace = await shell.json('principal create --type User --name Grace --json')
  const prompted = Promise.withResolvers<string>()
  const login = shell.run('login', {
    environment: { ARMATURE_HOME: shell.server.home },
    onError: (text) => {
      const page = /Open (\S+)/.exec(text)?.[1]
      if (page !== undefined) prompted.resolve(page)
    },
  })
  // A login that ends before its prompt says why.
  void login.then(({ error }) => prompted.reject(new Error(`no page was named: ${error}`)))
  const { html } = await walkForms(await prompted.promise, {
    name: String(grace['signInName']),
    password: String(grace['password']),
  })
  const ran = await login
  assert.equal(ran.code, 0, `${ran.error}\n${html}`)
  const claims = async (): Promise<Json> => {
    const [, payload = ''] = (await succeeds(shell, 'token')).out.split('.')
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json
  }
  assert.equal((await claims())['oid'], grace['principalId'])
  assert.match((await shell.run('principal list')).error, /^AuthorizationFailed: /)
  await succeeds(shell, 'logout')
  assert.notEqual((await claims())['oid'], grace['principalId'])
}

async function stopping(shell: Shell): Promise<void> {
  // A service manager signals the launcher and the server at once. The server must stop only once.
  shell.server.process.kill('SIGTERM')
  assert.equal(await shell.server.stop('SIGTERM'), 0)
  assert.ok(!existsSync(join(shell.server.home, 'running.json')))
  assert.match((await shell.run('status')).error, /^NotRunning: /)
  // As in a home of another replica, or after the advice of the guides: nothing here asks for tokens by itself.
  const signIn = /^ {2}npx armature login --url http:/m
  assert.doesNotMatch(shell.server.output(), signIn)
  rmSync(join(shell.server.home, 'owner.json'))
  await using again = await startServer({ ARMATURE_HOME: shell.server.home })
  assert.match(again.output(), signIn)
}
