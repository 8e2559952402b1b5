/** The public documents are created once, however often and by whatever path they are requested. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import type { RouteDescription } from '#plane/plane.ts'
import { openApiTexts } from './openapi-texts.ts'

const route: RouteDescription = {
  namespace: 'Vendor.Dated',
  type: 'Vendor.Dated/things',
  versions: ['2020-01-01', '2024-01-01'],
  compatibleVersions: [],
  method: 'GET',
  path: '/providers/Vendor.Dated/things/{thingName}',
  action: 'Vendor.Dated/things/read',
  summary: 'Get a thing',
  operationName: 'Things_Get',
  longRunning: false,
  errorFamily: 'resource-manager',
}

function find() {
  let described = 0
  const at = openApiTexts(
    {
      describe() {
        described++
        return [route]
      },
    },
    contractWords,
  )
  return { at, described: () => described }
}

const titleOf = (text: string | undefined): unknown =>
  text === undefined ? undefined : JSON.parse(text).info

test('documents are made when the first is asked for, and once', () => {
  const { at, described } = find()
  assert.equal(described(), 0)
  const paths = ['', 'Vendor.Dated/2020-01-01.json', 'vendor.dated/2024-01-01', 'Vendor.Other/x']
  for (let time = 0; time < 3; time++) for (const path of paths) at(path)
  assert.equal(described(), 1)
})

test('a path names a document in any case, or the nearest version of a date', () => {
  const { at } = find()
  assert.deepEqual(JSON.parse(at('') ?? ''), {
    value: ['/openapi/Vendor.Dated/2020-01-01.json', '/openapi/Vendor.Dated/2024-01-01.json'],
  })
  const of = (version: string) => ({ title: 'Vendor.Dated', version })
  for (const [path, expected] of [
    ['Vendor.Dated/2020-01-01.json', of('2020-01-01')],
    ['VENDOR.DATED/2024-01-01', of('2024-01-01')],
    ['Vendor.Dated/2025-01-01.json', of('2024-01-01')],
    ['Vendor.Dated/latest.json', undefined],
    ['Vendor.Dated', undefined],
    ['Vendor.Other/2020-01-01.json', undefined],
  ] as const) {
    assert.deepEqual(titleOf(at(path)), expected, path)
  }
})

test('each document is made when it is asked for first, and no other one', () => {
  let described = 0
  const counted = {
    ...route,
    get summary() {
      described++
      return 'Get a thing'
    },
  }
  const at = openApiTexts({ describe: () => [counted] }, contractWords)
  at('')
  assert.equal(described, 0)
  at('Vendor.Dated/2020-01-01.json')
  const once = described
  assert.ok(once > 0)
  at('Vendor.Dated/2020-01-01.json')
  assert.equal(described, once)
})
