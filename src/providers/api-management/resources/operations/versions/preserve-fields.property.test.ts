/** An operation through any two versions: neither loses nor changes what the other wrote. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import type { Version, View } from '#plane/declare/wire.ts'
import { fc } from '../../../../../../tests/property.ts'
import {
  createMemoryReader,
  idOf,
  sampleContext,
  sampleSystemData,
} from '../../../../testing/memory-reader.ts'
import { allDates } from '../../../published-versions.ts'
import { api } from '../../../testing/start.ts'
import type { Operation } from '../model.ts'
import { shapeOf } from '../resource.ts'

const id = idOf(`${api}/operations/one`)
const view: View = {
  id,
  systemData: sampleSystemData,
  state: 'Succeeded',
  observed: undefined,
  etag: 'tag',
  words: contractWords,
}
const context = sampleContext(createMemoryReader())

// biome-ignore lint/suspicious/noExplicitAny: wire bodies of any version are looked into freely here.
type Wire = any

const text = fc.string({ maxLength: 12 })
const name = fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'constructor'), text)
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.option(fc.option(one, { nil: undefined }), { freq: 6 })
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 3 })

const example = fc.record(
  { summary: text, description: text, externalValue: text, value: fc.jsonValue() },
  { requiredKeys: [] },
)
const examples = fc.dictionary(name, example, { maxKeys: 2, noNullPrototype: true })
const parameter = fc.record(
  {
    name,
    type: fc.constantFrom('string', 'integer'),
    description: maybe(text),
    defaultValue: maybe(text),
    required: maybe(fc.boolean()),
    values: maybe(few(text)),
    schemaId: maybe(text),
    typeName: maybe(text),
    examples: maybe(examples),
  },
  { requiredKeys: ['name', 'type'] },
)
const representation = fc.record(
  {
    contentType: fc.constantFrom('application/json', 'text/plain', 'text/html'),
    sample: maybe(text),
    formParameters: maybe(few(parameter)),
    schemaId: maybe(text),
    typeName: maybe(text),
    examples: maybe(examples),
  },
  { requiredKeys: ['contentType'] },
)
const fields = fc.record(
  {
    displayName: fc.string({ minLength: 1, maxLength: 12 }),
    description: maybe(text),
    method: fc.constantFrom('GET', 'POST'),
    urlTemplate: fc.constant('/'),
    policies: maybe(text),
    templateParameters: maybe(few(parameter)),
    request: maybe(
      fc.record(
        {
          description: maybe(text),
          headers: maybe(few(parameter)),
          queryParameters: maybe(few(parameter)),
          representations: maybe(few(representation)),
        },
        { requiredKeys: [] },
      ),
    ),
    responses: maybe(
      few(
        fc.record(
          {
            statusCode: fc.constantFrom(200, 201, 404),
            description: maybe(text),
            headers: maybe(few(parameter)),
            representations: maybe(few(representation)),
          },
          { requiredKeys: ['statusCode'] },
        ),
      ),
    ),
  },
  { requiredKeys: ['displayName', 'method', 'urlTemplate'] },
)
const date = fc.constantFrom(...allDates)

function write(version: Version<Operation>, given: Wire, previous?: Operation): Operation {
  const isFlat = version.date < '2017'
  const body: unknown = isFlat ? given : { properties: given }
  // As in the store: what is kept has been JSON.
  return JSON.parse(JSON.stringify(version.toModel(body as never, previous, context)))
}

function read(version: Version<Operation>, model: Operation): Wire {
  const shown: Wire = JSON.parse(JSON.stringify(version.fromModel(model, view)))
  return version.date < '2017' ? shown : shown.properties
}

describe('operations through versions', () => {
  test('written in A, read in B, written back in B: A reads what it read before', () => {
    fc.assert(
      fc.property(date, date, fields, (a, b, given) => {
        const [first, second] = [shapeOf(a), shapeOf(b)]
        const stored = write(first, given)
        const before = read(first, stored)
        const back = write(second, read(second, stored), stored)
        assert.deepEqual(read(first, back), before)
      }),
    )
  })

  test('through any number of versions nothing is lost', () => {
    fc.assert(
      fc.property(fc.array(date, { maxLength: 5 }), fields, (dates, given) => {
        const newest = shapeOf('2024-05-01')
        const oldest = shapeOf('2016-07-07')
        let stored = write(newest, given)
        const before = [read(newest, stored), read(oldest, stored)]
        for (const one of dates) stored = write(shapeOf(one), read(shapeOf(one), stored), stored)
        assert.deepEqual([read(newest, stored), read(oldest, stored)], before)
      }),
    )
  })

  test('the same body again is the same operation', () => {
    fc.assert(
      fc.property(date, date, fields, fields, (a, b, first, second) => {
        const stored = write(shapeOf(b), second, write(shapeOf(a), first))
        assert.deepEqual(write(shapeOf(b), second, stored), stored)
      }),
    )
  })
})

describe('what an older version cannot say', () => {
  const newest = shapeOf('2024-05-01')
  const middle = shapeOf('2019-12-01')
  const oldest = shapeOf('2016-07-07')
  const full: Wire = {
    displayName: 'One',
    policies: '<policies />',
    method: 'GET',
    urlTemplate: '/{a}',
    templateParameters: [
      { name: 'a', type: 'string', schemaId: 's', typeName: 't', examples: { x: { value: 1 } } },
    ],
    responses: [
      {
        statusCode: 200,
        headers: [{ name: 'h', type: 'string' }],
        representations: [{ contentType: 'text/plain', examples: { y: { value: 2 } } }],
      },
    ],
  }

  test('is kept while what it is about is there', () => {
    const stored = write(newest, full)
    const given = { ...read(oldest, stored), description: 'new' }
    assert.deepEqual(read(newest, write(oldest, given, stored)), { ...full, description: 'new' })
  })

  test('goes with what it was about', () => {
    const stored = write(newest, full)
    const other = {
      method: 'GET',
      urlTemplate: '/{a}',
      templateParameters: [{ name: 'a', type: 'integer' }],
      responses: [{ statusCode: 201, representations: [{ contentType: 'text/plain' }] }],
    }
    assert.deepEqual(read(newest, write(oldest, other, stored)), {
      displayName: 'One',
      policies: '<policies />',
      ...other,
    })
    assert.deepEqual(read(newest, write(middle, { ...other, displayName: 'Two' }, stored)), {
      displayName: 'Two',
      ...other,
    })
  })

  test('a sample of 2016-07-07 outlives writes of versions without samples', () => {
    const representations = [{ contentType: 'text/plain', sample: 'hello' }]
    const given = { method: 'GET', urlTemplate: '/', request: { representations } }
    const stored = write(oldest, given)
    const changed = { ...read(newest, stored), description: 'new' }
    assert.deepEqual(read(oldest, write(newest, changed, stored)), { ...given, description: 'new' })
  })
})
