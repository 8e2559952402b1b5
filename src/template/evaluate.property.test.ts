/** Laws that hold for all values: what functions undo, keep and order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { evaluate } from './evaluate.ts'
import { type Expression, parseExpression } from './expression.ts'
import { ExpressionScope } from './expression-scope.ts'
import { objectOf } from './fields.ts'
import type { Json } from './plan.ts'
import { expressionOf, printExpression } from './print-expression.ts'
import { contextOf } from './testing/answering-scope.ts'

/** Values as templates contain them, including names of prototype members. */
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
    fc.array(tie('json'), { maxLength: 4 }),
    fc
      .array(
        fc.tuple(
          fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString')),
          tie('json'),
        ),
        { maxLength: 4 },
      )
      .map((entries) => objectOf(entries)),
  ),
}))
const text = fc.string({ unit: 'binary' }).map((one) => one.toWellFormed())
const array = fc.array(json, { maxLength: 6 })

function run(expression: string, values: { readonly [name: string]: Json }): Json {
  const scope = new ExpressionScope({
    context: contextOf(),
    parameters: objectOf(Object.entries(values)),
  })
  return evaluate(parseExpression(expression), scope)
}

function plain(value: Json): unknown {
  return JSON.parse(JSON.stringify(value))
}

test('a value written as JSON, in base 64 or as an expression reads back as itself', () => {
  fc.assert(
    fc.property(json, (v) => {
      assert.deepEqual(
        plain(run("json(concat('[', string(createArray(parameters('v'))), ']'))[0][0]", { v })),
        plain(v),
      )
      assert.deepEqual(
        plain(run("base64ToJson(base64(string(createArray(parameters('v')))))[0]", { v })),
        plain(v),
      )
      const scope = new ExpressionScope({ context: contextOf() })
      const written: Expression = parseExpression(printExpression(expressionOf(v, 0)))
      assert.deepEqual(plain(evaluate(written, scope)), plain(v))
    }),
  )
})

test('equals is an equality, and agrees with the texts of values', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      assert.equal(run("equals(parameters('a'), parameters('a'))", { a, b }), true)
      const there = run("equals(parameters('a'), parameters('b'))", { a, b })
      assert.equal(run("equals(parameters('b'), parameters('a'))", { a, b }), there)
      if (JSON.stringify(a) === JSON.stringify(b)) assert.equal(there, true)
      assert.equal(
        run(
          "equals(length(union(createArray(parameters('a')), createArray(parameters('b')))), 1)",
          { a, b },
        ),
        there,
      )
    }),
  )
})

test('texts: encoding is undone, splitting and joining too, skip and take share out', () => {
  fc.assert(
    fc.property(text, text, fc.nat(20), (a, b, n) => {
      assert.equal(run("base64ToString(base64(parameters('a')))", { a }), a.replace(/^\ufeff/, ''))
      assert.equal(run("uriComponentToString(uriComponent(parameters('a')))", { a }), a)
      assert.equal(
        run("dataUriToString(dataUri(parameters('a')))", { a }),
        a.replace(/^\ufeff/, ''),
      )
      assert.equal(
        run("join(split(parameters('a'), parameters('b')), parameters('b'))", { a, b }),
        a,
      )
      assert.equal(
        run(
          "concat(take(parameters('a'), parameters('n')), skip(parameters('a'), parameters('n')))",
          { a, n },
        ),
        a,
      )
      assert.equal(run("format('{0}', parameters('a'))", { a }), a)
      assert.equal(
        run("startsWith(concat(parameters('a'), parameters('b')), toUpper(parameters('a')))", {
          a: a.replace(/[^ -~]/g, ''),
          b,
        }),
        true,
      )
    }),
  )
})

