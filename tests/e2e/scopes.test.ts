/** Subscriptions, resource groups and undeclared scopes: lists, creation and deletion, and the order of checks. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { until } from '../until.ts'
import {
  type Application,
  assertRefused,
  assignmentPath,
  bodyOf,
  createApplication,
  createResourceGroup,
  grant,
  roles,
} from './access.ts'
import { type Answer, type Installation, startInstallation } from './installation.ts'

const subscriptions = 'api-version=2020-01-01'
const groups = 'api-version=2021-04-01'
const assignments = 'api-version=2022-04-01'

let installation: Installation
let subscription: string
let stranger: Application

before(async () => {
  installation = await startInstallation()
  subscription = `/subscriptions/${installation.subscriptionId}`
  stranger = await createApplication(installation, 'stranger')
})
after(() => installation[Symbol.asyncDispose]())

const get = (path: string): Promise<Answer> => installation.request('GET', path)
const put = (path: string, body: unknown): Promise<Answer> =>
  installation.request('PUT', path, { body })

/** The names of a list over all its pages. */
async function names(path: string): Promise<string[]> {
  const seen: string[] = []
  let next: string | undefined = path
  while (next !== undefined) {
    const page: Answer = await get(next)
    assert.equal(page.status, 200, page.text)
    seen.push(...page.items().map((item) => String(item['name'])))
    const link = page.at('nextLink')
    next = link === undefined ? undefined : String(link)
  }
  return seen
}

