/**
 * The audit trail from outside: it contains every write of every area with caller, address and change, and reading
 * it needs a role.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { type Installation, startInstallation } from './installation.ts'

interface Shown {
  readonly operationName: { readonly value: string }
  readonly status: { readonly value: string }
  readonly resourceId: string
  readonly caller: string
  readonly correlationId: string
  readonly eventDataId: string
  readonly httpRequest?: { readonly clientIpAddress: string; readonly method: string }
  readonly properties: Readonly<Record<string, string>>
}

const version = 'api-version=2015-04-01'
const values = '/providers/Vendor.Insights/eventtypes/management/values'

/** Reads all pages. Records that are written in the background may take a moment. */
async function log(one: Installation, at = '', filter = ''): Promise<readonly Shown[]> {
  const found: Shown[] = []
  const question = filter === '' ? '' : `&$filter=${encodeURIComponent(filter)}`
  let path: string | undefined = `${at}${values}?${version}${question}`
  while (path !== undefined) {
    const answer = await one.request('GET', path)
    assert.equal(answer.status, 200, answer.text)
    // The published shape, which the assertions below check.
    found.push(...(answer.items() as unknown as readonly Shown[]))
    const next = answer.at('nextLink')
    path = typeof next === 'string' ? next.slice(one.url.length) : undefined
  }
  return found
}

