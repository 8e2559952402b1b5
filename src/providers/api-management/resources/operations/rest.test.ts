/** The direct REST paths of operations and their APIs (facts 3.2, 9.3): tags, conditions, lists, policies. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { api, problemsOf, service, startWithApi, type Wire } from '../../testing/start.ts'

const path = `${api}/operations/list-pets`
const body = (extra: object = {}): object => ({
  properties: { displayName: 'List pets', method: 'GET', urlTemplate: '/pets', ...extra },
})

describe('one operation', () => {
  test('PUT and GET carry a tag; HEAD answers 200 with it', async () => {
    await using started = await startWithApi()
    await assert.rejects(started.send('HEAD', path), { status: 404 })
    const made = await started.send('PUT', path, body())
    assert.equal(made.status, 201)
    assert.ok(made.etag)
    const head = await started.send('HEAD', path)
    assert.deepEqual(head, { status: 200, etag: made.etag })
    assert.equal((await started.send('GET', path)).etag, made.etag)
    const flat = await started.send('GET', path, undefined, { version: '2016-07-07' })
    assert.equal(flat.etag, made.etag)
  })

  test('PUT may bring If-Match, PATCH and DELETE must', async () => {
    await using started = await startWithApi()
    const { etag } = await started.send('PUT', path, body())
    const patch = { properties: { description: 'All of them.' } }
    await assert.rejects(started.send('PATCH', path, patch), { status: 412 })
    await assert.rejects(started.send('PATCH', path, patch, { ifMatch: '"old"' }), { status: 412 })
    await assert.rejects(started.send('DELETE', path), { status: 412 })
    await assert.rejects(started.send('DELETE', path, undefined, { ifMatch: '"old"' }), {
      status: 412,
    })
    await assert.rejects(started.send('PUT', path, body(), { ifMatch: '"old"' }), { status: 412 })
    const patched = await started.send('PATCH', path, patch, { ifMatch: `"${etag}"` })
    assert.equal(patched.status, 200)
    assert.notEqual(patched.etag, etag)
    const put = await started.send('PUT', path, body(), { ifMatch: '*' })
    assert.equal(put.status, 200)
    const gone = await started.send('DELETE', path, undefined, { ifMatch: `"${put.etag}"` })
    assert.equal(gone.status, 200)
    assert.equal((await started.send('DELETE', path, undefined, { ifMatch: '*' })).status, 204)
    await assert.rejects(started.send('GET', path), { status: 404, code: 'ResourceNotFound' })
    await assert.rejects(started.send('PATCH', path, patch, { ifMatch: '*' }), { status: 404 })
  })

  test('PATCH changes what it names, in any version, and checks the outcome', async () => {
    await using started = await startWithApi()
    await started.send('PUT', path, body({ policies: '<policies />' }))
    const options = { ifMatch: '*', version: '2016-07-07' }
    await started.send('PATCH', path, { description: 'All of them.' }, options)
    const { properties } = await started.json('GET', path)
    assert.deepEqual(properties, {
      displayName: 'List pets',
      method: 'GET',
      urlTemplate: '/pets',
      policies: '<policies />',
      description: 'All of them.',
    })
    const broken = started.send('PATCH', path, { urlTemplate: '/pets/{id}' }, options)
    assert.deepEqual(await problemsOf(broken), ['templateParameters'])
  })

  test('a PUT of an API brings operations by its document alone', async () => {
    await using started = await startWithApi()
    const imported = [{ name: 'forged', model: { displayName: 'x' } }]
    await started.send('PUT', api, { properties: { path: 'pets', displayName: 'Pets' }, imported })
    assert.deepEqual((await started.json('GET', `${api}/operations`)).value, [])
  })

  test('below an API that is not there', async () => {
    await using started = await startWithApi()
    const lost = `${service}/apis/none/operations`
    await assert.rejects(started.send('PUT', `${lost}/a`, body()), {
      status: 404,
      code: 'ParentResourceNotFound',
    })
    await assert.rejects(started.send('GET', lost), { status: 404 })
  })

  test('goes with its API', async () => {
    await using started = await startWithApi()
    await started.send('PUT', path, body())
    assert.equal((await started.send('DELETE', api, undefined, { ifMatch: '*' })).status, 200)
    await started.send('PUT', api, { properties: { path: 'pets' } })
    await assert.rejects(started.send('GET', path), { status: 404 })
  })

  test('its policy', async () => {
    await using started = await startWithApi()
    await started.send('PUT', path, body())
    const policy = `${path}/policies/policy`
    await assert.rejects(started.send('GET', policy), { status: 404 })
    const given = { properties: { value: '<policies />', format: 'xml' } }
    const made = await started.send('PUT', policy, given)
    assert.equal(made.status, 201)
    assert.deepEqual(await started.send('HEAD', policy), { status: 200, etag: made.etag })
    const shown = await started.json('GET', policy)
    assert.deepEqual(shown.properties, given.properties)
    const { value } = await started.json('GET', `${path}/policies`)
    assert.equal(value.length, 1)
    assert.deepEqual(await problemsOf(started.send('PUT', `${path}/policies/other`, given)), [
      'name',
    ])
    await assert.rejects(started.send('DELETE', policy), { status: 412 })
    assert.equal((await started.send('DELETE', policy, undefined, { ifMatch: '*' })).status, 200)
  })
})

describe('lists', () => {
  const names = ['add-pet', 'delete-pet', 'find-pets', 'get-pet', 'list-owners']
  const methods = ['POST', 'DELETE', 'GET', 'GET', 'GET']

  async function filled() {
    const started = await startWithApi()
    for (const [index, name] of names.entries()) {
      const fields = { displayName: `Do ${name}`, method: methods[index], urlTemplate: `/${name}` }
      await started.send('PUT', `${api}/operations/${name}`, { properties: fields })
    }
    return started
  }

  /** All pages of a list: the names, and the counts. */
  async function pages(
    started: Awaited<ReturnType<typeof filled>>,
    query: string,
  ): Promise<{ names: string[]; counts: number[]; sizes: number[] }> {
    const found: { names: string[]; counts: number[]; sizes: number[] } = {
      names: [],
      counts: [],
      sizes: [],
    }
    let token: string | undefined
    do {
      const more = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
      const page = await started.send('GET', `${api}/operations?${query}${more}`)
      const { value, count }: Wire = page.body
      found.names.push(...value.map((one: Wire) => one.name))
      found.counts.push(count)
      found.sizes.push(value.length)
      token = page.nextToken
    } while (token !== undefined)
    return found
  }

  test('whole, with count', async () => {
    await using started = await filled()
    assert.deepEqual(await pages(started, ''), { names, counts: [5], sizes: [5] })
  })

  test('$top and $skip; every page tells how many there are in all', async () => {
    await using started = await filled()
    assert.deepEqual(await pages(started, '$top=2'), {
      names,
      counts: [5, 5, 5],
      sizes: [2, 2, 1],
    })
    assert.deepEqual(await pages(started, '$top=2&$skip=1'), {
      names: names.slice(1),
      counts: [5, 5],
      sizes: [2, 2],
    })
    assert.deepEqual(await pages(started, '$skip=9'), { names: [], counts: [5], sizes: [0] })
    for (const skip of ['-1', 'x', '1.5']) {
      await assert.rejects(started.send('GET', `${api}/operations?$skip=${skip}`), {
        status: 400,
        code: 'InvalidQueryParameter',
      })
    }
  })

  const filters: readonly (readonly [filter: string, expected: readonly string[]])[] = [
    ["method eq 'get'", ['find-pets', 'get-pet', 'list-owners']],
    ["method ne 'GET'", ['add-pet', 'delete-pet']],
    ["contains(name, 'pets')", ['find-pets']],
    ["substringof('pets', name)", ['find-pets']],
    ["startswith(displayName, 'Do list')", ['list-owners']],
    ["endswith(urlTemplate, '-pet')", ['add-pet', 'delete-pet', 'get-pet']],
    ["properties/method eq 'POST'", ['add-pet']],
    ["name ge 'find-pets' and name lt 'list-owners'", ['find-pets', 'get-pet']],
    ["name gt 'get-pet' or name le 'add-pet'", ['add-pet', 'list-owners']],
    ["description eq 'x'", []],
  ]
  for (const [filter, expected] of filters) {
    test(filter, async () => {
      await using started = await filled()
      const asked = `$filter=${encodeURIComponent(filter)}`
      const whole = await pages(started, asked)
      assert.deepEqual([whole.names, whole.counts], [expected, [expected.length]])
      const single = await pages(started, `${asked}&$top=1`)
      assert.deepEqual(single.names, expected)
      assert.ok(single.counts.every((count) => count === expected.length))
    })
  }

  test('a filter that cannot be is refused', async () => {
    await using started = await filled()
    for (const filter of ["color eq 'red'", 'method eq', 'name eq 7']) {
      await assert.rejects(
        started.send('GET', `${api}/operations?$filter=${encodeURIComponent(filter)}`),
        { status: 400, code: 'InvalidFilterInQueryString' },
      )
    }
  })
})

