/** Every function of the catalogue: what it returns, what it refuses, and how many arguments it takes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { evaluate } from '../evaluate.ts'
import { parseExpression } from '../expression.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import { AnsweringScope } from '../testing/answering-scope.ts'
import {
  arrayVectors,
  comparisonVectors,
  lambdaVectors,
  logicalVectors,
  numericVectors,
  objectVectors,
  type Vectors,
} from '../testing/vectors.ts'
import { deploymentVectors, resourceVectors, scopeVectors } from '../testing/vectors-of-places.ts'
import { cidrVectors, dateVectors, stringVectors } from '../testing/vectors-of-text.ts'
import { functionCatalogue, functionNamed } from './catalogue.ts'

const groups: Readonly<Record<string, Vectors>> = {
  array: arrayVectors,
  cidr: cidrVectors,
  comparison: comparisonVectors,
  date: dateVectors,
  deployment: deploymentVectors,
  lambda: lambdaVectors,
  logical: logicalVectors,
  numeric: numericVectors,
  object: objectVectors,
  resource: resourceVectors,
  scope: scopeVectors,
  string: stringVectors,
}

function run(text: string, scope?: 'subscription' | 'managementGroup' | 'tenant'): Json {
  return evaluate(parseExpression(text), new AnsweringScope(scope))
}

/** As JSON, since results are objects without a prototype. */
function plain(value: Json): Json {
  return JSON.parse(JSON.stringify(value))
}

function refusal(text: string, scope?: 'subscription' | 'managementGroup' | 'tenant') {
  try {
    return assert.fail(`${text} gave ${JSON.stringify(run(text, scope))}`)
  } catch (error) {
    if (error instanceof EvaluationError) return error
    throw error
  }
}

describe('functions', () => {
  for (const one of functionCatalogue) {
    test(one.name, () => {
      const vectors = groups[one.group]?.[one.name] ?? []
      assert.ok(vectors.length > 0, `${one.name} has no vector in the group ${one.group}`)
      for (const [text, expected, scope] of vectors) {
        if (expected instanceof RegExp) {
          const error = refusal(text, scope)
          assert.match(error.message, expected, text)
          assert.ok(error.at !== undefined && error.at < text.length, `${text} at ${error.at}`)
        } else {
          assert.deepEqual(plain(run(text, scope)), expected, text)
        }
      }
    })

    test(`${one.name}: its number of arguments`, () => {
      const name = one.name.replace('*', 'Keys')
      const called = (count: number): string =>
        `${name}(${Array.from({ length: count }, () => "'a'").join(', ')})`
      if (one.least > 0) assert.match(refusal(called(one.least - 1)).message, /takes/)
      if (one.most !== undefined) assert.match(refusal(called(one.most + 1)).message, /takes/)
      assert.ok(one.least <= (one.most ?? one.least))
    })

    test(`${one.name}: what the reference says`, () => {
      assert.match(one.doc, /^[A-Z].*\.$/)
      const names = one.parameters.split(', ').filter((name) => name !== '')
      const isOpen = one.parameters.includes('…')
      assert.equal(isOpen, one.most === undefined, one.parameters)
      if (!isOpen) assert.equal(names.length, one.most, one.parameters)
    })
  }

  test('no vector is for a function that is not there', () => {
    const known = new Set(functionCatalogue.map((one) => `${one.group} ${one.name}`))
    for (const [group, vectors] of Object.entries(groups)) {
      for (const name of Object.keys(vectors)) assert.ok(known.has(`${group} ${name}`), name)
    }
  })

  test('each name is there once, and found in any case', () => {
    const names = functionCatalogue.map((one) => one.name.toLowerCase())
    assert.equal(new Set(names).size, names.length)
    assert.equal(functionNamed('RESOURCEID')?.name, 'resourceId')
    assert.equal(functionNamed('listAnything')?.name, 'list*')
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'nothing']) {
      assert.equal(functionNamed(name), undefined, name)
    }
  })
})
