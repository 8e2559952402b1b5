/** Fields with many values: which row each condition refers to when the same rows occur twice. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileFilter } from './evaluate.ts'
import { collection, type FieldMap, fieldsOfRows } from './field-map.ts'
import { parseFilter } from './parse.ts'
import { strictProfile } from './profile.ts'

type Tag = readonly [name: string, value: string]
interface Box {
  readonly tags: readonly Tag[]
}

const box: FieldMap<Box> = {
  fields: fieldsOfRows<Box, Tag>(
    { of: (one) => one.tags, together: true },
    {
      tagName: { type: 'string', read: ([name]) => name },
      tagValue: { type: 'string', read: ([, value]) => value },
    },
  ),
}
const boxes: FieldMap<readonly Box[]> = {
  fields: {},
  collections: { boxes: collection((all) => all, box) },
}

const all: readonly Box[] = [
  {
    tags: [
      ['a', '1'],
      ['b', '2'],
    ],
  },
  { tags: [['c', '3']] },
  { tags: [] },
]

test('rows belong to the item they come from', () => {
  const table: readonly (readonly [string, boolean])[] = [
    ["boxes/any(x: x/tagName eq 'a' and x/tagValue eq '1')", true],
    ["boxes/any(x: x/tagName eq 'a' and x/tagValue eq '2')", false],
    // Two variables over the same boxes: each has its own rows.
    ["boxes/any(x: boxes/any(y: x/tagName eq 'a' and y/tagName eq 'c'))", true],
    ["boxes/any(x: boxes/any(y: x/tagName eq 'a' and y/tagValue eq '2'))", true],
    [
      "boxes/any(x: boxes/any(y: x/tagName eq 'a' and y/tagName eq 'c' and x/tagValue eq '2'))",
      false,
    ],
    [
      "boxes/any(x: boxes/any(y: x/tagName eq 'a' and y/tagName eq 'c' and x/tagValue eq '1'))",
      true,
    ],
    // One condition over the rows of both: any pair of rows.
    ["boxes/any(x: boxes/any(y: x/tagName eq 'b' and concat(x/tagName,y/tagName) eq 'bc'))", true],
    ["boxes/any(x: boxes/any(y: concat(x/tagName,y/tagName) eq 'bc'))", true],
    ["boxes/any(x: boxes/any(y: concat(x/tagName,y/tagName) eq 'bd'))", false],
    // No rows: nothing is equal, so everything is unequal.
    ["boxes/all(x: x/tagName ne 'z')", true],
    ["boxes/all(x: x/tagName eq 'a')", false],
    ["boxes/any(x: not (x/tagName in ('a','c')))", true],
  ]
  for (const [text, want] of table) {
    const parsed = parseFilter(text, strictProfile)
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
    const compiled = compileFilter(parsed.node, boxes)
    assert.ok(compiled.ok, compiled.ok ? '' : compiled.message)
    assert.equal(compiled.matches(all), want, text)
  }
})