describe('subscriptions', () => {
  test('create, get, list, rename', async () => {
    const id = randomUUID()
    const path = `/subscriptions/${id}?${subscriptions}`
    assertRefused(await get(path), 404, 'SubscriptionNotFound')
    const made = await put(path, { displayName: 'One' })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(
      [made.at('id'), made.at('subscriptionId'), made.at('displayName'), made.at('state')],
      [`/subscriptions/${id}`, id, 'One', 'Enabled'],
    )
    assert.equal(made.at('tenantId'), installation.tenantId)
    const own = `/subscriptions/${id}/rename?${subscriptions}`
    const answer = await installation.request('POST', own, { body: { subscriptionName: 'Two' } })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body, { subscriptionId: id })
    assert.equal((await get(path)).at('displayName'), 'Two')
    const listed = (await get(`/subscriptions?${subscriptions}`)).items()
    assert.ok(listed.some((one) => one['subscriptionId'] === id && one['displayName'] === 'Two'))
    assertRefused(await put(`/subscriptions/x?${subscriptions}`, {}), 400, 'InvalidSubscriptionId')
  })

  test('a cancelled one is read-only: writes are 409 until it is enabled', async () => {
    const id = `/subscriptions/${randomUUID()}`
    assert.equal((await put(`${id}?${subscriptions}`, {})).status, 201)
    const group = `${id}/resourceGroups/g?${groups}`
    const body = { location: 'local' }
    assert.equal((await put(group, body)).status, 201)
    const containers = `${id}/resourceGroups/g/providers/Vendor.ContainerInstance/containerGroups/c`
    const version = 'api-version=2023-05-01'
    const web = {
      name: 'web',
      properties: { image: 'i', resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } } },
    }
    const made = await put(`${containers}?${version}`, {
      location: 'local',
      properties: { osType: 'Linux', containers: [web] },
    })
    assert.equal(made.status, 201, made.text)
    const vault = `${id}/resourceGroups/g/providers/Vendor.Secrets/vaults/v`
    assert.equal(
      (await put(`${vault}?api-version=2026-01-01`, { location: 'local', properties: {} })).status,
      201,
    )
    const writable = `${subscription}/resourceGroups/writable`
    await createResourceGroup(installation, writable)
    const kept = `${writable}/providers/Vendor.Secrets/vaults/kept`
    assert.equal(
      (await put(`${kept}?api-version=2026-01-01`, { location: 'local', properties: {} })).status,
      201,
    )
    const act = (action: string) =>
      installation.request('POST', `${id}/${action}?${subscriptions}`, {})
    const move = (from: string, to: string, resource: string) =>
      installation.request('POST', `${from}/moveResources?${groups}`, {
        body: { resources: [resource], targetResourceGroup: to },
      })
    const control = (action: string, body?: object) =>
      installation.request('POST', `${containers}/${action}?${version}`, { body })
    while (
      (await get(`${containers}?${version}`)).at('properties.provisioningState') !== 'Succeeded'
    )
      await setTimeout(20)
    assert.equal((await act('cancel')).status, 200)
    const shown = await get(`${id}?${subscriptions}`)
    assert.equal(shown.at('state'), 'Disabled')
    assert.equal((await act('cancel')).status, 200, 'once more changes nothing')
    assert.equal((await get(group)).status, 200)
    assert.equal((await get(`${id}/resourceGroups?${groups}`)).items().length, 1)
    for (const refused of [
      await put(group, { ...body, tags: { a: 'b' } }),
      await put(`${id}/resourceGroups/h?${groups}`, body),
      await put(assignmentPath(`${id}/resourceGroups/g`), bodyOf()),
      await put(assignmentPath(id), bodyOf()),
      await installation.request('DELETE', group),
      await move(`${id}/resourceGroups/g`, writable, vault),
      await move(writable, `${id}/resourceGroups/g`, kept),
      await control('restart'),
      await control('start'),
      await control('containers/web/exec', {
        command: 'ls',
        terminalSize: { rows: 1, cols: 1 },
      }),
    ]) {
      assertRefused(refused, 409, 'ReadOnlyDisabledSubscription')
    }
    assert.equal((await control('stop')).status, 204, 'what runs may be ended')
    const whole = { body: { resources: ['*'] } }
    const exported = await installation.request(
      'POST',
      `${id}/resourceGroups/g/exportTemplate?${groups}`,
      whole,
    )
    assert.equal(exported.status, 200, exported.text)
    assert.equal((await act('enable')).status, 200)
    assert.equal((await put(group, { ...body, tags: { a: 'b' } })).status, 200)
  })

  test('each caller sees what a role lets them read', async () => {
    const { principalId, token } = await createApplication(installation, 'sees one')
    const list = () => installation.request('GET', `/subscriptions?${subscriptions}`, { token })
    assert.deepEqual((await list()).items(), [])
    await grant(installation, subscription, roles.reader, principalId)
    const seen = (await list()).items().map((one) => one['subscriptionId'])
    assert.deepEqual(seen, [installation.subscriptionId])
  })

  test('tenants and locations', async () => {
    const tenants = await get(`/tenants?${subscriptions}`)
    assert.deepEqual(
      tenants.items().map((one) => one['tenantId']),
      [installation.tenantId],
    )
    const locations = await get(`${subscription}/locations?${subscriptions}`)
    assert.ok(locations.items().some((one) => one['name'] === 'westus'))
  })
})

