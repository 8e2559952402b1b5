/**
 * `uniqueString` and `guid`: stable names made from values, bit-exact with the published vectors. The same values
 * always give the same name.
 */

const namespace = [
  0x11, 0xfb, 0x06, 0xfb, 0x71, 0x2d, 0x4d, 0xdd, 0x98, 0xc7, 0xe7, 0x1b, 0xbd, 0x58, 0x88, 0x30,
]
const digits = 'abcdefghijklmnopqrstuvwxyz234567'

/** Thirteen letters and digits derived from all values, joined with `-`. */
export function uniqueString(values: readonly string[]): string {
  const [low, high] = hash64(utf8(values.join('-')))
  let rest = (BigInt(high) << 32n) | BigInt(low)
  let text = ''
  for (let index = 0; index < 13; index += 1) {
    text += digits.charAt(Number(rest >> 59n))
    rest = (rest << 5n) & 0xffff_ffff_ffff_ffffn
  }
  return text
}

/** A version 5 UUID of the values, joined with `-`. */
export function guid(values: readonly string[]): string {
  const bytes = sha1([...namespace, ...utf8(values.join('-'))]).slice(0, 16)
  const marked = bytes.map((byte, index) => {
    if (index === 6) return (byte & 0x0f) | 0x50
    return index === 8 ? (byte & 0x3f) | 0x80 : byte
  })
  const hex = marked.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}

/** The UTF-8 bytes of a text; a lone surrogate becomes U+FFFD, as everywhere on the web. */
export function utf8(text: string): number[] {
  const bytes: number[] = []
  for (const character of text.toWellFormed()) {
    const point = character.codePointAt(0) ?? 0
    if (point < 0x80) bytes.push(point)
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63))
    else if (point < 0x10000)
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63))
    else
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 63),
        0x80 | ((point >> 6) & 63),
        0x80 | (point & 63),
      )
  }
  return bytes
}

const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by))

function wordAt(bytes: readonly number[], at: number, length: number): number {
  let word = 0
  for (let index = 0; index < length; index += 1) word |= (bytes[at + index] ?? 0) << (8 * index)
  return word
}

function hash64(bytes: readonly number[]): readonly [low: number, high: number] {
  const c1 = 0x239b961b
  const c2 = 0xab0e9789
  let one = 0
  let two = 0
  const whole = bytes.length - (bytes.length % 8)
  for (let at = 0; at < whole; at += 8) {
    one ^= Math.imul(rotate(Math.imul(wordAt(bytes, at, 4), c1), 15), c2)
    one = (rotate(one, 19) + two) | 0
    one = (Math.imul(one, 5) + 0x561ccd1b) | 0
    two ^= Math.imul(rotate(Math.imul(wordAt(bytes, at + 4, 4), c2), 17), c1)
    two = (rotate(two, 13) + one) | 0
    two = (Math.imul(two, 5) + 0x0bcaa747) | 0
  }
  const left = bytes.length - whole
  if (left > 4) {
    two ^= Math.imul(rotate(Math.imul(wordAt(bytes, whole + 4, left - 4), c2), 17), c1)
  }
  if (left > 0) {
    one ^= Math.imul(rotate(Math.imul(wordAt(bytes, whole, Math.min(left, 4)), c1), 15), c2)
  }
  one ^= bytes.length
  two ^= bytes.length
  one = (one + two) | 0
  two = (two + one) | 0
  one = finish(one)
  two = finish(two)
  one = (one + two) | 0
  two = (two + one) | 0
  return [one >>> 0, two >>> 0]
}

function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

function sha1(message: readonly number[]): number[] {
  const padded = [...message, 0x80]
  while (padded.length % 64 !== 56) padded.push(0)
  const bits = BigInt(message.length) * 8n
  for (let shift = 56n; shift >= 0n; shift -= 8n) padded.push(Number((bits >> shift) & 0xffn))
  const state: [number, number, number, number, number] = [
    0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0,
  ]
  const words = new Int32Array(80)
  const w = (index: number): number => words[index] ?? 0
  for (let at = 0; at < padded.length; at += 64) {
    for (let index = 0; index < 16; index += 1) {
      const start = at + index * 4
      words[index] =
        ((padded[start] ?? 0) << 24) |
        ((padded[start + 1] ?? 0) << 16) |
        ((padded[start + 2] ?? 0) << 8) |
        (padded[start + 3] ?? 0)
    }
    for (let index = 16; index < 80; index += 1) {
      words[index] = rotate(w(index - 3) ^ w(index - 8) ^ w(index - 14) ^ w(index - 16), 1)
    }
    let [a, b, c, d, e] = state
    for (let index = 0; index < 80; index += 1) {
      const [mix, key] = round(index, b, c, d)
      const next = (rotate(a, 5) + mix + e + key + w(index)) | 0
      e = d
      d = c
      c = rotate(b, 30)
      b = a
      a = next
    }
    state[0] = (state[0] + a) | 0
    state[1] = (state[1] + b) | 0
    state[2] = (state[2] + c) | 0
    state[3] = (state[3] + d) | 0
    state[4] = (state[4] + e) | 0
  }
  return state.flatMap((word) => [24, 16, 8, 0].map((shift) => (word >>> shift) & 255))
}

function round(index: number, b: number, c: number, d: number): readonly [number, number] {
  if (index < 20) return [(b & c) | (~b & d), 0x5a827999]
  if (index < 40) return [b ^ c ^ d, 0x6ed9eba1]
  if (index < 60) return [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
  return [b ^ c ^ d, 0xca62c1d6]
}
