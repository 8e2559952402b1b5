/** The address by which a caller came: from `Host`, from trusted proxies, and never from the headers of others. */

import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { createProxyTest } from './client-address.ts'
import { createPublicUrlOf, type PublicUrlOf } from './public-url.ts'

function request(
  headers: Readonly<Record<string, string>>,
  remoteAddress = '192.0.2.1',
): IncomingMessage {
  // Only the address of the socket is read.
  const message = new IncomingMessage({ remoteAddress } as Socket)
  Object.assign(message.headers, headers)
  return message
}

function urlOf(proxyHeader: 'either' | 'x-forwarded-for' | 'forwarded' = 'either'): PublicUrlOf {
  return createPublicUrlOf({
    configured: undefined,
    listening: () => 'http://10.0.0.9:8900',
    isProxy: createProxyTest(['10.0.0.0/8']),
    proxyHeader,
  })
}

test('a configured address is the only one', () => {
  const options = {
    listening: () => 'http://x',
    isProxy: () => true,
    proxyHeader: 'either',
  } as const
  const of = createPublicUrlOf({ ...options, configured: 'https://armature.example' })
  assert.equal(
    of(request({ host: 'other', 'x-forwarded-host': 'third' })),
    'https://armature.example',
  )
})

test('the host that the caller named, if it is one', () => {
  const of = urlOf()
  for (const host of [
    'localhost:8900',
    '127.0.0.1:1',
    'box',
    'a.b-c.example:65535',
    '[::1]:8900',
  ]) {
    assert.equal(of(request({ host })), `http://${host}`)
  }
  assert.equal(of(request({ host: 'BOX:80' })), 'http://box:80')
  for (const host of [
    '',
    'a b',
    'a/b',
    'user@host',
    'x:99999',
    'x:',
    '-',
    '[::1',
    '"><script>',
    'a?b',
  ]) {
    assert.equal(of(request({ host })), 'http://10.0.0.9:8900', host)
  }
  assert.equal(of(request({})), 'http://10.0.0.9:8900')
})

test('whatever is written, the answer is an origin', () => {
  const of = urlOf()
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.boolean(), (host, other, isProxied) => {
      const headers = { host, 'x-forwarded-host': other, forwarded: `host="${other}";proto=https` }
      const url = of(request(headers, isProxied ? '10.0.0.1' : '192.0.2.1'))
      assert.equal(new URL(url).pathname, '/')
      assert.equal(new URL(url).username, '')
      assert.match(url, /^https?:\/\/[a-z0-9._[\]:-]+$/)
    }),
    { seed: 18 },
  )
})

test('what proxies write counts from trusted ones alone', () => {
  const headers = {
    host: 'inner:8900',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'forged.example, armature.example',
  }
  assert.equal(urlOf()(request(headers)), 'http://inner:8900')
  assert.equal(urlOf()(request(headers, '10.0.0.1')), 'https://armature.example')
  assert.equal(urlOf('forwarded')(request(headers, '10.0.0.1')), 'http://inner:8900')
  const standard = {
    host: 'inner',
    forwarded: 'host=forged, for=1.2.3.4;host="a.example:8443";proto=https',
  }
  assert.equal(urlOf()(request(standard, '10.0.0.1')), 'https://a.example:8443')
  assert.equal(urlOf('x-forwarded-for')(request(standard, '10.0.0.1')), 'http://inner')
  // One of the two is the caller's own.
  assert.equal(urlOf()(request({ ...headers, ...standard }, '10.0.0.1')), 'https://inner')
})
