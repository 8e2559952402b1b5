/** Every row of the contract's section on operation definitions, in every version. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allDates, workspaceDates } from '../../../published-versions.ts'
import { api, problemsOf, service, startWithApi, type Wire } from '../../../testing/start.ts'

const path = `${api}/operations/create-pet`

const isFlat = (date: string): boolean => date === '2016-07-07' || date === '2016-10-10'
const hasExamples = (date: string): boolean => date >= '2024-05-01'
/** The path of a version's fields, for problems. */
const at = (date: string): string => (isFlat(date) ? '' : 'properties.')

const examples = {
  small: {
    summary: 's',
    description: 'd',
    externalValue: 'https://example.test/1',
    value: { a: 1 },
  },
  none: { value: null },
}

function parameter(date: string, name: string): Wire {
  return {
    name,
    type: 'string',
    description: 'what it is',
    defaultValue: 'a',
    required: true,
    values: ['a', 'b'],
    ...(hasExamples(date) ? { schemaId: 'schemas', typeName: 'Name', examples } : {}),
  }
}

function representations(date: string): Wire {
  return [
    {
      contentType: 'application/json',
      schemaId: 'schemas',
      typeName: 'Pet',
      ...(isFlat(date) ? { sample: '{"name":"Rex"}' } : {}),
      ...(hasExamples(date) ? { examples } : {}),
    },
    { contentType: 'multipart/form-data', formParameters: [parameter(date, 'photo')] },
    { contentType: 'application/x-www-form-urlencoded', formParameters: [] },
  ]
}

/** All properties of a version. */
function whole(date: string): Wire {
  return {
    ...(isFlat(date) ? {} : { displayName: 'Create a pet', policies: '<policies />' }),
    description: 'Makes a <b>pet</b>.',
    method: 'POST',
    urlTemplate: '/owners/{owner}/pets?kind={kind}',
    templateParameters: [parameter(date, 'owner'), parameter(date, 'kind')],
    request: {
      description: 'A pet.',
      headers: [parameter(date, 'X-Trace')],
      queryParameters: [parameter(date, 'dry')],
      representations: representations(date),
    },
    responses: [
      {
        statusCode: 201,
        description: 'Made.',
        representations: representations(date),
        ...(isFlat(date) ? {} : { headers: [parameter(date, 'Location')] }),
      },
    ],
  }
}

const bodyOf = (date: string, fields: Wire): Wire =>
  isFlat(date) ? fields : { properties: fields }

/** Only the required properties. */
const least = (date: string): Wire => ({
  ...(isFlat(date) ? {} : { displayName: 'd' }),
  method: 'GET',
  urlTemplate: '/',
})