describe('resource groups', () => {
  test('the location is required, compared without case and blanks, and never changes', async () => {
    const path = `${subscription}/resourceGroups/located?${groups}`
    assertRefused(await put(path, {}), 400, 'LocationRequired', 'location')
    assert.equal((await put(path, { location: 'West US' })).status, 201)
    assert.equal((await put(path, { location: 'westus' })).status, 200)
    assertRefused(await put(path, { location: 'eastus' }), 409, 'InvalidResourceGroupLocation')
  })

  test('names: the rule, any case in the path, the case of the latest write shown', async () => {
    for (const name of ['ends.', 'a b', 'x'.repeat(91), 'a!b']) {
      const path = `${subscription}/resourceGroups/${encodeURIComponent(name)}?${groups}`
      assertRefused(await put(path, { location: 'local' }), 400, 'InvalidResourceName')
    }
    const path = (name: string) => `${subscription}/resourcegroups/${name}?${groups}`
    assert.equal((await put(path('MiXed'), { location: 'local' })).status, 201)
    const again = await put(path('mixed'), { location: 'local', tags: { a: 'b' } })
    assert.equal(again.status, 200)
    assert.equal((await get(path('MIXED'))).at('name'), 'mixed')
  })

  test('PATCH: tags replace the whole map, what is left out stays', async () => {
    const path = `${subscription}/resourceGroups/patched?${groups}`
    const body = { location: 'local', tags: { a: '1', b: '2' }, managedBy: '/x' }
    assert.equal((await put(path, body)).status, 201)
    const patch = (change: object) => installation.request('PATCH', path, { body: change })
    const tagged = await patch({ tags: { c: '3' } })
    assert.equal(tagged.status, 200, tagged.text)
    assert.deepEqual(tagged.at('tags'), { c: '3' })
    assert.equal(tagged.at('managedBy'), '/x')
    assert.deepEqual((await patch({})).body, tagged.body)
    assert.equal((await patch({ managedBy: null })).at('managedBy'), undefined)
    assertRefused(await patch({ tags: { 'a<b': 'c' } }), 400, 'InvalidTagNameCharacters')
  })

  test('the list: filter by tag, pages, next link', async () => {
    const sub = `/subscriptions/${randomUUID()}`
    const path = (name: string) => `${sub}/resourceGroups/${name}?${groups}`
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const tags = 'bd'.includes(name) ? { team: 'Blue' } : { team: 'red', other: 'Blue' }
      assert.equal((await put(path(name), { location: 'local', tags })).status, 201)
    }
    const list = `${sub}/resourceGroups?${groups}`
    assert.deepEqual(await names(list), ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(await names(`${list}&$top=2`), ['a', 'b', 'c', 'd', 'e'])
    const filter = (text: string) => `${list}&$filter=${encodeURIComponent(text)}`
    const blue = filter("tagName eq 'TEAM' and tagValue eq 'Blue'")
    assert.deepEqual(await names(blue), ['b', 'd'])
    assert.deepEqual(await names(`${blue}&$top=1`), ['b', 'd'])
    assert.deepEqual(await names(filter("tagName eq 'team' and tagValue eq 'blue'")), [])
    assertRefused(await get(filter('tagName eq')), 400, 'InvalidFilterInQueryString')
    assertRefused(await get(filter("colour eq 'x'")), 400, 'InvalidFilterInQueryString')
    const page = await get(`${list}&$top=2&x=y`)
    const next = new URL(String(page.at('nextLink')))
    assert.equal(next.origin, installation.url)
    assert.deepEqual(
      ['api-version', '$top', 'x'].map((name) => next.searchParams.get(name)),
      ['2021-04-01', '2', 'y'],
    )
  })

  test('DELETE takes the content along, as an operation that can be followed', {
    timeout: 240_000,
  }, async () => {
    const group = `${subscription}/resourceGroups/full`
    assert.equal((await createResourceGroup(installation, group)).status, 201)
    const inside = `${group}/providers/Vendor.X/things/t/parts/p`
    const paths = [group, inside].map((scope) => assignmentPath(scope))
    for (const path of paths) assert.equal((await put(path, bodyOf())).status, 201)
    const beside = assignmentPath(`${group}-beside`)
    assert.equal((await put(beside, bodyOf())).status, 201)
    const accepted = await installation.request('DELETE', `${group}?${groups}`)
    assert.equal(accepted.status, 202, accepted.text)
    assert.equal(accepted.text, '')
    assert.match(accepted.headers.get('retry-after') ?? '', /^\d+$/)
    const statusUrl = accepted.headers.get('vendor-asyncoperation') ?? ''
    const resultUrl = accepted.headers.get('location') ?? ''
    for (const url of [statusUrl, resultUrl]) assert.ok(url.startsWith(`${installation.url}/`), url)
    const ended = await followed(statusUrl)
    assert.equal(ended.at('status'), 'Succeeded', ended.text)
    assert.ok(statusUrl.includes(String(ended.at('id'))), ended.text)
    assert.ok(String(ended.at('id')).endsWith(`/${ended.at('name')}`))
    for (const field of ['startTime', 'endTime']) {
      assert.ok(!Number.isNaN(Date.parse(String(ended.at(field)))), field)
    }
    assert.equal((await get(resultUrl)).status, 204)
    assertRefused(await get(`${group}?${groups}`), 404, 'ResourceGroupNotFound')
    assert.equal((await installation.request('DELETE', `${group}?${groups}`)).status, 204)
    for (const path of paths) assert.equal((await get(path)).status, 404)
    assert.equal((await get(beside)).status, 200, 'what only begins alike stays')
    const foreign = await installation.request('GET', statusUrl, { token: stranger.token })
    assertRefused(foreign, 404, 'OperationNotFound')
    assert.equal((await createResourceGroup(installation, group)).status, 201, 'free again')
    assert.equal((await get(paths[0] ?? '')).status, 404, 'and empty')
  })

  test('what is being deleted takes no writes; nothing survives them', {
    timeout: 240_000,
  }, async () => {
    const group = `${subscription}/resourceGroups/going`
    assert.equal((await createResourceGroup(installation, group)).status, 201)
    const many = Array.from({ length: 600 }, () => assignmentPath(group))
    await Promise.all(many.map((path) => put(path, bodyOf())))
    const accepted = await installation.request('DELETE', `${group}?${groups}`)
    assert.equal(accepted.status, 202)
    // Writes race with the deletion. Whatever the answer, no write may outlive the group.
    const late = Array.from({ length: 40 }, () => assignmentPath(group))
    const answers = await Promise.all(
      late.map((path) =>
        installation.request('PUT', path, { body: bodyOf(), token: mineOnly.token }),
      ),
    )
    for (const answer of answers) {
      const code = `${answer.status} ${answer.at('error.code')}`
      assert.ok(
        ['409 ResourceGroupBeingDeleted', '404 ResourceGroupNotFound'].includes(code),
        answer.text,
      )
    }
    await followed(accepted.headers.get('vendor-asyncoperation') ?? '')
    assertRefused(await get(`${group}?${groups}`), 404, 'ResourceGroupNotFound')
    for (const path of late) assert.equal((await get(path)).status, 404)
  })

  /** May grant roles in the subscription, but creates no scope. */
  let mineOnly: Application
  before(async () => {
    mineOnly = await createApplication(installation, 'mine only')
    await grant(installation, subscription, roles.owner, mineOnly.principalId)
  })
})

