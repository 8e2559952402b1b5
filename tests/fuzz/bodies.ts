/** Bodies for the fuzzer: nearly valid ones from a schema, then damaged in many ways. */

import type { Random } from './random.ts'

type Json = unknown
type Schema = Readonly<Record<string, unknown>>

const guid = '0af7651c-1111-4222-8333-444455556666'

/** Values that have broken servers before. */
const nasty: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1e308,
  -1e-308,
  2 ** 53,
  '',
  ' ',
  '*',
  '\u{1f600}',
  '\u202e',
  "'; drop table resources; --",
  '../../etc/passwd',
  '{{7*7}}',
  '/subscriptions/x/providers',
  'a'.repeat(5000),
  [],
  [[[[]]]],
  {},
  { length: -1 },
  { toString: 1, hasOwnProperty: 2, constructor: { prototype: { polluted: true } } },
]

/** A value that a schema probably accepts. Unknown keywords are ignored. */
export function bodyFor(schema: Schema | undefined, random: Random, depth = 0): Json {
  if (schema === undefined || depth > 8) return {}
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return random.pick(schema['enum'])
  const alternatives = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']
  if (Array.isArray(alternatives)) return bodyFor(random.pick(alternatives), random, depth + 1)
  switch (schema['type']) {
    case 'object': {
      const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
      const out: Record<string, Json> = {}
      for (const [name, member] of Object.entries(schema['properties'] ?? {})) {
        if (required.has(name) || random.chance(0.6)) out[name] = bodyFor(member, random, depth + 1)
      }
      return out
    }
    case 'array':
      // In JSON Schema, `items` is a schema or absent.
      return Array.from({ length: random.below(3) }, () =>
        bodyFor(schema['items'] as Schema | undefined, random, depth + 1),
      )
    case 'integer':
    case 'number':
      return random.below(100)
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    default:
      return random.pick([guid, 'a', 'westus', 'name-1', '2026-01-01T00:00:00Z'])
  }
}

/** Replaces one nested value by a nasty one. */
function spoil(value: Json, random: Random): Json {
  if (typeof value !== 'object' || value === null || random.chance(0.2)) return random.pick(nasty)
  const entries = Object.entries(value)
  if (entries.length === 0) return random.pick(nasty)
  const [name] = random.pick(entries)
  const changed = entries.map(([key, member]) => [
    key,
    key === name ? spoil(member, random) : member,
  ])
  return Array.isArray(value)
    ? changed.map(([, member]) => member)
    : Object.fromEntries([...changed, ...(random.chance(0.3) ? [['zz', random.pick(nasty)]] : [])])
}

/** The bytes of a body. `damage` says how it was broken, for the report. */
export function damagedBody(
  whole: Json,
  random: Random,
): { readonly bytes: Buffer; readonly damage: string } {
  const text = JSON.stringify(whole)
  const made: readonly (readonly [damage: string, make: () => string | Buffer])[] = [
    ['none', () => text],
    ['spoilt', () => JSON.stringify(spoil(whole, random))],
    ['spoilt twice', () => JSON.stringify(spoil(spoil(whole, random), random))],
    ['cut', () => text.slice(0, random.below(text.length + 1))],
    ['a byte changed', () => overwritten(text, random)],
    ['deep arrays', () => '['.repeat(100_000)],
    ['deep objects', () => `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`],
    ['deep inside', () => text.replace(/}$/, `,"zz":${'['.repeat(63)}${']'.repeat(63)}}`)],
    ['long array', () => `[${'0,'.repeat(100_000)}0]`],
    ['long text', () => JSON.stringify({ properties: { title: 'x'.repeat(1_000_000) } })],
    [
      'many names',
      () =>
        JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`n${n}`, n]))),
    ],
    ['__proto__', () => text.replace('{', '{"__proto__":{"polluted":true},')],
    ['constructor', () => text.replace('{', '{"constructor":{"prototype":{"polluted":true}},')],
    ['twice the same name', () => text.replace('{', '{"properties":1,"properties":null,')],
    ['lone surrogate', () => text.replace('{', '{"\\ud800":"\\udfff",')],
    ['NUL escaped', () => text.replace('{', '{"location":"a\\u0000b",')],
    ['NUL raw', () => Buffer.from(text.replace('{', '{"a\u0000":1,'))],
    [
      'not UTF-8',
      () =>
        Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('"}')]),
    ],
    ['UTF-16', () => Buffer.from(text, 'utf16le')],
    ['byte order mark', () => `\ufeff${text}`],
    ['huge numbers', () => '{"a":1e400,"b":-1e400,"c":123456789012345678901234567890}'],
    ['a text', () => '"text"'],
    ['null', () => 'null'],
    ['blank', () => ' \r\n\t '],
    ['nothing', () => ''],
    ['a form', () => 'a=b&c=d'],
    [
      'markup',
      () => '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    ],
    ['too large', () => Buffer.alloc(4 * 1024 * 1024 + 1, 0x20)],
  ]
  const [damage, make] = random.chance(0.35) ? random.pick(made.slice(0, 3)) : random.pick(made)
  const bytes = make()
  return { damage, bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes }
}

function overwritten(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}