async function eventually(
  one: Installation,
  isThere: (found: readonly Shown[]) => boolean,
): Promise<readonly Shown[]> {
  for (let tries = 0; ; tries++) {
    const found = await log(one)
    if (isThere(found) || tries === 100) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function named(found: readonly Shown[], name: string): readonly Shown[] {
  return found.filter(({ operationName }) => operationName.value === `Vendor.${name}`)
}

async function everyArea(one: Installation): Promise<void> {
  const subscription = `/subscriptions/${one.subscriptionId}`
  const group = `${subscription}/resourceGroups/Audited`
  const groups = 'api-version=2021-04-01'
  const correlation = randomUUID()
  const put = (path: string, body: object, headers = {}) =>
    one.request('PUT', path, { body, headers })
  const ok = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
    const { status, text } = await answer
    assert.ok(status < 300, text)
  }
  // The control plane.
  const sent = { 'x-ms-correlation-request-id': correlation, 'user-agent': 'auditor/1' }
  await ok(put(`${group}?${groups}`, { location: 'local', tags: { a: '1' } }, sent))
  await ok(put(`${group}?${groups}`, { location: 'local', tags: { a: '2' } }))
  const server = `${group}/providers/Vendor.Sql/servers/books`
  const password = `Secret-${randomUUID()}`
  await ok(
    put(`${server}?api-version=2021-11-01`, {
      location: 'local',
      properties: {
        fullyQualifiedDomainName: 'db.example.com',
        administratorLogin: 'sa',
        administratorLoginPassword: password,
      },
    }),
  )
  await ok(one.request('DELETE', `${server}?api-version=2021-11-01`))
  // The directory.
  const name = `auditor-${randomUUID()}`
  const made = await one.request('POST', '/directory/users', {
    body: { displayName: 'An auditor', signInName: name },
  })
  assert.equal(made.status, 201, made.text)
  const userId = String(made.at('id'))
  const typed = `Typed-${randomUUID()}`
  await ok(
    one.request('POST', `/directory/users/${userId}/setPassword`, { body: { password: typed } }),
  )
  const application = await one.request('POST', '/directory/servicePrincipals', {
    body: { displayName: 'An application' },
  })
  const clientSecret = String(application.at('clientSecret'))
  const clientId = String(application.at('clientId'))
  // Sign-ins, successful and failed.
  const token = async (secret: string) =>
    fetch(`${one.url}/common/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: secret,
        scope: '.default',
      }),
    })
  const good = await token(clientSecret)
  assert.equal(good.status, 200)
  const { access_token: stranger } = (await good.json()) as { access_token: string }
  const wrong = `Wrong-${randomUUID()}`
  assert.equal((await token(wrong)).status, 401)
  // A refused request.
  const denied = await one.request('PUT', `${group}?${groups}`, {
    body: { location: 'local' },
    token: stranger,
  })
  assert.equal(denied.status, 403)
  // The business application, both versions, and a batch.
  const company = await one.request('POST', '/api/v2.0/companies', {
    body: { name: 'AUDIT', displayName: 'Audit' },
  })
  assert.equal(company.status, 201, company.text)
  const companyId = String(company.at('id'))
  const customers = `/api/v2.0/companies(${companyId})/customers`
  const customer = await one.request('POST', customers, { body: { displayName: 'Before' } })
  assert.equal(customer.status, 201, customer.text)
  await ok(
    one.request('PATCH', `/api/v1.0/companies(${companyId})/customers(${customer.at('id')})`, {
      body: { displayName: 'After' },
      headers: { 'If-Match': '*' },
    }),
  )
  await ok(
    one.request('POST', '/api/v2.0/$batch', {
      body: {
        requests: [
          { id: '1', method: 'POST', url: customers.slice(10), body: { displayName: 'Batched' } },
        ],
      },
      headers: { 'content-type': 'application/json' },
    }),
  )
  // A provider with its own tables.
  const event = `${subscription}/providers/Vendor.ResourceHealth/events/AUDIT-1`
  await ok(
    one.request('POST', `${event}/publish?api-version=2025-05-01`, {
      body: { properties: { title: 'Out of order', summary: 'It is.', eventType: 'ServiceIssue' } },
    }),
  )

  const found = await eventually(
    one,
    (now) =>
      now.some(({ properties }) => properties['errorCode'] === 'AuthorizationFailed') &&
      named(now, 'Directory/signIns/action').some(({ status }) => status.value === 'Failed'),
  )
  const [changed, created] = named(found, 'Resources/subscriptions/resourceGroups/write').filter(
    ({ status }) => status.value === 'Succeeded',
  )
  assert.ok(created !== undefined && changed !== undefined)
  assert.equal(created.correlationId, correlation)
  assert.equal(created.resourceId, group)
  assert.equal(created.properties['userAgent'], 'auditor/1')
  assert.deepEqual(created.httpRequest, { clientIpAddress: '127.0.0.1', method: 'PUT' })
  assert.deepEqual(JSON.parse(changed.properties['changes'] ?? ''), [
    { path: 'tags.a', before: '1', after: '2' },
  ])
  const [registered] = named(found, 'Sql/servers/write')
  assert.match(registered?.properties['changes'] ?? '', /administratorLoginPassword","masked":true/)
  assert.equal(named(found, 'Sql/servers/delete').length, 1)
  const [user] = named(found, 'Directory/users/write').filter(
    ({ caller }) => caller !== 'the installation',
  )
  assert.match(user?.properties['changes'] ?? '', /"after":"An auditor"/)
  const [reset] = named(found, 'Directory/users/setPassword/action')
  assert.equal(reset?.resourceId, `/directory/users/${userId}/password`)
  assert.equal(named(found, 'Directory/servicePrincipals/write').length > 0, true)
  const signIns = named(found, 'Directory/signIns/action')
  assert.ok(signIns.some((one) => one.status.value === 'Succeeded' && one.caller === clientId))
  assert.ok(signIns.some((one) => one.properties['errorCode'] === 'invalid_client'))
  const refusals = found.filter(
    ({ properties }) => properties['errorCode'] === 'AuthorizationFailed',
  )
  assert.deepEqual(
    refusals.map((one) => [one.caller, one.resourceId, one.status.value]),
    [[clientId, group, 'Failed']],
  )
  assert.equal(named(found, 'Business/companies/write').length, 1)
  const business = named(found, 'Business/customers/write')
  assert.equal(business.length, 3)
  assert.ok(
    business.some(({ properties }) =>
      /"path":"displayName","before":"Before","after":"After"/.test(properties['changes'] ?? ''),
    ),
  )
  const [published] = named(found, 'ResourceHealth/events/publish/action')
  assert.equal(published?.status.value, 'Succeeded')
  const all = JSON.stringify(found)
  for (const secret of [password, typed, clientSecret, wrong, one.owner.clientSecret]) {
    assert.ok(!all.includes(secret), 'a secret is in the audit trail')
  }
  await filters(one, found, { group, correlation, stranger, clientId })
}

async function filters(
  one: Installation,
  found: readonly Shown[],
  {
    group,
    correlation,
    stranger,
    clientId,
  }: Readonly<Record<'group' | 'correlation' | 'stranger' | 'clientId', string>>,
): Promise<void> {
  const at = `/subscriptions/${one.subscriptionId}`
  const count = async (filter: string): Promise<number> => (await log(one, at, filter)).length
  const inside = found.filter(({ resourceId }) => resourceId.startsWith(at))
  const channels = "eventChannels eq 'Admin, Operation'"
  const since = "eventTimestamp ge '2020-01-01T00:00:00.0000000Z'"
  assert.equal(await count(`${since} and ${channels}`), inside.length)
  assert.equal(await count("eventTimestamp le '2020-01-01T00:00:00Z'"), 0)
  assert.equal(await count(`correlationId eq '${correlation}'`), 1)
  assert.equal(await count(`resourceUri eq '${group}' and status eq 'Failed'`), 1)
  assert.equal(await count(`resourceGroupName eq 'AUDITED'`), 5)
  assert.equal(await count(`resourceProvider eq 'Vendor.Sql'`), 2)
  // As the published command line writes it.
  assert.equal(await count(`resourceProvider eq Vendor.Sql and ${since}`), 2)
  assert.equal(await count(`caller eq '${clientId}'`), 1)
  const none = await one.request('GET', `${at}${values}?${version}`, { token: stranger })
  assert.equal(none.status, 403)
  assert.equal((await one.request('GET', `${values}?${version}`, { token: stranger })).status, 403)
  const paged = await one.request('GET', `${at}${values}?${version}&$top=2&$select=eventDataId`)
  assert.deepEqual(Object.keys(paged.items()[0] ?? {}), ['eventDataId'])
  assert.equal(paged.items().length, 2)
  assert.match(String(paged.at('nextLink')), /skipToken/)
  const bad = await one.request('GET', `${at}${values}?${version}&$filter=nonsense`)
  assert.equal(bad.status, 400)
  assert.equal((await one.request('GET', `${group}${values}?${version}`)).status, 400)
}

test('every area leaves its records, on SQLite; a clean stop loses none', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'armature-activity-'))
  t.after(() => rmSync(home, { recursive: true }))
  await using first = await startInstallation({ home })
  await everyArea(first)
  // Recorded just before the stop, which writes it.
  const wrong = await first.request('DELETE', '/directory/users/no-such-user')
  assert.equal(wrong.status, 404)
  assert.equal(await first.stop(), 0)
  await using again = await startInstallation({ home })
  const found = await log(again)
  assert.ok(found.some(({ properties }) => properties['errorCode'] === 'PrincipalNotFound'))
})

test('every area leaves its records, on PostgreSQL', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await using one = await startInstallation({ store: await server.createDatabase() })
  await everyArea(one)
})

test('`activity list --follow` tells what comes, once each, until it is stopped', async () => {
  await using one = await startInstallation()
  const launcher = join(import.meta.dirname, '..', '..', 'bin', 'armature.mjs')
  const group = (name: string) => `/subscriptions/${one.subscriptionId}/resourceGroups/${name}`
  const write = async (name: string): Promise<void> => {
    const body = { location: 'local' }
    const answer = await one.request('PUT', `${group(name)}?api-version=2021-04-01`, { body })
    assert.ok(answer.status < 300, answer.text)
  }
  await write('before')
  const child = spawn(process.execPath, [launcher, 'activity', 'list', '--follow', '--json'], {
    env: { ...process.env, ARMATURE_HOME: one.home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const printed: string[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => printed.push(String(JSON.parse(line).resourceId)))
  const isPrinted = (name: string): boolean => printed.includes(group(name))
  // The beginning of the follow can only be seen by its output.
  let writes = 0
  await until(async () => {
    await write(`first-${writes++}`)
    return printed.some((id) => id.startsWith(group('first-')))
  }, 200)
  await write('second')
  await write('third')
  await until(() => isPrinted('second') && isPrinted('third'))
  // Its polls overlap, but nothing is printed twice.
  await write('last')
  await until(() => isPrinted('last'))
  for (const name of ['second', 'third', 'last']) {
    assert.equal(printed.filter((id) => id === group(name)).length, 1, name)
  }
  assert.ok(printed.indexOf(group('second')) < printed.indexOf(group('third')), 'the oldest first')
  assert.ok(!isPrinted('before'))
  child.kill('SIGINT')
  assert.deepEqual(await ended, [0, null])
})