/** Polls an operation until it has ended. */
function followed(url: string): Promise<Answer> {
  return until(async () => {
    const answer = await get(url)
    assert.equal(answer.status, 200, answer.text)
    const hasEnded = ['Succeeded', 'Failed', 'Canceled'].includes(String(answer.at('status')))
    return hasEnded && answer
  })
}

describe('generic lists', () => {
  test('resources of a subscription and of a group: filters, pages, refusals', async () => {
    const group = `${subscription}/resourceGroups/listed`
    assert.equal((await createResourceGroup(installation, group)).status, 201)
    for (const scope of [subscription, group]) {
      const path = `${scope}/resources?${groups}`
      for (const filter of [
        "resourceType eq 'Vendor.X/things'",
        "location eq 'westus' and name ne 'a'",
        "substringof('demo', name)",
        "tagName eq 'a' and tagValue eq 'b'",
        "startswith(tagName, 'dep')",
        "identity/principalId eq 'x' or plan/publisher eq 'y'",
      ]) {
        const answer = await get(`${path}&$top=5&$filter=${encodeURIComponent(filter)}`)
        assert.equal(answer.status, 200, answer.text)
        // Groups are tracked as well, but are not in the list, and assignments have no location.
        assert.deepEqual(answer.body, { value: [] })
      }
      const expanded = `${path}&$expand=createdTime,changedTime,provisioningState`
      assert.equal((await get(expanded)).status, 200)
      const bad = `${path}&$filter=${encodeURIComponent("colour eq 'x'")}`
      assertRefused(await get(bad), 400, 'InvalidFilterInQueryString')
      assertRefused(await get(`${path}&$filter=name eq`), 400, 'InvalidFilterInQueryString')
      assertRefused(await get(`${path}&$top=x`), 400, 'InvalidQueryParameter')
      assertRefused(await get(`${path}&$expand=everything`), 400, 'InvalidQueryParameter')
    }
    const missing = `${subscription}/resourceGroups/no-such/resources?${groups}`
    assertRefused(await get(missing), 404, 'ResourceGroupNotFound')
    const elsewhere = `/subscriptions/${randomUUID()}/resources?${groups}`
    assertRefused(await get(elsewhere), 404, 'SubscriptionNotFound')
  })

  test('resources by type: those of the type and no others, in any case of its letters, page by page', async () => {
    const group = `${subscription}/resourceGroups/by-type`
    assert.equal((await createResourceGroup(installation, group)).status, 201)
    for (const [type, name, version] of [
      ['ManagedIdentity/userAssignedIdentities', 'aaa', '2023-01-31'],
      ['DataShare/accounts', 'bbb', '2021-08-01'],
      ['ManagedIdentity/userAssignedIdentities', 'ccc', '2023-01-31'],
      ['ManagedIdentity/userAssignedIdentities', 'ddd', '2023-01-31'],
    ]) {
      const path = `${group}/providers/Vendor.${type}/${name}?api-version=${version}`
      const identity = { type: 'SystemAssigned' }
      const made = await put(path, { location: 'local', ...(name === 'bbb' ? { identity } : {}) })
      assert.ok(made.status < 300, made.text)
    }
    const listed = async (filter: string): Promise<readonly unknown[]> => {
      const names: unknown[] = []
      const first = `${group}/resources?${groups}&$top=2&$filter=${encodeURIComponent(filter)}`
      for (let path: string | undefined = first; path !== undefined; ) {
        const page = await get(path)
        assert.equal(page.status, 200, page.text)
        names.push(...page.items().map(({ name }) => name))
        const next = page.at('nextLink')
        path = typeof next === 'string' ? next.slice(next.indexOf('/subscriptions/')) : undefined
      }
      return names
    }
    const identities = "resourceType eq 'vendor.MANAGEDIDENTITY/userassignedidentities'"
    assert.deepEqual(await listed(identities), ['aaa', 'ccc', 'ddd'])
    assert.deepEqual(await listed(`name ne 'ccc' and ${identities}`), ['aaa', 'ddd'])
    assert.deepEqual(await listed("resourceType eq 'Vendor.DataShare/accounts'"), ['bbb'])
    assert.deepEqual(await listed(`${identities} or name eq 'bbb'`), ['bbb', 'aaa', 'ccc', 'ddd'])
    assert.deepEqual(
      await listed("resourceType eq 'Vendor.DataShare/accounts' and name eq 'aaa'"),
      [],
    )
  })

  test('providers, everywhere they are asked for', async () => {
    for (const scope of ['', subscription]) {
      const list = await get(`${scope}/providers?${groups}`)
      const found = list.items().map((one) => one['namespace'])
      for (const name of ['Vendor.Authorization', 'Vendor.Resources']) {
        assert.equal(found.filter((one) => one === name).length, 1, name)
      }
      const one = await get(`${scope}/providers/vendor.authorization?${groups}`)
      assert.equal(one.at('namespace'), 'Vendor.Authorization')
      assert.equal(one.at('registrationState'), 'Registered')
      const types = one.at('resourceTypes')
      assert.ok(Array.isArray(types))
      const type = types.find((each) => each.resourceType === 'roleAssignments')
      for (const version of ['2022-04-01', '2020-04-01-preview']) {
        assert.ok(type?.apiVersions.includes(version), version)
      }
      const unknown = await get(`${scope}/providers/Vendor.Nothing?${groups}`)
      assertRefused(unknown, 404, 'InvalidResourceNamespace')
    }
  })
})