test('arrays: union and intersection are sets, flatten and skip and take keep every element', () => {
  fc.assert(
    fc.property(array, array, fc.integer({ min: -3, max: 9 }), (a, b, n) => {
      const union = "union(parameters('a'), parameters('b'))"
      assert.deepEqual(plain(run(`equals(union(${union}, ${union}), ${union})`, { a, b })), true)
      assert.equal(
        run(
          `equals(intersection(${union}, parameters('a')), union(parameters('a'), createArray()))`,
          { a, b },
        ),
        true,
      )
      assert.deepEqual(
        plain(run("flatten(createArray(parameters('a'), parameters('b')))", { a, b })),
        plain([...a, ...b]),
      )
      assert.deepEqual(
        plain(
          run(
            "concat(take(parameters('a'), parameters('n')), skip(parameters('a'), parameters('n')))",
            { a, n },
          ),
        ),
        plain(a),
      )
      assert.equal(
        run("equals(map(parameters('a'), lambda('x', lambdaVariables('x'))), parameters('a'))", {
          a,
        }),
        true,
      )
    }),
  )
})

test('sort is stable and orders; reduce of add is the sum', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 30 }), (a) => {
      const rows = a.map((key, at) => ({ key, at }))
      const made = run(
        "sort(parameters('rows'), lambda('x', 'y', less(lambdaVariables('x').key, lambdaVariables('y').key)))",
        { rows },
      )
      assert.deepEqual(
        plain(made),
        rows.toSorted((one, two) => one.key - two.key),
      )
      assert.equal(
        run(
          "reduce(parameters('a'), 0, lambda('s', 'x', add(lambdaVariables('s'), lambdaVariables('x'))))",
          { a },
        ),
        a.reduce((sum, one) => sum + one, 0),
      )
    }),
  )
})

test('division and remainder belong together, as in 64 bits', () => {
  fc.assert(
    fc.property(
      fc.maxSafeInteger(),
      fc.maxSafeInteger().filter((one) => one !== 0),
      (a, b) => {
        const made = run(
          "createArray(div(parameters('a'), parameters('b')), mod(parameters('a'), parameters('b')))",
          { a, b },
        )
        assert.deepEqual(made, [Number(BigInt(a) / BigInt(b)), Number(BigInt(a) % BigInt(b))])
      },
    ),
  )
})

test('dates: seconds and texts are the same moments, and adding is undone', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -60_000_000_000, max: 250_000_000_000 }),
      fc.nat(1_000_000),
      (s, d) => {
        const values = { s, plus: `PT${d}S`, minus: `-PT${d}S` }
        assert.equal(run("dateTimeToEpoch(dateTimeFromEpoch(parameters('s')))", values), s)
        assert.equal(
          run(
            "dateTimeToEpoch(dateTimeAdd(dateTimeAdd(dateTimeFromEpoch(parameters('s')), parameters('plus')), parameters('minus')))",
            values,
          ),
          s,
        )
        assert.equal(
          run("dateTimeFromEpoch(parameters('s'))", values),
          new Date(s * 1000).toISOString().replace('.000', ''),
        )
      },
    ),
  )
})

test('networks: every subnet parses, lies inside, and is the one of its index', () => {
  fc.assert(
    fc.property(
      fc.ipV4(),
      fc.integer({ min: 0, max: 24 }),
      fc.nat(8),
      fc.nat(255),
      (ip, prefix, more, at) => {
        const index = at % 2 ** more
        const network = `${ip}/${prefix}`
        const subnet = run(`cidrSubnet('${network}', ${prefix + more}, ${index})`, {})
        const parsed = run(`parseCidr('${String(subnet)}')`, {})
        assert.equal(`${(parsed as { network: string }).network}/${prefix + more}`, subnet)
        const outer = run(`parseCidr('${String(subnet).split('/')[0]}/${prefix}').network`, {})
        assert.equal(outer, run(`parseCidr('${network}').network`, {}))
      },
    ),
  )
  fc.assert(
    fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (ip, prefix) => {
      const network = run(`parseCidr('${ip}/${prefix}').network`, {})
      assert.equal(run(`parseCidr('${String(network)}/${prefix}').network`, {}), network)
    }),
  )
})
