/** Comparison functions. They never convert kinds. */
import type { Json } from '../plan.ts'
import type { Call, LazyFunction, ValueFunction } from './define.ts'
import { areEqual, compareText, isInteger, refuseKind } from './values.ts'

const group = 'comparison'

export const comparisonFunctions: readonly (ValueFunction | LazyFunction)[] = [
  {
    name: 'coalesce',
    group,
    parameters: 'value, values…',
    least: 1,
    doc: 'The first value that is not null, or null; what comes after it is not evaluated.',
    open(call) {
      for (const index of call.arguments.keys()) {
        const value = call.value(index)
        if (value !== null) return value
      }
      return null
    },
  },
  {
    name: 'equals',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'Whether both are of the same kind and equal, however deep; strings with regard to case.',
    apply: ([one = null, two = null], call) => areEqual(one, two, call.quota),
  },
  {
    name: 'greater',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'Whether the first of two integers, or of two strings, is the larger one.',
    apply: (values, call) => order(values, call) > 0,
  },
  {
    name: 'greaterOrEquals',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'Whether the first of two integers, or of two strings, is not the smaller one.',
    apply: (values, call) => order(values, call) >= 0,
  },
  {
    name: 'less',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'Whether the first of two integers, or of two strings, is the smaller one.',
    apply: (values, call) => order(values, call) < 0,
  },
  {
    name: 'lessOrEquals',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'Whether the first of two integers, or of two strings, is not the larger one.',
    apply: (values, call) => order(values, call) <= 0,
  },
]

function order(values: readonly Json[], call: Call): number {
  const [one = null, two = null] = values
  if (typeof one === 'string') {
    if (typeof two !== 'string') return refuseKind(values, 1, call, 'a string too')
    return compareText(one, two)
  }
  if (!isInteger(one)) return refuseKind(values, 0, call, 'an integer or a string')
  if (!isInteger(two)) return refuseKind(values, 1, call, 'an integer too')
  if (one === two) return 0
  return one < two ? -1 : 1
}
