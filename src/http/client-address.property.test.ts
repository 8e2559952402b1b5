/** The caller's address: headers of trusted proxies count, and nothing that a caller writes changes it. */

import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { addressGroupOf, createAddressOf, originOf } from './client-address.ts'

function request(
  remoteAddress: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): IncomingMessage {
  // Only the address of the socket is read.
  const message = new IncomingMessage({ remoteAddress } as Socket)
  Object.assign(message.headers, headers)
  return message
}

const proxies = ['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.7']
const addressOf = createAddressOf(proxies)

const byte = fc.integer({ min: 0, max: 255 })
const proxy = fc.oneof(
  fc.tuple(byte, byte, byte).map((rest) => ['10', ...rest].join('.')),
  fc.constant('192.0.2.7'),
  fc.integer({ min: 1, max: 0xffff }).map((n) => `2001:db8:1::${n.toString(16)}`),
)
const stranger = fc.oneof(
  fc.tuple(fc.integer({ min: 11, max: 190 }), byte, byte, byte).map((all) => all.join('.')),
  fc.integer({ min: 1, max: 0xffff }).map((n) => `2001:db8:2::${n.toString(16)}`),
)
/** Headers that callers may send themselves, including lists and nonsense. */
const forged = fc.array(
  fc.oneof(proxy, stranger, fc.constantFrom('unknown', '', '127.0.0.1', '::1'), fc.string()),
  { maxLength: 50 },
)

/** Addresses as different proxies write them. */
const written = (address: string): fc.Arbitrary<string> =>
  address.includes(':')
    ? fc.constantFrom(address, `[${address}]`, `[${address}]:4711`, address.toUpperCase())
    : fc.constantFrom(address, `${address}:4711`, `::ffff:${address}`)

const chain = fc
  .tuple(stranger, fc.array(proxy, { maxLength: 6 }), proxy, forged)
  .chain(([caller, between, nearest, lies]) =>
    fc.record({
      caller: fc.constant(caller),
      nearest: fc.constant(nearest),
      lies: fc.constant(lies),
      hops: fc.tuple(written(caller), ...between.map(written)),
    }),
  )

describe('behind trusted proxies', () => {
  test('the rightmost address that is no trusted proxy is the caller, whatever it sent itself', () => {
    fc.assert(
      fc.property(chain, ({ caller, nearest, lies, hops }) => {
        const header = [...lies.map((lie) => lie.replaceAll(/[\r\n]/g, '')), ...hops].join(', ')
        assert.equal(addressOf(request(nearest, { 'x-forwarded-for': header })), caller)
      }),
      { seed: 16 },
    )
  })

  test('the same by the standard header', () => {
    fc.assert(
      fc.property(chain, ({ caller, nearest, hops }) => {
        const forwarded = hops
          .map(
            (hop) =>
              `proto=https;For="${hop.includes(':') && !hop.includes('.') && !hop.startsWith('[') ? `[${hop}]` : hop}"`,
          )
          .join(', ')
        assert.equal(addressOf(request(nearest, { forwarded })), caller)
      }),
      { seed: 16 },
    )
  })

  test('a caller that adds the header which its proxy does not write gains no other address', () => {
    fc.assert(
      fc.property(chain, stranger, ({ caller, nearest, hops }, lie) => {
        const found = addressOf(
          request(nearest, { 'x-forwarded-for': hops.join(', '), forwarded: `for="${lie}"` }),
        )
        assert.ok(found === caller ? lie === caller : found === nearest)
      }),
      { seed: 16 },
    )
  })

  test('what is no address ends the search at the proxy that wrote it', () => {
    for (const [header, expected] of [
      ['unknown', '10.0.0.1'],
      ['8.8.8.8, unknown', '10.0.0.1'],
      ['8.8.8.8, unknown, 10.0.0.2', '10.0.0.2'],
      ['', '10.0.0.1'],
      ['10.0.0.3', '10.0.0.3'],
      ['8.8.8.8, 10.0.0.2,', '10.0.0.1'],
    ] as const) {
      assert.equal(addressOf(request('10.0.0.1', { 'x-forwarded-for': header })), expected, header)
    }
    assert.equal(addressOf(request('10.0.0.1', { forwarded: 'for=_hidden;by=x' })), '10.0.0.1')
  })
})

test('headers of a connection that is no trusted proxy are ignored', () => {
  const nobody = createAddressOf([])
  fc.assert(
    fc.property(stranger, forged, (nearest, lies) => {
      const headers = { 'x-forwarded-for': lies.join(','), forwarded: `for=${lies.join(',for=')}` }
      assert.equal(addressOf(request(nearest, headers)), nearest)
      assert.equal(nobody(request(nearest, headers)), nearest)
    }),
    { seed: 16 },
  )
  assert.equal(nobody(request('::ffff:192.0.2.9')), '192.0.2.9')
  assert.equal(nobody(request('fe80::1%eth0')), 'fe80::1')
  assert.equal(nobody(request(undefined)), '')
})

test('a header that the proxies do not write is ignored, and hides nobody', () => {
  const both = { 'x-forwarded-for': '8.8.8.8', forwarded: 'for=1.1.1.1' }
  const told = (written: 'either' | 'x-forwarded-for' | 'forwarded'): string =>
    createAddressOf(proxies, written)(request('10.0.0.1', both))
  assert.equal(told('x-forwarded-for'), '8.8.8.8')
  assert.equal(told('forwarded'), '1.1.1.1')
  assert.equal(told('either'), '10.0.0.1')
})

test('the program is printable and short', () => {
  const headers = { 'user-agent': `a\u0000b${'x'.repeat(1000)}` }
  const { address, userAgent } = originOf(request('8.8.8.8', headers), addressOf)
  assert.equal(address, '8.8.8.8')
  assert.equal(userAgent, `a?b${'x'.repeat(253)}`)
  assert.equal(originOf(request('8.8.8.8'), addressOf).userAgent, '')
})

test('one caller of IPv6 is its network, one of IPv4 its address', () => {
  assert.equal(addressGroupOf('192.0.2.9'), '192.0.2.9')
  assert.equal(addressGroupOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(addressGroupOf('2001:db8::7'), addressGroupOf('2001:db8::1:2:3:4'))
  assert.equal(addressGroupOf('::1'), '0:0:0:0::/64')
  assert.equal(addressGroupOf('2001:db8:1:2::'), '2001:db8:1:2::/64')
  assert.equal(addressGroupOf('::ffff:192.0.2.9'), '192.0.2.9')
  assert.equal(addressGroupOf('::FFFF:c000:209'), '192.0.2.9')
})