describe('the order of checks (facts 9.7): the first that is wrong answers', () => {
  const missing = randomUUID()
  const group = () => `${subscription}/resourceGroups/order`
  before(async () => {
    assert.equal((await createResourceGroup(installation, group())).status, 201)
  })

  const at = (scope: string, query: string, type = 'Vendor.Authorization/roleAssignments') =>
    `${scope}/providers/${type}/${randomUUID()}${query === '' ? '' : `?${query}`}`

  /** Caller, path and body. Each row is wrong in everything right of its mark. */
  const rows: readonly [
    wrong: string,
    who: 'nobody' | 'stranger' | 'owner',
    path: () => string,
    body: string | undefined,
    expected: string,
  ][] = [
    [
      'token, path',
      'nobody',
      () => '/subscriptions//x?api-version=1',
      '{',
      '401 AuthenticationFailed',
    ],
    ['token, version', 'nobody', () => at('/subscriptions/x', ''), '{', '401 AuthenticationFailed'],
    ['token, type', 'nobody', () => at('', assignments, 'A.B/c'), '{', '401 AuthenticationFailed'],
    ['path, right', 'stranger', () => '/subscriptions//x', '{', '400 InvalidRequestUri'],
    [
      'version, subscription id',
      'stranger',
      () => at('/subscriptions/x', ''),
      '{',
      '400 MissingApiVersionParameter',
    ],
    [
      'subscription id, right',
      'stranger',
      () => at('/subscriptions/x', assignments),
      '{',
      '400 InvalidSubscriptionId',
    ],
    [
      'version of the type, right',
      'stranger',
      () => at(`/subscriptions/${missing}`, groups),
      '{',
      '400 InvalidApiVersionParameter',
    ],
    [
      'right, group',
      'stranger',
      () => at(`${group()}-no`, assignments),
      '{',
      '403 AuthorizationFailed',
    ],
    ['right, body', 'stranger', () => at(group(), assignments), '{', '403 AuthorizationFailed'],
    ['body', 'owner', () => at(group(), assignments), '{', '400 InvalidRequestContent'],
    [
      'body, rules',
      'owner',
      () => at(group(), assignments),
      '{"properties":{"principalId":"x"}}',
      '400 InvalidRequestContent',
    ],
  ]
  for (const [wrong, who, path, body, expected] of rows) {
    test(`${wrong}: ${expected}`, async () => {
      const token = { nobody: null, stranger: stranger.token, owner: installation.ownerToken }[who]
      const answer = await installation.request('PUT', path(), { token, body })
      assert.equal(`${answer.status} ${answer.at('error.code')}`, expected, answer.text)
    })
  }

  test('a missing subscription is answered before rights are checked; a missing group after', async () => {
    const token = stranger.token
    const read = (path: string) => installation.request('GET', path, { token })
    const nowhere = `/subscriptions/${missing}`
    for (const path of [
      `${nowhere}?${subscriptions}`,
      `${nowhere}/resourceGroups/g?${groups}`,
      assignmentPath(nowhere),
    ]) {
      assertRefused(await read(path), 404, 'SubscriptionNotFound')
    }
    for (const path of [
      `${subscription}?${subscriptions}`,
      `${group()}?${groups}`,
      `${group()}-no?${groups}`,
      assignmentPath(`${group()}-no`),
    ]) {
      assertRefused(await read(path), 403, 'AuthorizationFailed')
    }
  })

  test('preconditions come before the rules of the body', async () => {
    const answer = await installation.request('PUT', assignmentPath(group()), {
      body: { properties: { principalId: 'x', principalType: 'User', roleDefinitionId: 'y' } },
      headers: { 'if-match': '*' },
    })
    assertRefused(answer, 412, 'PreconditionFailed')
  })
})

