/** Paths from the address bar and from data of others never lead to another host. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readId, shortId } from '../../console/src/api/ids.ts'
import { urlBelow } from '../../console/src/api/url-below.ts'
import { quoted } from '../../console/src/components/shell.ts'

test('a path is an address of the installation, or is refused', () => {
  const base = new URL('http://armature.example/prefix/')
  assert.equal(urlBelow(base, '/a/b?c=d').href, 'http://armature.example/prefix/a/b?c=d')
  for (const path of [
    'https:/x',
    'https:x',
    '/https://x/y',
    'javascript:1',
    '//x',
    '\\\\x',
    'http:x',
  ]) {
    const { origin, pathname } = urlBelow(base, path)
    assert.equal(origin, base.origin, path)
    assert.ok(pathname.startsWith('/prefix/'), path)
  }
  for (const path of ['../x', '/../x', 'a/../../x', '..\\x', '%2e%2e/x']) {
    assert.throws(() => urlBelow(base, path), TypeError, path)
  }
})

test('an id that cannot be decoded is shown as it is: a record of the trail may end within a letter', () => {
  for (const name of ['%zz', 'a%', `${'%61'.repeat(3)}%6`, '%E2%82']) {
    assert.equal(readId(`/directory/users/${name}`).name, name)
    assert.equal(
      shortId(`/subscriptions/a/resourceGroups/b/providers/C.D/e/${name}`),
      `b / ${name}`,
    )
  }
  assert.equal(readId('/directory/users/a%20b').name, 'a b')
})

test('a word of a command stays one word', () => {
  assert.equal(quoted(`a'; rm -rf ~; '`), `'a'\\''; rm -rf ~; '\\'''`)
})
