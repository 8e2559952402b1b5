/** Functions that call a lambda for each element, and the two functions that write lambdas. */
import { objectOf } from '../fields.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Lambda, LazyCall, LazyFunction } from './define.ts'
import { arrayAt, objectAt, textAt } from './values.ts'

const group = 'lambda'

export const lambdaFunctions: readonly LazyFunction[] = [
  {
    name: 'filter',
    group,
    parameters: 'array, lambda',
    least: 2,
    most: 2,
    doc: 'The elements for which the lambda of element and index is true.',
    open(call) {
      const array = arrayOf(call)
      const predicate = call.lambda(1, 1, 2)
      return array.filter((one, index) => truth(call, predicate, one, index))
    },
  },
  {
    name: 'groupBy',
    group,
    parameters: 'array, key lambda, [value lambda]',
    least: 2,
    most: 3,
    doc: 'An object of arrays: for each key that the lambda gives, the elements (or their values) that gave it.',
    open(call) {
      const groups = new Map<string, Json[]>()
      for (const [key, value] of keyed(call, 2)) {
        const found = groups.get(key)
        if (found === undefined) groups.set(key, [value])
        else found.push(value)
      }
      return objectOf(groups)
    },
  },
  {
    name: 'lambda',
    group,
    parameters: 'variables…, body',
    least: 1,
    doc: 'A function of the variables it names, as a direct argument of the functions that take one.',
    open(call) {
      throw new EvaluationError(
        `${call.name}() stands only as a direct argument of a function that takes one`,
      )
    },
  },
  {
    name: 'lambdaVariables',
    group,
    parameters: 'name',
    least: 1,
    most: 1,
    doc: 'What the lambda around was called with under this name.',
    open: (call) => call.variable(textAt([call.value(0)], 0, call)),
  },
  {
    name: 'map',
    group,
    parameters: 'array, lambda',
    least: 2,
    most: 2,
    doc: 'What the lambda of element and index gives for each element.',
    open(call) {
      const array = arrayOf(call)
      const change = call.lambda(1, 1, 2)
      return array.map((one, index) => change.call(one, index))
    },
  },
  {
    name: 'mapValues',
    group,
    parameters: 'object, lambda',
    least: 2,
    most: 2,
    doc: 'The object with what the lambda gives for each value.',
    open(call) {
      const object = objectAt([call.value(0)], 0, call)
      const change = call.lambda(1, 1, 1)
      const entries = Object.entries(object)
      call.quota.produceElements(entries.length)
      return objectOf(entries.map(([name, value]) => [name, change.call(value)]))
    },
  },
  {
    name: 'reduce',
    group,
    parameters: 'array, initial, lambda',
    least: 3,
    most: 3,
    doc: 'What the lambda of result so far, element and index gives at last.',
    open(call) {
      const array = arrayOf(call)
      const initial = call.value(1)
      const step = call.lambda(2, 2, 3)
      return array.reduce<Json>((made, one, index) => step.call(made, one, index), initial)
    },
  },
  {
    name: 'sort',
    group,
    parameters: 'array, lambda',
    least: 2,
    most: 2,
    doc: 'The elements ordered by a lambda that says whether its first goes before its second; equal ones keep their order.',
    open(call) {
      const array = arrayOf(call)
      const predicate = call.lambda(1, 2, 2)
      return sorted(array, (one, two) => truth(call, predicate, one, two))
    },
  },
  {
    name: 'toObject',
    group,
    parameters: 'array, key lambda, [value lambda]',
    least: 2,
    most: 3,
    doc: 'An object with a property for each element, by its key; later ones win.',
    open: (call) => objectOf(new Map(keyed(call, 2))),
  },
]

function arrayOf(call: LazyCall): readonly Json[] {
  const array = arrayAt([call.value(0)], 0, call)
  call.quota.produceElements(array.length)
  return array
}

function truth(call: LazyCall, predicate: Lambda, ...values: readonly Json[]): boolean {
  const value = predicate.call(...values)
  if (typeof value !== 'boolean') {
    throw new EvaluationError(`the lambda of ${call.name}() has to be true or false`)
  }
  return value
}

function keyed(call: LazyCall, valueAt: number): readonly (readonly [string, Json])[] {
  const array = arrayOf(call)
  const toKey = call.lambda(1, 1, 2)
  const toValue = call.arguments.length > valueAt ? call.lambda(valueAt, 1, 2) : undefined
  return array.map((one, index) => {
    const key = toKey.call(one, index)
    if (typeof key !== 'string') {
      throw new EvaluationError(`the first lambda of ${call.name}() has to give a string`)
    }
    return [key, toValue === undefined ? one : toValue.call(one, index)]
  })
}

/** Merge sort, because the predicate answers only one question: does this element come before that one? */
function sorted(
  values: readonly Json[],
  before: (one: Json, two: Json) => boolean,
): readonly Json[] {
  if (values.length < 2) return values
  const middle = values.length >>> 1
  const left = sorted(values.slice(0, middle), before)
  const right = sorted(values.slice(middle), before)
  const made: Json[] = []
  let at = 0
  for (const one of left) {
    let next = right[at]
    while (next !== undefined && before(next, one)) {
      made.push(next)
      at += 1
      next = right[at]
    }
    made.push(one)
  }
  return [...made, ...right.slice(at)]
}
