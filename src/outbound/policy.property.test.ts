/** Addresses in every spelling, and the policy's decision. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fc, runsOf } from '../../tests/property.ts'
import { canonicalHost, isLoopback, zoneOf } from './address.ts'
import { NotReached } from './outbound.ts'
import { createPolicy, type OutboundSettings } from './policy.ts'
import { parseRule } from './rules.ts'
import { watchedWay } from './testing/ways.ts'

type Bytes = readonly [number, number, number, number]
const byte = fc.integer({ min: 0, max: 255 })

/** Internal networks, written a second time as arithmetic. */
function isInside([a, b, c, d]: Bytes): boolean {
  return (
    a === 0 ||
    a === 10 ||
    a === 127 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 192 && b === 0 && (c === 0 || c === 2)) ||
    (a === 192 && b === 88 && c === 99) ||
    (a === 198 && (b === 18 || b === 19)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113) ||
    (a === 168 && b === 63 && c === 129 && d === 16) ||
    a >= 224
  )
}

const beginnings: readonly (readonly number[])[] = [
  [0],
  [10],
  [127],
  [100, 64],
  [100, 127],
  [169, 254],
  [172, 16],
  [172, 31],
  [192, 168],
  [192, 0, 0],
  [198, 18],
  [224],
  [255],
  // Neighbours of internal networks.
  [9],
  [11],
  [126],
  [128],
  [100, 63],
  [100, 128],
  [172, 15],
  [172, 32],
  [192, 167],
  [223],
]
const address: fc.Arbitrary<Bytes> = fc
  .tuple(byte, byte, byte, byte, fc.constantFrom([], ...beginnings))
  .map(([a, b, c, d, begin]) => {
    const [w = a, x = b, y = c, z = d] = begin
    return [w, x, y, z]
  })

const numberOf = ([a, b, c, d]: Bytes): number => ((a * 256 + b) * 256 + c) * 256 + d
const hex = (value: number): string => value.toString(16)

/** Spellings that a URL, or the system's resolver, reads as the same address. */
const v4Spellings: readonly ((bytes: Bytes) => string)[] = [
  (b) => b.join('.'),
  (b) => `${b.join('.')}.`,
  (b) => String(numberOf(b)),
  (b) => `0x${hex(numberOf(b))}`,
  (b) => `0${numberOf(b).toString(8)}`,
  (b) => b.map((one) => `0${one.toString(8)}`).join('.'),
  (b) => b.map((one) => `0X${hex(one)}`).join('.'),
  ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  (b) => [...b.join('.')].map((one) => (one === '.' ? '。' : one)).join(''),
  (b) => [...b.join('.')].map((one) => (one === '1' ? '①' : one)).join(''),
]
const v6Spellings: readonly ((bytes: Bytes) => string)[] = [
  (b) => `::ffff:${b.join('.')}`,
  (b) => `::FFFF:${hex(b[0] * 256 + b[1])}:${hex(b[2] * 256 + b[3])}`,
  (b) => `0:0:0:0:0:ffff:${b.join('.')}`,
  (b) => `64:ff9b::${b.join('.')}`,
  (b) => `64:ff9b:0:0:0:0:${hex(b[0] * 256 + b[1])}:${hex(b[2] * 256 + b[3])}`,
  (b) => `[::ffff:${b.join('.')}]`,
]

const guarded: OutboundSettings = { mode: 'guarded', allow: [], deny: [] }

async function verdict(host: string, settings: Partial<OutboundSettings> = {}): Promise<boolean> {
  try {
    await watchedWay(settings).outbound.route({ scheme: 'http', host, port: 80 })
    return true
  } catch (error) {
    assert.ok(error instanceof NotReached && error.isRuledOut, `${host}: ${String(error)}`)
    return false
  }
}