describe('the contract’s rows', () => {
  test('there are twenty-four versions', () => {
    assert.equal(allDates.length, 24)
    assert.equal(new Set(allDates).size, 24)
  })

  for (const version of allDates) {
    describe(version, () => {
      test('every field comes back as it was written; the envelope besides', async () => {
        await using started = await startWithApi()
        const given = bodyOf(version, whole(version))
        const made = await started.send('PUT', path, given, { version })
        assert.equal(made.status, 201)
        const { id, name, type, systemData, ...rest } = await started.json('GET', path, undefined, {
          version,
        })
        assert.deepEqual(rest, given)
        assert.deepEqual(
          [id, name, type],
          [path, 'create-pet', 'Vendor.ApiManagement/service/apis/operations'],
        )
        assert.equal(systemData.createdByType, 'User')
      })

      test('what is required', async () => {
        await using started = await startWithApi()
        const send = (fields: Wire) =>
          started.send('PUT', path, bodyOf(version, fields), { version })
        assert.equal((await send(least(version))).status, 201)
        const required = ['method', 'urlTemplate', ...(isFlat(version) ? [] : ['displayName'])]
        const missing = required.map((name) => `${at(version)}${name}`).sort()
        assert.deepEqual([...(await problemsOf(send({})))].sort(), missing)
        const deep = {
          ...least(version),
          templateParameters: [{}],
          request: { headers: [{}], queryParameters: [{}], representations: [{}] },
          responses: [{}],
        }
        const expected = [
          'request.headers[0].name',
          'request.headers[0].type',
          'request.queryParameters[0].name',
          'request.queryParameters[0].type',
          'request.representations[0].contentType',
          'responses[0].statusCode',
          'templateParameters[0].name',
          'templateParameters[0].type',
        ].map((one) => at(version) + one)
        assert.deepEqual([...(await problemsOf(send(deep)))].sort(), expected)
      })

      test('bounds, each with its path and all at once', async () => {
        await using started = await startWithApi()
        const send = (fields: Wire) =>
          started.send('PUT', path, bodyOf(version, fields), { version })
        const long = {
          ...least(version),
          description: 'd'.repeat(1001),
          urlTemplate: `/${'u'.repeat(1000)}`,
          ...(isFlat(version) ? {} : { displayName: 'n'.repeat(301) }),
        }
        const expected = ['description', 'urlTemplate']
        if (!isFlat(version)) expected.push('displayName')
        assert.deepEqual(
          [...(await problemsOf(send(long)))].sort(),
          expected.map((name) => at(version) + name).sort(),
        )
        const empty = {
          ...least(version),
          urlTemplate: '',
          ...(isFlat(version) ? {} : { displayName: '' }),
        }
        assert.equal((await problemsOf(send(empty))).length, isFlat(version) ? 1 : 2)
        const fits = {
          ...least(version),
          description: 'd'.repeat(1000),
          urlTemplate: `/${'u'.repeat(999)}`,
          ...(isFlat(version) ? {} : { displayName: 'n'.repeat(300) }),
        }
        assert.equal((await send(fits)).status, 201)
      })

      test('status codes', async () => {
        await using started = await startWithApi()
        const send = (codes: readonly unknown[]) =>
          started.send(
            'PUT',
            path,
            bodyOf(version, {
              ...least(version),
              responses: codes.map((statusCode) => ({ statusCode })),
            }),
            { version },
          )
        assert.deepEqual(
          await problemsOf(send(['200', 200.5])),
          [0, 1].map((index) => `${at(version)}responses[${index}].statusCode`),
        )
        assert.equal((await send([100, 599])).status, 201)
        if (isFlat(version)) assert.equal((await problemsOf(send([99, 600]))).length, 2)
        else assert.equal((await send([99, 600])).status, 200)
      })

      test('names of 1 to 80 characters, to 256 in the flat ones, none of *#&+:<>?', async () => {
        await using started = await startWithApi()
        const send = (name: string) =>
          started.send(
            'PUT',
            `${api}/operations/${encodeURIComponent(name)}`,
            bodyOf(version, least(version)),
            { version },
          )
        const longest = isFlat(version) ? 256 : 80
        assert.deepEqual(await problemsOf(send('n'.repeat(longest + 1))), ['name'])
        for (const name of ['a*b', 'a#b', 'a+b', 'a:b']) {
          assert.deepEqual(await problemsOf(send(name)), ['name'], name)
        }
        assert.equal((await send('n'.repeat(longest))).status, 201)
      })

      test('a name in the body must be that of the path', async () => {
        await using started = await startWithApi()
        const body = { name: 'create-pet', ...bodyOf(version, least(version)) }
        assert.equal((await started.send('PUT', path, body, { version })).status, 201)
        const other = started.send('PUT', path, { ...body, name: 'other' }, { version })
        assert.deepEqual(await problemsOf(other), ['name'])
      })

      test('template parameters and URL template tell the same', async () => {
        await using started = await startWithApi()
        const send = (urlTemplate: string, names: readonly string[]) =>
          started.send(
            'PUT',
            path,
            bodyOf(version, {
              ...least(version),
              urlTemplate,
              templateParameters: names.map((name) => ({ name, type: 'string' })),
            }),
            { version },
          )
        const one = `${at(version)}templateParameters`
        assert.deepEqual(await problemsOf(send('/{a}/{b}', [])), [one, one])
        assert.deepEqual(await problemsOf(send('/{a}', ['a', 'b'])), [`${one}[1].name`])
        assert.deepEqual(await problemsOf(send('/{a}', ['a', 'a'])), [`${one}[1].name`])
        for (const broken of ['/{a', '/a}', '/{a{b}}', '/{}', '/{a}/{a}']) {
          const found = await problemsOf(send(broken, ['a']))
          assert.deepEqual(found, [`${at(version)}urlTemplate`], broken)
        }
        assert.equal((await send('/{a}/{*rest}?b={b=1}', ['a', 'rest', 'b'])).status, 201)
      })

      test('form parameters when the content type asks, schemas when it does not', async () => {
        await using started = await startWithApi()
        const bad = [
          { contentType: 'multipart/form-data; boundary=x', schemaId: 's', typeName: 't' },
          { contentType: 'Application/X-WWW-Form-Urlencoded', formParameters: null },
          { contentType: 'text/plain', schemaId: 's', typeName: 't' },
        ]
        const fields = {
          ...least(version),
          request: { representations: bad },
          responses: [{ statusCode: 200 }, { statusCode: 400, representations: bad }],
        }
        const found = await problemsOf(
          started.send('PUT', path, bodyOf(version, fields), { version }),
        )
        const expected = ['request', 'responses[1]'].flatMap((where) =>
          ['[0].formParameters', '[0].schemaId', '[0].typeName', '[1].formParameters'].map(
            (one) => `${at(version)}${where}.representations${one}`,
          ),
        )
        assert.deepEqual(found, expected)
      })

      test('null is the same as left out', async () => {
        await using started = await startWithApi()
        const nulls = {
          ...least(version),
          description: null,
          templateParameters: null,
          request: null,
          responses: null,
        }
        await started.send('PUT', path, bodyOf(version, nulls), { version })
        const shown = await started.json('GET', path, undefined, { version })
        assert.deepEqual(
          isFlat(version) ? shown.request : shown.properties,
          isFlat(version) ? undefined : least(version),
        )
        assert.ok(!('responses' in shown))
      })

      test('what the version does not have is neither refused nor kept', async () => {
        await using started = await startWithApi()
        const strange = { ...whole('2024-05-01'), unknown: 'gone' }
        const own = isFlat(version) ? strange : { properties: strange }
        await started.send('PUT', path, own, { version })
        const text = JSON.stringify(await started.json('GET', path, undefined, { version }))
        assert.ok(!text.includes('gone'))
        assert.equal(text.includes('externalValue'), hasExamples(version))
        assert.equal(text.includes('<policies />'), !isFlat(version))
        assert.equal(text.includes('"Location"'), !isFlat(version))
      })

      test('method and URL template are unique in an API', async () => {
        await using started = await startWithApi()
        const send = (where: string, fields: Wire) =>
          started.send('PUT', `${api}${where}`, bodyOf(version, fields), { version })
        const given = least(version)
        assert.equal((await send('/operations/a', given)).status, 201)
        for (const method of ['GET', 'get']) {
          const second = send('/operations/b', { ...given, method })
          assert.deepEqual(await problemsOf(second), ['urlTemplate'])
        }
        assert.equal((await send('/operations/b', { ...given, method: 'PUT' })).status, 201)
        assert.equal((await send('/operations/a', { ...given, description: 'd' })).status, 200)
        const other = `${service}/apis/others`
        await started.send('PUT', other, { properties: { path: 'others' } }, { version })
        const body = bodyOf(version, given)
        const elsewhere = await started.send('PUT', `${other}/operations/a`, body, { version })
        assert.equal(elsewhere.status, 201)
      })
    })
  }
})

describe('below workspaces', () => {
  const team = `${service}/workspaces/team`
  for (const version of allDates) {
    const there = workspaceDates.includes(version)
    test(`${version}: ${there ? 'there' : 'not there'}`, async () => {
      await using started = await startWithApi()
      await started.send('PUT', team, { properties: { displayName: 'Team' } })
      await started.send('PUT', `${team}/apis/pets`, { properties: { path: 'pets' } })
      const own = `${team}/apis/pets/operations/create-pet`
      const given = bodyOf(version, whole(version))
      const put = started.send('PUT', own, given, { version })
      if (there) {
        assert.equal((await put).status, 201)
        const shown = await started.json('GET', own, undefined, { version })
        assert.deepEqual(shown.properties, given.properties)
        assert.equal(shown.type, 'Vendor.ApiManagement/service/workspaces/apis/operations')
      } else {
        await assert.rejects(put, { status: 400, code: 'InvalidApiVersionParameter' })
      }
    })
  }
})
