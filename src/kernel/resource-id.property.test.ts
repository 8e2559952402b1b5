/** Resource paths: identity, display, relations, and every way in which a path can be wrong. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../tests/property.ts'
import {
  childOf,
  extensionOf,
  fromSegments,
  isWithin,
  nameOf,
  parentOf,
  parsePath,
  parseResourceId,
  type ResourceId,
  resourceGroupIdOf,
  resourceGroupOf,
  rootId,
  scopeKeys,
  scopeOf,
  subscriptionIdOf,
  subscriptionOf,
} from './resource-id.ts'

const name = fc
  .oneof(
    fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ._()+'@:;,=!$~#[\]-]{0,12}$/),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
    fc.constantFrom('register', 'Subscriptions', 'default', 'ÄÖ', '名前', '💥'),
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what names may not hold.
  .filter((one) => one.isWellFormed() && !/[<>%&\\?/\u0000-\u001f\u007f]/.test(one))
  .filter((one) => one !== '.' && one !== '..' && one.toLowerCase() !== 'providers')
const type = fc.stringMatching(/^[a-z][A-Za-z]{0,8}$/).filter((one) => {
  return !['providers', 'subscriptions', 'resourcegroups'].includes(one.toLowerCase())
})
const namespace = fc.stringMatching(/^[A-Z][a-z]{1,6}\.[A-Z][A-Za-z]{1,8}$/)

const pairs = fc.array(fc.tuple(type, name), { minLength: 1, maxLength: 3 })
const scope: fc.Arbitrary<ResourceId> = fc.oneof(
  fc.constant(rootId),
  name.map(subscriptionIdOf),
  fc.tuple(name, name).map(([subscription, group]) => resourceGroupIdOf(subscription, group)),
)
const resourceId: fc.Arbitrary<ResourceId> = fc
  .tuple(scope, fc.array(fc.tuple(namespace, pairs), { maxLength: 3 }))
  .map(([start, links]) =>
    links.reduce(
      (id, [space, list]) =>
        extensionOf(
          id,
          space,
          list.map(([one]) => one),
          list.map(([, one]) => one),
        ),
      start,
    ),
  )

function parsed(path: string): ResourceId {
  const result = parsePath(path)
  assert.ok(result.kind === 'resource', `${path}: ${JSON.stringify(result)}`)
  return result.id
}

test('parsing what was formatted is the identity', () => {
  fc.assert(
    fc.property(resourceId, (id) => {
      const again = parsed(id.text)
      assert.deepEqual(again, id)
      assert.deepEqual(parseResourceId(id.text), id)
      assert.deepEqual(fromSegments(again.segments), id)
      if (id.text !== '/') assert.deepEqual(parsed(`${id.text}/`), id, 'one trailing slash')
    }),
    { numRuns: runsOf(1000) },
  )
})

test('percent-encoding does not matter to an id', () => {
  fc.assert(
    fc.property(resourceId, (id) => {
      const encoded = id.text.split('/').map(encodeURIComponent).join('/')
      assert.deepEqual(parsed(encoded), id)
      const all = id.text
        .split('/')
        .map((part) =>
          [...new TextEncoder().encode(part)]
            .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
            .join(''),
        )
        .join('/')
      assert.deepEqual(parsed(all), id)
    }),
  )
})

test('the slashes of a scope may be encoded, and nothing is decoded twice', () => {
  const rest = 'providers/Vendor.Authorization/locks/keep'
  fc.assert(
    fc.property(scope, (above) => {
      const plain = above.text === '/' ? '' : above.text
      const path = `${plain.split('/').map(encodeURIComponent).join('/')}/${rest}`
      for (const text of [above.text, above.text.slice(1)]) {
        if (text === '') continue
        const encoded = parsePath(`/${encodeURIComponent(text)}/${rest}`)
        assert.deepEqual(encoded, parsePath(path))
      }
    }),
  )
  for (const twice of ['subscriptions%252Fone', '%252Fsubscriptions%252Fone', 'a%2F%252F%2Fb']) {
    assert.equal(parsePath(`/${twice}/${rest}`).kind, 'malformed', twice)
  }
  assert.equal(parsePath(`/a%2F..%2Fb/${rest}`).kind, 'malformed')
  assert.equal(parsePath(`/subscriptions/s/resourceGroups/a%2Fb/${rest}`).kind, 'malformed')
})

test('case does not matter to identity and is kept in display', () => {
  const flip = (text: string, bits: readonly boolean[]): string =>
    text.replace(/[A-Za-z]/g, (letter, at: number) =>
      bits[at % bits.length] ? letter.toUpperCase() : letter.toLowerCase(),
    )
  fc.assert(
    fc.property(resourceId, fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }), (id, bits) => {
      const other = parsed(flip(id.text, bits))
      assert.equal(other.key, id.key)
      assert.deepEqual(scopeKeys(other), scopeKeys(id))
      // Names are shown as given; only the words of the grammar have one spelling.
      const names = (one: ResourceId): readonly string[] => one.segments.flatMap((s) => s.names)
      assert.deepEqual(names(parsed(id.text)), names(id))
      assert.equal(nameOf(parsed(id.text)), nameOf(id))
    }),
    { numRuns: runsOf(500) },
  )
  const id = parsed('/SUBSCRIPTIONS/Abc/ResourceGROUPS/My-Group/PROVIDERS/vendor.Web/Sites/Shop')
  assert.equal(
    id.text,
    '/subscriptions/Abc/resourceGroups/My-Group/providers/vendor.Web/Sites/Shop',
  )
})

test('an id lies within each of its scopes, and they grow from the root to itself', () => {
  fc.assert(
    fc.property(resourceId, (id) => {
      const keys = scopeKeys(id)
      assert.equal(keys[0], '/')
      assert.equal(keys.at(-1), id.key)
      assert.equal(new Set(keys).size, keys.length)
      for (const [at, key] of keys.entries()) {
        assert.ok(isWithin(id.key, key))
        assert.equal(parsed(key).key, key, 'each scope is an id')
        const before = keys[at - 1]
        if (before !== undefined) {
          assert.ok(isWithin(key, before))
          assert.ok(!isWithin(before, key))
        }
      }
    }),
    { numRuns: runsOf(500) },
  )
})

test('within means by whole segments', () => {
  fc.assert(
    fc.property(resourceId, resourceId, (one, other) => {
      // The oracle: the scope is one of those on the other's path.
      assert.equal(isWithin(one.key, other.key), scopeKeys(one).includes(other.key))
    }),
    { numRuns: runsOf(500) },
  )
  assert.ok(!isWithin('/subscriptions/ab', '/subscriptions/a'))
  assert.ok(isWithin('/subscriptions/a/resourcegroups/b', '/subscriptions/a'))
  assert.ok(!isWithin('/', '/subscriptions/a'))
})

test('parents, scopes, children and extensions undo each other', () => {
  fc.assert(
    fc.property(resourceId, type, name, namespace, pairs, (id, kind, named, space, list) => {
      const child = childOf(id, kind, named)
      assert.deepEqual(parentOf(child), id)
      assert.equal(nameOf(child), named)
      assert.ok(isWithin(child.key, id.key))

      const types = list.map(([one]) => one)
      const names = list.map(([, one]) => one)
      const extension = extensionOf(id, space, types, names)
      assert.deepEqual(scopeOf(extension), id)
      assert.deepEqual(scopeOf(childOf(extension, kind, named)), id)
      assert.ok(isWithin(extension.key, id.key))

      // Going up passes the scope keys, and ends at the root.
      const climbed: string[] = []
      for (let at = id; at.key !== '/'; at = parentOf(at)) {
        climbed.unshift(at.key)
        assert.ok(climbed.length <= 64)
      }
      assert.deepEqual(['/', ...climbed], scopeKeys(id))

      assert.equal(subscriptionOf(extension), subscriptionOf(id))
      assert.equal(resourceGroupOf(extension), resourceGroupOf(id))
    }),
    { numRuns: runsOf(500) },
  )
  assert.deepEqual(parentOf(rootId), rootId)
  assert.deepEqual(scopeOf(rootId), rootId)
  assert.equal(nameOf(rootId), '')
  assert.equal(subscriptionOf(resourceGroupIdOf('s', 'G')), 's')
  assert.equal(resourceGroupOf(resourceGroupIdOf('s', 'G')), 'G')
  assert.equal(subscriptionOf(parsed('/providers/V.A/subscriptions/x')), undefined)
})

const ofProvider = ['Register', 'unregister', 'providerPermissions', 'resourceTypes']

test('an odd path is a collection, or an action, of its parent', () => {
  fc.assert(
    fc.property(resourceId, type, (id, word) => {
      const result = parsePath(`${id.text === '/' ? '' : id.text}/${word}`)
      assert.ok(result.kind === 'collection')
      assert.deepEqual(result.parent, id)
      assert.equal(result.word, word)
      assert.equal(result.types.at(-1), word)
      assert.equal(result.namespace, id.segments.at(-1)?.namespace)
    }),
  )
  fc.assert(
    fc.property(resourceId, namespace, type, (id, space, word) => {
      const path = `${id.text === '/' ? '' : id.text}/providers/${space}/${word}`
      if (ofProvider.some((one) => one.toLowerCase() === word.toLowerCase())) return
      const result = parsePath(path)
      assert.ok(result.kind === 'collection')
      assert.deepEqual(result.parent, id)
      assert.equal(result.namespace, space)
      assert.deepEqual(result.types, [word])
      assert.equal(result.text, path)
    }),
  )
})

test('paths of providers themselves', () => {
  const resources = ['/providers/V.A', '/subscriptions/s/providers/V.A']
  for (const path of resources) {
    const id = parsed(path)
    assert.equal(id.text, path)
    assert.equal(nameOf(id), 'V.A')
    assert.equal(id.segments.at(-1)?.types.at(-1), 'providers')
    for (const word of ofProvider) {
      const action = parsePath(`${path}/${word}`)
      assert.ok(action.kind === 'collection')
      assert.deepEqual(action.parent, id)
      assert.equal(action.word, word)
    }
    const list = parsePath(`${path}/operations`)
    assert.ok(list.kind === 'collection')
    assert.equal(list.namespace, 'V.A')
    assert.deepEqual(parentOf(id), path.startsWith('/s') ? subscriptionIdOf('s') : rootId)
  }
  const all = parsePath('/subscriptions/s/PROVIDERS')
  assert.ok(all.kind === 'collection')
  assert.equal(all.text, '/subscriptions/s/providers')
})

test('an id is bounded in bytes, not in characters', () => {
  const path = (name: string) => `/providers/V.A/t/n${`/t/${name}`.repeat(25)}`
  assert.equal(parsePath(path('x'.repeat(70))).kind, 'resource')
  assert.equal(parsePath(path('x'.repeat(80))).kind, 'malformed')
  assert.equal(parsePath(path('é'.repeat(36))).kind, 'resource')
  assert.equal(parsePath(path('é'.repeat(40))).kind, 'malformed')
  assert.equal(parsePath(path('😀'.repeat(18))).kind, 'resource')
  assert.equal(parsePath(path('😀'.repeat(20))).kind, 'malformed')
})

test('every malformed path is refused with a reason', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['', /begins with/],
    ['subscriptions/s', /begins with/],
    ['//', /empty/],
    ['///', /empty/],
    ['//subscriptions/s', /empty/],
    ['/subscriptions//resourceGroups/g', /empty/],
    ['/subscriptions/s//', /empty/],
    ['/subscriptions/..', /"\.\."/],
    ['/subscriptions/./x', /"\."/],
    ['/subscriptions/%2e%2e/resourceGroups/g', /"\.\."/],
    ['/subscriptions/s%00', /may not hold/],
    ['/subscriptions/\0', /may not hold/],
    ['/subscriptions/a%2fb', /may not hold/],
    ['/subscriptions/a%5Cb', /may not hold/],
    ['/subscriptions/a%25b', /may not hold/],
    ['/subscriptions/a%3fb', /may not hold/],
    ['/subscriptions/a?b', /may not hold/],
    ['/subscriptions/<a>', /may not hold/],
    ['/subscriptions/a\nb', /may not hold/],
    ['/subscriptions/\ud800', /may not hold/],
    ['/subscriptions/%zz', /percent-encoding/],
    ['/subscriptions/%', /percent-encoding/],
    ['/subscriptions/%ff', /percent-encoding/],
    ['/subscriptions/%ed%a0%80', /percent-encoding/],
    [`/subscriptions/${'x'.repeat(261)}`, /at most 260/],
    ['/a'.repeat(5000), /at most 64/],
    ['/subscriptions/s/resourceGroups/g/providers/V.A/t/n/providers/V.B', /type must follow/],
    ['/providers/V.A/providers/V.B', /type must follow/],
    ['/subscriptions/s/providers/V.A/providers/V.B/t/n', /type must follow/],
    ['/providers/V.A/providers/V.B/t', /type must follow/],
  ]
  for (const [path, says] of table) {
    const result = parsePath(path)
    assert.ok(result.kind === 'malformed', `${path.slice(0, 80)}: ${JSON.stringify(result)}`)
    assert.match(result.reason, says, path.slice(0, 80))
    assert.ok(result.reason.isWellFormed() && result.reason.length < 200)
    assert.equal(parseResourceId(path), undefined)
  }
  parsed(`/subscriptions/${'x'.repeat(260)}`)
  parsed('/a/b'.repeat(32))
})

test('no text makes parsing throw, and nothing written is lost', () => {
  const fragment = fc.constantFrom(
    '/',
    'providers',
    'PROVIDERS',
    'subscriptions',
    'resourceGroups',
    'register',
    'V.A',
    'x',
    'Y',
    '..',
    '%2f',
    '%zz',
    '%41',
    '\0',
    '\ud800',
    '?',
    ' ',
  )
  const path = fc.oneof(
    fc.array(fragment, { maxLength: 16 }).map((parts) => `/${parts.join('/')}`),
    fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => `/${text}`),
  )
  let understood = 0
  fc.assert(
    fc.property(path, (text) => {
      const result = parsePath(text)
      if (result.kind === 'malformed') return assert.ok(result.reason.length > 0)
      understood++
      const shown = result.kind === 'resource' ? result.id.text : result.text
      // Only these may differ: the case of the grammar's words, percent-encoding, one trailing slash, the empty
      // place of a parent, and a leading slash of an encoded scope.
      const bare = text
        .replace(/^\/%2F(\/providers\/)/i, '$1')
        .replace(/^\/%2F(?=[^/]+\/providers\/)/i, '/')
      const plain = decodeURIComponent(bare)
        .toLowerCase()
        .replace(/(\/providers\/[^/]+\/)\/(?=[^/])/g, '$1')
      const cut = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
      assert.equal(shown.toLowerCase(), cut)
    }),
    { numRuns: runsOf(5000) },
  )
  assert.ok(understood > 200, `only ${understood} paths were understood`)
})

test('an empty parent behind the namespace, and one behind a scope, is as if it were not there; no other segment may be empty', () => {
  const group = '/subscriptions/s/resourceGroups/g'
  const one = parsePath(`${group}/providers/Vendor.A//b/n`)
  assert.deepEqual(one, parsePath(`${group}/providers/Vendor.A/b/n`))
  assert.equal(parsePath(`${group}/Providers/Vendor.A//b`).kind, 'collection')
  assert.deepEqual(parsePath(`${group}//providers/Vendor.A/b/n`), one)
  const extended = `${group}/providers/Vendor.A/b/n/providers/Vendor.B/c/m`
  assert.deepEqual(
    parsePath(`${group}//providers/Vendor.A//b/n//Providers/Vendor.B/c/m/`),
    parsePath(extended),
  )
  for (const path of [
    `${group}/providers/Vendor.A///b/n`,
    `${group}/providers//b/n`,
    `${group}/providers/Vendor.A/b//n`,
    `${group}/providers/Vendor.A/b/n//`,
    `${group}/providers/Vendor.A//`,
    `${group}///providers/Vendor.A/b/n`,
    `${group}/providers//providers/Vendor.A/b/n`,
    '/subscriptions//providers/Vendor.A/b/n',
    '/subscriptions/s//resourceGroups/g',
    '/subscriptions//resourceGroups/g',
    '//',
  ]) {
    assert.equal(parsePath(path).kind, 'malformed', path)
  }
})

test('the parent of an id is the same whichever parent was made before', () => {
  fc.assert(
    fc.property(resourceId, resourceId, type, name, (one, other, word, last) => {
      const pairs = [childOf(one, word, last), childOf(other, word, last), one, other]
      for (const id of [...pairs, ...pairs.toReversed()]) {
        const { segments } = parentOf(id)
        parentOf(other)
        assert.deepEqual(parentOf(id).segments, segments)
        // Made of the text alone.
        const child = childOf(parentOf(id), 'things', 'x')
        assert.equal(parsed(child.text).key, child.key)
        const own = id.segments.at(-1)
        const nested = own !== undefined && own.types.length > 1
        const count = id.segments.length - (nested ? 0 : 1)
        assert.equal(segments.length, Math.max(0, count))
        if (nested) assert.deepEqual(segments.at(-1)?.names, own.names.slice(0, -1))
        else assert.deepEqual(segments, id.segments.slice(0, -1))
      }
    }),
    { numRuns: runsOf(200) },
  )
})