describe('services and APIs', () => {
  test('a service is there at once', async () => {
    await using started = await startWithApi()
    const { sku, properties } = await started.json('GET', service)
    assert.deepEqual(sku, { name: 'Developer', capacity: 1 })
    assert.equal(properties.provisioningState, 'Succeeded')
    const bad = started.send('PUT', `${service}2`, {
      location: 'local',
      sku: { name: 'Free' },
      properties: { publisherName: 'n'.repeat(101) },
    })
    assert.deepEqual([...(await problemsOf(bad))].sort(), [
      'properties.publisherEmail',
      'properties.publisherName',
      'sku.name',
    ])
  })

  test('an API comes back with what it was given, and with what is derived from it', async () => {
    await using started = await startWithApi()
    const properties = {
      displayName: 'Pets',
      description: 'd',
      path: 'pets',
      protocols: ['https', 'wss'],
      serviceUrl: 'https://backend.example.test',
      apiRevision: '2',
      apiRevisionDescription: 'r',
      apiVersion: 'v1',
      apiVersionDescription: 'v',
      apiVersionSetId: '/apiVersionSets/one',
      subscriptionRequired: false,
      subscriptionKeyParameterNames: { header: 'X-Key', query: 'key' },
      type: 'http',
      authenticationSettings: {
        oAuth2: { authorizationServerId: 'a' },
        oAuth2AuthenticationSettings: [{ authorizationServerId: 'a' }],
      },
      contact: { name: 'n', url: 'https://example.test', email: 'a@example.test' },
      license: { name: 'MIT', url: 'https://example.test' },
      termsOfServiceUrl: 'https://example.test',
    }
    const revision = `${api};rev=2`
    const made = await started.send('PUT', revision, { properties })
    assert.equal(made.status, 201)
    const shown = await started.json('GET', revision)
    assert.deepEqual(shown.properties, {
      ...properties,
      isCurrent: false,
      isOnline: true,
      isAgent: false,
      effectivePath: 'pets/v1',
      provisioningState: 'Succeeded',
    })
    assert.equal((await started.json('GET', api)).properties.isCurrent, true)
    const other = started.send('PUT', `${api};rev=3`, { properties })
    assert.deepEqual(await problemsOf(other), ['properties.apiRevision'])
    const list = await started.json(
      'GET',
      `${service}/apis?$filter=${encodeURIComponent('isCurrent eq true')}`,
    )
    assert.deepEqual([list.count, list.value.length], [1, 1])
  })

  test('a revision says its number by its name, and is made of another API with its operations', async () => {
    await using started = await startWithApi()
    const operation = { displayName: 'List', method: 'GET', urlTemplate: '/all' }
    await started.send('PUT', `${api}/operations/list`, { properties: operation })
    const revision = `${api};rev=3`
    const given = { path: 'pets', serviceUrl: 'https://three.example', sourceApiId: api }
    assert.equal((await started.send('PUT', revision, { properties: given })).status, 201)
    const { properties } = await started.json('GET', revision)
    assert.deepEqual(
      [properties.apiRevision, properties.displayName, properties.serviceUrl],
      ['3', 'Pets', 'https://three.example'],
    )
    const copied = await started.json('GET', `${revision}/operations/list`)
    assert.equal(copied.properties.urlTemplate, '/all')
    // The state of the source at the moment of creation counts.
    await started.send('DELETE', `${revision}/operations/list`, undefined, { ifMatch: '*' })
    assert.equal((await started.send('PUT', revision, { properties: given })).status, 200)
    const left = await started.json('GET', `${revision}/operations`)
    assert.deepEqual(left.value, [])
  })

  test('a text that is no document is refused', async () => {
    await using started = await startWithApi()
    const bad = started.send('PUT', `${service}/apis/imported`, {
      properties: { path: 'a', format: 'openapi+json', value: '{}' },
    })
    assert.deepEqual(await problemsOf(bad), ['properties.value'])
  })
})
