import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultIdentityLimits } from './limits.ts'
import { type AttributeChange, changeAttributes } from './principal-attributes.ts'
import { openIdentityFixture } from './testing/fixture.ts'

const change = (before: object, by: AttributeChange) =>
  changeAttributes({ ...before }, by, defaultIdentityLimits)

test('a change is laid over what is there; names compare without case', () => {
  assert.deepEqual(change({ Staff_Level: 3, Staff_Team: 'red' }, { staff_level: 4 }), {
    staff_level: 4,
    Staff_Team: 'red',
  })
  assert.deepEqual(change({ Staff_Level: 3 }, { STAFF_LEVEL: null, Staff_Unknown: null }), {})
})

const refused: readonly AttributeChange[] = [
  { Level: 1 },
  { 'Staff_Le vel': 1 },
  { Staff_Level: 1.5 },
  { Staff_Level: [] },
  { Staff_Level: [1, 'a'] as unknown as readonly number[] },
  { Staff_Level: 'x'.repeat(300) },
  { Staff_Level: 'a\u0000b' },
  Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`Staff_A${at}`, at])),
]
for (const one of refused) {
  test(`refused: ${JSON.stringify(one).slice(0, 60)}`, () => {
    assert.throws(() => change({}, one), { code: 'InvalidPrincipal' })
  })
}

test('the directory keeps them, moves its feed, and tells them at once', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const { principal } = await directory.createServicePrincipal({ displayName: 'ci' })
  assert.deepEqual(await directory.attributesOf(principal.id), {})
  const updated = await directory.update(principal.id, {
    attributes: { Staff_Team: ['red', 'blue'] },
  })
  assert.deepEqual(updated.attributes, { Staff_Team: ['red', 'blue'] })
  assert.deepEqual(await directory.attributesOf(principal.id), { Staff_Team: ['red', 'blue'] })
  await directory.update(principal.id, { displayName: 'ci2' })
  assert.deepEqual((await directory.get(principal.id)).attributes, { Staff_Team: ['red', 'blue'] })
  await directory.update(principal.id, { attributes: { Staff_Team: null } })
  assert.deepEqual(await directory.attributesOf(principal.id), {})
  assert.deepEqual(await directory.attributesOf('nobody'), {})
})