describe('scopes nobody declared', () => {
  test('implicit: a write by one who may at the root brings them into being', async () => {
    const id = randomUUID()
    const group = `/subscriptions/${id}/resourceGroups/implied`
    const scope = `${group}/providers/Vendor.ContainerInstance/containerGroups/web`
    const made = await put(assignmentPath(scope), bodyOf())
    assert.equal(made.status, 201, made.text)
    const sub = await get(`/subscriptions/${id}?${subscriptions}`)
    assert.deepEqual([sub.status, sub.at('state')], [200, 'Enabled'])
    const found = await get(`${group}?${groups}`)
    assert.deepEqual(
      [found.status, found.at('location'), found.at('properties.provisioningState')],
      [200, 'local', 'Succeeded'],
    )
  })

  test('implicit: a refused write brings nothing into being', async () => {
    const id = randomUUID()
    const path = assignmentPath(`/subscriptions/${id}/resourceGroups/g`)
    const refused = await put(path, { properties: { principalId: 'x', roleDefinitionId: 'y' } })
    assert.equal(refused.status, 400)
    assertRefused(await get(`/subscriptions/${id}?${subscriptions}`), 404, 'SubscriptionNotFound')
  })

  test('implicit: one who may only in a subscription declares no group, and no subscription', async () => {
    const { principalId, token } = await createApplication(installation, 'one subscription')
    await grant(installation, subscription, roles.owner, principalId)
    const body = bodyOf()
    const ask = (path: string) => installation.request('PUT', path, { body, token })
    const none = await ask(assignmentPath(`${subscription}/resourceGroups/undeclared`))
    assertRefused(none, 404, 'ResourceGroupNotFound')
    const elsewhere = await ask(assignmentPath(`/subscriptions/${randomUUID()}`))
    assertRefused(elsewhere, 403, 'AuthorizationFailed')
    const group = `${subscription}/resourceGroups/undeclared`
    assert.equal((await createResourceGroup(installation, group, token)).status, 201)
    assert.equal((await ask(assignmentPath(group))).status, 201)
  })

  test('implicit: one who may at a resource alone grants nothing there once it is gone', async () => {
    const group = `${subscription}/resourceGroups/${randomUUID()}`
    await createResourceGroup(installation, group)
    const managementGroup = `/providers/Vendor.Management/managementGroups/m${randomUUID()}`
    const service = `${group}/providers/Vendor.ApiManagement/service/s`
    for (const scope of [managementGroup, service]) {
      const { principalId, token } = await createApplication(installation, 'one resource')
      await grant(installation, scope, roles.owner, principalId)
      const answer = await installation.request('PUT', assignmentPath(scope), {
        body: bodyOf(),
        token,
      })
      assert.equal(answer.status, 404, scope)
      assertRefused(answer, 404, 'ResourceNotFound')
    }
  })

  test('declared: they must be there first', async () => {
    await using declared = await startInstallation({ environment: { ARMATURE_SCOPES: 'declared' } })
    const ask = (method: string, path: string, body?: object) =>
      declared.request(method, path, body === undefined ? {} : { body })
    const sub = `/subscriptions/${randomUUID()}`
    const group = `${sub}/resourceGroups/g`
    const assignment = assignmentPath(`${group}/providers/Vendor.X/things/y`)
    const writes: readonly [string, object][] = [
      [`${group}?${groups}`, { location: 'local' }],
      [assignment, bodyOf()],
    ]
    for (const [path, body] of writes) {
      assertRefused(await ask('PUT', path, body), 404, 'SubscriptionNotFound')
      assertRefused(await ask('GET', path), 404, 'SubscriptionNotFound')
    }
    assert.equal((await ask('PUT', `${sub}?${subscriptions}`, {})).status, 201)
    assertRefused(await ask('PUT', assignment, bodyOf()), 404, 'ResourceGroupNotFound')
    assertRefused(await ask('GET', assignment), 404, 'ResourceGroupNotFound')
    assertRefused(await ask('GET', `${group}?${groups}`), 404, 'ResourceGroupNotFound')
    assert.equal((await ask('PUT', `${group}?${groups}`, { location: 'local' })).status, 201)
    assert.equal((await ask('PUT', assignment, bodyOf())).status, 201)
    assertRefused(await ask('GET', assignmentPath(group)), 404, 'RoleAssignmentNotFound')
  })
})