describe('addresses', () => {
  test('inside is inside in every spelling, and outside is not', async () => {
    const spelling = fc.constantFrom(...v4Spellings, ...v6Spellings)
    await fc.assert(
      fc.asyncProperty(address, spelling, async (bytes, spell) => {
        assert.equal(await verdict(spell(bytes)), !isInside(bytes), spell(bytes))
      }),
      { numRuns: runsOf(3000), seed: 16 },
    )
  })

  test('a network denies its addresses, and no others, in every spelling and mode', async () => {
    const prefix = fc.integer({ min: 1, max: 32 })
    const spelling = fc.constantFrom(...v4Spellings, ...v6Spellings)
    await fc.assert(
      fc.asyncProperty(address, address, prefix, spelling, async (net, bytes, length, spell) => {
        const deny = [`${net.join('.')}/${length}`]
        const size = 2 ** (32 - length)
        const within = Math.floor(numberOf(net) / size) === Math.floor(numberOf(bytes) / size)
        assert.equal(await verdict(spell(bytes), { mode: 'open', deny }), !within)
        const allow = deny
        assert.equal(await verdict(spell(bytes), { mode: 'listed', allow }), within)
        assert.equal(await verdict(spell(bytes), { allow, deny }), !within && !isInside(bytes))
      }),
      { numRuns: runsOf(1000), seed: 16 },
    )
  })

  test('IPv6: only what is given out as public', () => {
    for (const [inside, zone] of [
      ['::1', 'loopback'],
      ['0:0:0:0:0:0:0:1', 'loopback'],
      ['::', 'loopback'],
      ['fe80::1', 'link-local'],
      ['fe80::1%eth0', 'link-local'],
      ['febf::1', 'link-local'],
      ['fc00::1', 'private'],
      ['fdff::1', 'private'],
      ['fec0::1', 'private'],
      ['fd00:ec2::254', 'metadata'],
      ['::ffff:169.254.169.254', 'metadata'],
      ['64:ff9b::a9fe:a9fe', 'metadata'],
      ['::7f00:1', 'reserved'],
      ['::ffff:0:7f00:1', 'reserved'],
      ['64:ff9b:1::a00:1', 'reserved'],
      ['100::1', 'reserved'],
      ['2001:0:1::1', 'reserved'],
      ['2001:db8::1', 'reserved'],
      ['2002:7f00:1::', 'reserved'],
      ['ff02::1', 'reserved'],
      ['4000::1', 'reserved'],
      ['no address', 'reserved'],
    ]) {
      assert.equal(zoneOf(inside ?? ''), zone, inside)
    }
    assert.equal(zoneOf('2606:4700::1111'), 'public')
    assert.equal(zoneOf('64:ff9b::101:101'), 'public')
  })

  test('hosts have one spelling, or are none', () => {
    for (const [text, canonical] of [
      ['EXAMPLE.com.', 'example.com'],
      ['bücher.example', 'xn--bcher-kva.example'],
      ['ＬＯＣＡＬＨＯＳＴ', 'localhost'],
      ['[::1]', '::1'],
      ['0:0::0:1', '::1'],
      ['db_1', 'db_1'],
    ] as const) {
      assert.equal(canonicalHost(text), canonical)
    }
    for (const text of [
      '',
      '.',
      'a..',
      'a b',
      'a/b',
      '/var/run/postgresql',
      'a@b',
      'a:80',
      'a%2eb',
      'fe80::1%eth0',
      '[::1',
      '[example.com]',
      'a\nb',
      'a\\b',
      'a?b',
      'a#b',
      '256.256.256.256',
      'x'.repeat(256),
    ]) {
      assert.equal(canonicalHost(text), undefined, JSON.stringify(text))
    }
  })

  test('listening on loopback is distinguished from listening everywhere', () => {
    for (const host of ['127.0.0.1', '127.8.0.1', 'localhost', '::1', '[::1]', 'a.localhost']) {
      assert.ok(isLoopback(host), host)
    }
    for (const host of ['0.0.0.0', '::', '::ffff:0.0.0.0', '10.0.0.1', 'host.example', '']) {
      assert.ok(!isLoopback(host), host)
    }
  })
})

describe('rules', () => {
  test('what is a rule and what is none', () => {
    for (const text of [
      '*',
      'https://*',
      '*:443',
      '*.example.com',
      'example.com:8000-9000',
      'postgresql://10.1.0.0/16:5432',
      '[fd00::]/8',
      'fd00::/8',
      '[fd00::1]:5432',
      '0x7f000001',
    ]) {
      assert.ok(parseRule(text), text)
    }
    for (const text of [
      '',
      'a b',
      '*.*',
      'a.*.b',
      '*.10.0.0.1',
      '10.0.0.0/33',
      'fd00::/129',
      'example.com/8',
      'a:0:1',
      'a:70000',
      'a:9-8',
      '://a',
      'https://a/b',
    ]) {
      assert.equal(parseRule(text), undefined, text)
    }
  })

  test('allow by name, network, scheme and port; deny wins; the star opens nothing inside', () => {
    const judge = (
      settings: Partial<OutboundSettings>,
      [scheme, host, port, ip]: readonly [string, string, number, string],
    ): boolean => {
      const policy = createPolicy({ ...guarded, ...settings })
      const target = { scheme, host, port }
      return policy.judgeText(target) === undefined && policy.judgeAddress(target, ip) === undefined
    }
    const db = ['postgresql', 'db.lan', 5432, '10.1.2.3'] as const
    assert.equal(judge({}, db), false)
    for (const rule of ['db.lan', '*.lan:5432', 'postgresql://10.1.0.0/16', '10.1.2.3:5000-6000']) {
      assert.equal(judge({ allow: [rule] }, db), true, rule)
      assert.equal(judge({ mode: 'listed', allow: [rule] }, db), true, rule)
      assert.equal(judge({ allow: [rule], deny: ['10.0.0.0/8'] }, db), false, rule)
      assert.equal(judge({ mode: 'open', deny: [rule] }, db), false, rule)
    }
    for (const rule of ['*', '*:5432', 'lan', '*.db.lan', 'https://db.lan', 'db.lan:443']) {
      assert.equal(judge({ allow: [rule] }, db), false, rule)
    }
    const web = ['https', 'a.example', 443, '93.184.216.34'] as const
    assert.equal(judge({ mode: 'listed' }, web), false)
    assert.equal(judge({ mode: 'listed', allow: ['https://*:443'] }, web), true)
    assert.equal(judge({ mode: 'listed', allow: ['http://*'] }, web), false)
    assert.equal(judge({ deny: ['*:443'] }, web), false)
    const local = ['http', 'localhost', 80, '127.0.0.1'] as const
    assert.equal(judge({}, local), false)
    assert.equal(judge({ allow: ['localhost'] }, local), true)
    assert.equal(judge({ allow: ['127.0.0.0/8'] }, local), true)
    assert.equal(judge({ mode: 'open' }, local), true)
  })

  test('a name that is ruled out by what it says is not resolved', async () => {
    for (const [host, settings] of [
      ['localhost', {}],
      ['a.localhost.', {}],
      ['METADATA.google.internal', {}],
      ['evil.example', { deny: ['*.example'] }],
      ['other.example', { mode: 'listed', allow: ['git.example'] }],
    ] as const) {
      const { outbound, asked } = watchedWay(settings, { [host]: [['93.184.216.34']] })
      await assert.rejects(outbound.route({ scheme: 'https', host, port: 443 }), NotReached)
      assert.deepEqual(asked, [])
    }
  })
})
