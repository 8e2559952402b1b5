/** Functions of integers, exact in 64 bits or refused, and `float`, whose values only pass through. */
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Call, ValueFunction } from './define.ts'
import { exactAt, exactInteger, isInteger, refuseKind, textAt } from './values.ts'

const group = 'numeric'
const integerPattern = /^\s*[+-]?[0-9]{1,20}\s*$/
const floatPattern = /^\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$/

export const numericFunctions: readonly ValueFunction[] = [
  {
    name: 'add',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'The sum of two integers.',
    apply: (values, call) => of(values, call, (one, two) => one + two),
  },
  {
    name: 'copyIndex',
    group,
    parameters: '[loop], [offset]',
    least: 0,
    most: 2,
    doc: 'Which turn of a copy loop this is, counted from 0 or from the offset.',
    apply(values, call) {
      const [first = null] = values
      const isNamed = typeof first === 'string'
      if (!isNamed && values.length === 2) textAt(values, 0, call)
      const at = isNamed ? 1 : 0
      const index = call.scope.copyIndex(isNamed ? first : undefined)
      if (values.length <= at) return index
      return exactInteger(BigInt(index) + exactAt(values, at, call), 'the result of copyIndex()')
    },
  },
  {
    name: 'div',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'The whole part of the quotient of two integers.',
    apply: (values, call) => of(values, call, (one, two) => one / divisor(two, call)),
  },
  {
    name: 'float',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'The number that a string or an integer says, with its fraction.',
    apply(values, call) {
      const [value = null] = values
      if (typeof value === 'number') return value
      if (typeof value === 'bigint') return Number(value)
      const number = typeof value === 'string' && floatPattern.test(value) ? Number(value) : NaN
      if (Number.isFinite(number)) return number
      return refuseKind(values, 0, call, 'an integer or a string that is a number')
    },
  },
  {
    name: 'int',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'The integer that a string says; an integer stays as it is.',
    apply(values, call) {
      const [value = null] = values
      if (isInteger(value)) return value
      if (typeof value === 'string' && integerPattern.test(value)) {
        return exactInteger(BigInt(value.trim().replace(/^\+/, '')), 'the integer')
      }
      return refuseKind(values, 0, call, 'an integer or a string that is one')
    },
  },
  {
    name: 'mod',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'The remainder of the division of two integers, with the sign of the first.',
    apply: (values, call) => of(values, call, (one, two) => one % divisor(two, call)),
  },
  {
    name: 'mul',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'The product of two integers.',
    apply: (values, call) => of(values, call, (one, two) => one * two),
  },
  {
    name: 'sub',
    group,
    parameters: 'one, two',
    least: 2,
    most: 2,
    doc: 'The first integer less the second.',
    apply: (values, call) => of(values, call, (one, two) => one - two),
  },
]

function of(
  values: readonly Json[],
  call: Call,
  compute: (one: bigint, two: bigint) => bigint,
): Json {
  const one = exactAt(values, 0, call)
  const two = exactAt(values, 1, call)
  return exactInteger(compute(one, two), `the result of ${call.name}()`)
}

function divisor(value: bigint, call: Call): bigint {
  if (value === 0n) throw new EvaluationError(`${call.name}() divides by zero`)
  return value
}
