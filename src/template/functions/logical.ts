/** Logical functions. `if`, `and` and `or` evaluate from left to right, and only as far as necessary. */
import type { LazyCall, LazyFunction, ValueFunction } from './define.ts'
import { booleanAt, isInteger, refuseKind } from './values.ts'

const group = 'logical'

export const logicalFunctions: readonly (ValueFunction | LazyFunction)[] = [
  {
    name: 'and',
    group,
    parameters: 'one, two, more…',
    least: 2,
    doc: 'Whether all are true; what comes after the first false is not evaluated.',
    open: (call) => !stopsAt(call, false),
  },
  {
    name: 'bool',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: "True or false of an integer, where 0 is false, or of the strings 'true' and 'false' in any case.",
    apply(values, call) {
      const [value = null] = values
      if (typeof value === 'boolean') return value
      if (isInteger(value)) return BigInt(value) !== 0n
      const word = typeof value === 'string' ? value.toLowerCase() : ''
      if (word === 'true' || word === 'false') return word === 'true'
      return refuseKind(values, 0, call, "an integer, 'true' or 'false'")
    },
  },
  {
    name: 'false',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'False.',
    apply: () => false,
  },
  {
    name: 'if',
    group,
    parameters: 'condition, then, else',
    least: 3,
    most: 3,
    doc: 'The second argument when the condition is true, else the third; the other is not evaluated.',
    open: (call) => call.value(booleanOf(call, 0) ? 1 : 2),
  },
  {
    name: 'not',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'The opposite of a truth value.',
    apply: (values, call) => !booleanAt(values, 0, call),
  },
  {
    name: 'or',
    group,
    parameters: 'one, two, more…',
    least: 2,
    doc: 'Whether one of them is true; what comes after it is not evaluated.',
    open: (call) => stopsAt(call, true),
  },
  {
    name: 'true',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'True.',
    apply: () => true,
  },
]

function booleanOf(call: LazyCall, index: number): boolean {
  const values = []
  values[index] = call.value(index)
  return booleanAt(values, index, call)
}

function stopsAt(call: LazyCall, wanted: boolean): boolean {
  for (const index of call.arguments.keys()) {
    if (booleanOf(call, index) === wanted) return true
  }
  return false
}
