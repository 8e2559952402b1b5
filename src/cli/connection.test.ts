/** Which server is called and as whom, and what `rest`, `status` and `token` print: against a real server. */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Ran, type RunOptions, runCli } from './testing/run-cli.ts'

interface Fixture extends AsyncDisposable {
  readonly url: string
  readonly folder: string
  readonly forms: URLSearchParams[]
  run(words: readonly string[], options?: RunOptions): Promise<Ran>
  write(name: string, value: object): void
}

const facts = { tenantId: 't', subscriptionId: 's', principalId: 'p' }

/** A server that issues tokens named after the client, and otherwise echoes the request. */
async function startWorld(): Promise<Fixture> {
  const forms: URLSearchParams[] = []
  const folder = mkdtempSync(join(tmpdir(), 'armature-cli-'))
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const reply = (status: number, value: object): void => {
      const headers = { 'content-type': 'application/json', 'x-ms-correlation-request-id': 'c-1' }
      response.writeHead(status, headers).end(JSON.stringify(value))
    }
    const { method, url = '', headers } = request
    if (url === '/healthz') return reply(200, { status: 'ok' })
    if (url === '/common/oauth2/token') {
      const form = new URLSearchParams(body)
      forms.push(form)
      if (form.get('client_secret') === 'wrong') {
        return reply(401, {
          error: 'invalid_client',
          error_description: 'client authentication failed',
        })
      }
      return reply(200, { access_token: `token-of-${form.get('client_id')}`, expires_in: 3600 })
    }
    if (url.startsWith('/new-tokens') && headers.authorization === 'Bearer stale') {
      return reply(401, { error: { code: 'InvalidAuthenticationToken', message: 'Stale.' } })
    }
    if (url.startsWith('/refuse')) {
      const details = [{ code: 'X', message: 'must be set', target: 'properties.a' }]
      const error = {
        code: 'InvalidRequestContent',
        message: 'Wrong.',
        target: 'properties',
        details,
      }
      return reply(400, { error })
    }
    return reply(200, {
      method,
      url,
      authorization: headers.authorization,
      ifMatch: headers['if-match'],
      body,
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of that form.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const write = (name: string, value: object): void => {
    writeFileSync(join(folder, name), JSON.stringify(value))
  }
  write('running.json', { url, pid: 1, ...facts })
  write('owner.json', { principalId: 'p', clientId: 'owner', clientSecret: 'secret' })
  return {
    url,
    folder,
    forms,
    write,
    run: (words, options) => {
      return runCli(words, { environment: { ARMATURE_HOME: folder }, ...options })
    },
    [Symbol.asyncDispose]: async () => {
      rmSync(folder, { recursive: true })
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An address at which nobody listens any more. */
async function silentUrl(): Promise<string> {
  const { url, ...world } = await startWorld()
  await world[Symbol.asyncDispose]()
  return url
}

test('status prints the four facts of an installation that answers', async () => {
  await using fixture = await startWorld()
  const { code, out } = await fixture.run(['status', '--json'])
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(out), { url: fixture.url, ...facts })
  const table = await fixture.run(['status'])
  assert.match(table.out, /subscriptionId +s\n/)
})

test('status says how to start what is not running', async () => {
  await using fixture = await startWorld()
  rmSync(join(fixture.folder, 'running.json'))
  const absent = await fixture.run(['status'])
  assert.equal(absent.code, 1)
  assert.match(absent.error, /^NotRunning: .*npm start/)
  const silent = await silentUrl()
  fixture.write('running.json', { url: silent, pid: 1, ...facts })
  const stale = await fixture.run(['status', '--json'])
  assert.deepEqual([stale.code, stale.out], [1, ''])
  assert.match(stale.error, new RegExp(`^NotRunning: .*does not answer at ${silent}`))
})

test('a damaged file of the home is reported, not used', async () => {
  await using fixture = await startWorld()
  writeFileSync(join(fixture.folder, 'running.json'), '{"url": 3')
  const ran = await fixture.run(['status'])
  assert.equal(ran.code, 1)
  assert.match(ran.error, /^HomeDamaged: /)
})

test('token prints a token and nothing else', async () => {
  await using fixture = await startWorld()
  assert.deepEqual(await fixture.run(['token']), { code: 0, out: 'token-of-owner\n', error: '' })
  const other = ['token', '--client-id', 'ci', '--client-secret', '-']
  assert.equal((await fixture.run(other, { input: 'x' })).out, 'token-of-ci\n')
  writeFileSync(join(fixture.folder, 'secret'), 'from-file\n')
  const words = [
    'token',
    '--client-id',
    'ci',
    '--client-secret',
    `@${join(fixture.folder, 'secret')}`,
  ]
  await fixture.run([...words, '--resource', 'https://other'])
  assert.equal(fixture.forms.at(-1)?.get('client_secret'), 'from-file')
  assert.equal(fixture.forms.at(-1)?.get('resource'), 'https://other')
})

test('a refused token is reported with code and message', async () => {
  await using fixture = await startWorld()
  const ran = await fixture.run(['token', '--client-id', 'ci', '--client-secret', '-'], {
    input: 'wrong',
  })
  assert.deepEqual([ran.code, ran.out], [1, ''])
  assert.match(
    ran.error,
    /^invalid_client: client authentication failed\n {2}correlation id: c-1\n$/,
  )
})

test('rest sends what it is given, as the owner', async () => {
  await using fixture = await startWorld()
  const words = ['rest', 'put', '/a?x=1', '-b', '{"a":1}', '-H', 'If-Match: "e"', '-u', 'y=2 3']
  const { code, out } = await fixture.run([...words, '--api-version', '2022-04-01'])
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(out), {
    method: 'PUT',
    url: '/a?x=1&y=2%203&api-version=2022-04-01',
    authorization: 'Bearer token-of-owner',
    ifMatch: '"e"',
    body: '{"a":1}',
  })
  assert.equal(out.split('\n').length, 2, 'to a program the body goes as it came')
  const people = await fixture.run(words, { interactive: true })
  assert.match(people.out, /^\{\n {2}"method": "PUT",\n/)
})

test('rest takes the body from a file or from standard input', async () => {
  await using fixture = await startWorld()
  writeFileSync(join(fixture.folder, 'body.json'), '{"from":"file"}')
  const file = await fixture.run([
    'rest',
    'PUT',
    '/',
    '--body',
    `@${join(fixture.folder, 'body.json')}`,
  ])
  assert.equal(JSON.parse(file.out).body, '{"from":"file"}')
  const input = await fixture.run(['rest', 'PUT', '/', '--body', '-'], {
    input: '{"from":"input"}',
    environment: { ARMATURE_HOME: fixture.folder },
  })
  assert.equal(JSON.parse(input.out).body, '{"from":"input"}')
  const absent = await fixture.run(['rest', 'PUT', '/', '--body', '@/nowhere/at/all'])
  assert.equal(absent.code, 1)
  assert.match(absent.error, /^FileUnreadable: /)
})

test('rest prints a refusal as it came and exits with 1', async () => {
  await using fixture = await startWorld()
  const ran = await fixture.run(['rest', 'GET', '/refuse'])
  assert.equal(ran.code, 1)
  assert.equal(JSON.parse(ran.out).error.code, 'InvalidRequestContent')
  assert.equal(ran.error, 'HTTP 400\n')
  const included = await fixture.run(['rest', 'GET', '/refuse', '--include'])
  assert.match(included.out, /^HTTP 400\n[^{]*x-ms-correlation-request-id: c-1\n[^{]*\n\{/)
})

test('other commands tell a refusal with target, details and correlation id', async () => {
  await using fixture = await startWorld()
  const words = ['role', 'assignment', 'create', '--scope', '/refuse', '--assignee', 'a']
  const ran = await fixture.run([...words, '--role', 'acdd72a7-3385-48ef-bd42-f606fba81ae7'])
  assert.equal(ran.code, 1)
  assert.equal(
    ran.error,
    `InvalidRequestContent: Wrong.
  target: properties
  - properties.a: must be set
  correlation id: c-1
`,
  )
})

test('an answer that is no list is reported plainly', async () => {
  await using fixture = await startWorld()
  const ran = await fixture.run(['principal', 'list'])
  assert.equal(ran.code, 1)
  assert.match(
    ran.error,
    /^UnreadableAnswer: GET \/\S+ was answered with 200 and without a list\.\n$/,
  )
})

test('--url and --token stand above the home', async () => {
  await using fixture = await startWorld()
  await using other = await startWorld()
  const words = ['rest', 'GET', '/', '--url', `${other.url}/`]
  const without = await fixture.run(words)
  assert.equal(without.code, 1)
  assert.match(without.error, /^NoCredential: .*armature login --url/)
  const { out } = await fixture.run([...words, '--token', 'mine'])
  assert.equal(JSON.parse(out).authorization, 'Bearer mine')
  assert.equal(other.forms.length + fixture.forms.length, 0)
})

test('a session is used, renewed when it ends, and forgotten by logout', async () => {
  await using fixture = await startWorld()
  const session = { url: fixture.url, clientId: 'armature-cli', accessToken: 'mine' }
  fixture.write('session.json', { ...session, expiresAt: Date.now() + 3_600_000 })
  assert.equal((await fixture.run(['token'])).out, 'mine\n')
  fixture.write('session.json', { ...session, expiresAt: 0 })
  assert.match((await fixture.run(['token'])).error, /^SessionExpired: /)
  fixture.write('session.json', { ...session, expiresAt: 0, refreshToken: 'again' })
  assert.equal((await fixture.run(['token'])).out, 'token-of-armature-cli\n')
  assert.equal(fixture.forms.at(-1)?.get('refresh_token'), 'again')
  const path = join(fixture.folder, 'session.json')
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).accessToken, 'token-of-armature-cli')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  await fixture.run(['logout'])
  assert.equal((await fixture.run(['token'])).out, 'token-of-owner\n')
})

test('the owner’s token is kept for the next command, and dropped when it ends or is refused', async () => {
  await using fixture = await startWorld()
  const get = async (...more: readonly string[]) => {
    const { code, out } = await fixture.run(['rest', 'GET', '/new-tokens', ...more])
    return [code, JSON.parse(out).authorization, fixture.forms.length]
  }
  assert.deepEqual(await get(), [0, 'Bearer token-of-owner', 1])
  assert.deepEqual(await get(), [0, 'Bearer token-of-owner', 1])
  const path = join(fixture.folder, 'token.json')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const kept = JSON.parse(readFileSync(path, 'utf8'))
  const keeps = (change: object) => fixture.write('token.json', { ...kept, ...change })
  keeps({ accessToken: 'kept' })
  assert.deepEqual(await get(), [0, 'Bearer kept', 1])
  keeps({ accessToken: 'kept', expiresAt: Date.now() + 30_000 })
  assert.deepEqual(await get(), [0, 'Bearer token-of-owner', 2], 'it ends soon')
  keeps({ accessToken: 'stale' })
  assert.deepEqual(await get(), [0, 'Bearer token-of-owner', 3], 'it was refused')
  keeps({ accessToken: 'kept', clientId: 'another' })
  assert.deepEqual(await get(), [0, 'Bearer token-of-owner', 4], 'it is of another owner')
  writeFileSync(path, '{"clientId": 3')
  assert.deepEqual(await get(), [0, 'Bearer token-of-owner', 5], 'it is damaged')
  assert.deepEqual(
    await get('--token', 'stale'),
    [1, undefined, 5],
    'a given token is the only one',
  )
  rmSync(path)
  // Stands where the new file would be written.
  mkdirSync(`${path}.${process.pid}.new`)
  assert.deepEqual(await get(), [0, 'Bearer token-of-owner', 6], 'it cannot be kept')
})

test('a port that nobody listens on is reported as such', async () => {
  await using fixture = await startWorld()
  const silent = await silentUrl()
  fixture.write('running.json', { url: silent, pid: 1, ...facts })
  const ran = await fixture.run(['rest', 'GET', '/', '--token', 'x'])
  assert.equal(ran.code, 1)
  assert.match(ran.error, new RegExp(`^NoAnswer: No answer from ${silent}: .*ECONNREFUSED`))
})

test('wrong settings are reported all at once', async () => {
  const environment = { ARMATURE_PORT: 'x', ARMATURE_SCOPES: 'y' }
  const ran = await runCli(['status'], { environment })
  assert.equal(ran.code, 1)
  assert.match(ran.error, /^SettingsWrong: /)
  assert.match(ran.error, /ARMATURE_PORT: .*\n.*ARMATURE_SCOPES: /)
})
