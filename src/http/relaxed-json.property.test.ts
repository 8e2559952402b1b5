/** Relaxed JSON: any spelling of a value is read as that value, and any text gives JSON or a position in it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../tests/property.ts'
import { relaxJson } from './relaxed-json.ts'

const spaces = fc.constantFrom(
  '',
  '',
  ' ',
  '\n',
  '// one "{[\n',
  '/* two\n ]} */',
  '/**/',
  '//\r\n',
)

/** A value, and choices of spelling. */
function written(value: unknown, choose: () => string, isTrailing: () => boolean): string {
  const list = (open: string, parts: readonly string[], close: string): string => {
    const comma = parts.length > 0 && isTrailing() ? `${choose()},` : ''
    return `${open}${choose()}${parts.join(`${choose()},${choose()}`)}${comma}${choose()}${close}`
  }
  if (Array.isArray(value)) {
    return list(
      '[',
      value.map((one) => written(one, choose, isTrailing)),
      ']',
    )
  }
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).map(([name, one]) => {
      const isPlain = /^[A-Za-z_$][\w$-]*$/.test(name) && isTrailing()
      const key = isPlain ? name : JSON.stringify(name)
      return `${key}${choose()}:${choose()}${written(one, choose, isTrailing)}`
    })
    return list('{', parts, '}')
  }
  if (typeof value !== 'string' || !isTrailing()) return JSON.stringify(value)
  // Line breaks and tabs unescaped.
  return JSON.stringify(value).replace(/(\\\\)|\\([nrt])/g, (all, slash, letter) =>
    slash === undefined ? ({ n: '\n', r: '\r', t: '\t' }[String(letter)] ?? all) : all,
  )
}

class Refused extends Error {
  readonly at: number
  constructor(at: number) {
    super(`at ${at}`)
    this.at = at
  }
}

const refusals = {
  expected: (_what: string, at: number) => new Refused(at),
  tooDeep: (at: number) => new Refused(at),
}

/** The strict text, and the number of pauses on the way to it. */
function relax(
  text: string,
  depthMax: number,
): { readonly strict: string; readonly pauses: number } {
  const reading = relaxJson(text, depthMax, refusals)
  for (let pauses = 0; ; pauses++) {
    const step = reading.next()
    if (step.done === true) return { strict: step.value, pauses }
  }
}

test('a value reads as itself however it is written', () => {
  const flags = fc.infiniteStream(fc.boolean())
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.infiniteStream(spaces),
      flags,
      (value, some, yes) => {
        const text = written(
          value,
          () => some.next().value,
          () => yes.next().value,
        )
        const read: unknown = JSON.parse(relax(text, 64).strict)
        assert.deepEqual(read, JSON.parse(JSON.stringify(value)))
      },
    ),
    { numRuns: runsOf(1000) },
  )
})

test('whatever is given: strict JSON of it, or a place in it', () => {
  const pieces = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      'a',
      '"b"',
      '1',
      '-',
      'null',
      '\\',
      '\\n',
      '\n',
      '//',
      '/*',
      '*/',
      ' ',
      "'",
    ],
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const text = parts.join('')
      try {
        JSON.parse(relax(text, 5).strict)
      } catch (error) {
        assert.ok(error instanceof Refused && error.at >= 0 && error.at <= text.length, text)
      }
    }),
    { numRuns: runsOf(5000) },
  )
})

test('a long text is read in slices, whether it is long in values or in characters', () => {
  const values = `[${'1,'.repeat(100_000)}]`
  assert.ok(relax(values, 64).pauses >= 10)
  const characters = `[${`"${'x'.repeat(100_000)}",`.repeat(40)}]`
  assert.ok(relax(characters, 64).pauses >= 10)
  assert.equal(relax('[1,]', 64).pauses, 0)
})
