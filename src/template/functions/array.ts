/** Functions of arrays. Many also accept strings and objects. They never change an argument. */
import { lastPositionIn, positionIn } from '#kernel/text-search.ts'
import { isArray, isObject } from '../fields.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Call, ValueFunction } from './define.ts'
import { distinct, intersection, union } from './sets.ts'
import {
  areEqual,
  arrayAt,
  folded,
  integerAt,
  isInteger,
  memberOf,
  refuseKind,
  textAt,
  textOf,
  textOrArrayAt,
} from './values.ts'

const group = 'array'
const rangeMax = 10_000
const rangeEnd = 2_147_483_647

export const arrayFunctions: readonly ValueFunction[] = [
  {
    name: 'array',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'An array of the one value; an array stays as it is.',
    apply: ([value = null]) => (isArray(value) ? value : [value]),
  },
  {
    name: 'concat',
    group,
    parameters: 'values…',
    least: 0,
    doc: 'Strings joined to one string, or arrays joined to one array; never both.',
    apply: concat,
  },
  {
    name: 'contains',
    group,
    parameters: 'container, item',
    least: 2,
    most: 2,
    doc: 'Whether a string has the part, an array the element, or an object the property, whose case does not matter.',
    apply: contains,
  },
  {
    name: 'createArray',
    group,
    parameters: 'values…',
    least: 0,
    doc: 'An array of the values.',
    apply: (values) => values,
  },
  {
    name: 'distinct',
    group,
    parameters: 'array',
    least: 1,
    most: 1,
    doc: 'The elements of the array, each once, at its first place.',
    apply: (values, call) => distinct([arrayAt(values, 0, call)], call.quota),
  },
  {
    name: 'empty',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'Whether a string, an array or an object has nothing in it, or there is null.',
    apply(values, call) {
      const [value = null] = values
      if (value === null) return true
      if (typeof value === 'string' || isArray(value)) return value.length === 0
      if (isObject(value)) return Object.keys(value).length === 0
      return refuseKind(values, 0, call, 'a string, an array or an object')
    },
  },
  {
    name: 'first',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'The first element, or null; of a string the first character, or the empty string.',
    apply: (values, call) => end(textOrArrayAt(values, 0, call), 0),
  },
  {
    name: 'flatten',
    group,
    parameters: 'array',
    least: 1,
    most: 1,
    doc: 'The elements of the arrays in an array, one level deep.',
    apply(values, call) {
      const made: Json[] = []
      for (const one of arrayAt(values, 0, call)) {
        if (!isArray(one)) made.push(one)
        else {
          call.quota.spend(one.length)
          for (const inner of one) made.push(inner)
        }
        call.quota.produceElements(1)
      }
      return made
    },
  },
  {
    name: 'indexFromEnd',
    group,
    parameters: 'array, position',
    least: 2,
    most: 2,
    doc: 'The element at a position counted from the end, where 1 is the last one.',
    apply(values, call) {
      const found = fromEnd(values, call)
      if (found !== undefined) return found
      const { length } = arrayAt(values, 0, call)
      throw new EvaluationError(
        `the array has ${length} elements, none at ${integerAt(values, 1, call)} from its end`,
      )
    },
  },
  {
    name: 'indexOf',
    group,
    parameters: 'container, item',
    least: 2,
    most: 2,
    doc: 'Where the item comes first, or −1; in a string without regard to case.',
    apply(values, call) {
      const [, item = null] = values
      const container = textOrArrayAt(values, 0, call)
      if (typeof container === 'string') {
        return positionIn(folded(container), folded(textAt(values, 1, call)))
      }
      return container.findIndex((one) => areEqual(one, item, call.quota))
    },
  },
  {
    name: 'intersection',
    group,
    parameters: 'value, values…',
    least: 2,
    doc: 'What all arrays have in common, each once, or the properties that all objects have with the same value.',
    apply: intersection,
  },
  {
    name: 'last',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'The last element, or null; of a string the last character, or the empty string.',
    apply(values, call) {
      const value = textOrArrayAt(values, 0, call)
      return end(value, value.length - 1)
    },
  },
  {
    name: 'lastIndexOf',
    group,
    parameters: 'container, item',
    least: 2,
    most: 2,
    doc: 'Where the item comes last, or −1; in a string without regard to case.',
    apply(values, call) {
      const [, item = null] = values
      const container = textOrArrayAt(values, 0, call)
      if (typeof container === 'string') {
        return lastPositionIn(folded(container), folded(textAt(values, 1, call)))
      }
      return container.findLastIndex((one) => areEqual(one, item, call.quota))
    },
  },
  {
    name: 'length',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'How many characters, elements or properties there are.',
    apply(values, call) {
      const [value = null] = values
      if (typeof value === 'string' || isArray(value)) return value.length
      if (isObject(value)) return Object.keys(value).length
      return refuseKind(values, 0, call, 'a string, an array or an object')
    },
  },
  {
    name: 'max',
    group,
    parameters: 'integers…',
    least: 1,
    doc: 'The largest of the integers, or of an array of them.',
    apply: (values, call) => extreme(values, call, (one, two) => one > two),
  },
  {
    name: 'min',
    group,
    parameters: 'integers…',
    least: 1,
    doc: 'The smallest of the integers, or of an array of them.',
    apply: (values, call) => extreme(values, call, (one, two) => one < two),
  },
  {
    name: 'range',
    group,
    parameters: 'start, count',
    least: 2,
    most: 2,
    doc: 'So many integers in a row, from the start on.',
    apply: range,
  },
  {
    name: 'skip',
    group,
    parameters: 'value, count',
    least: 2,
    most: 2,
    doc: 'The elements or characters behind the first so many.',
    apply: (values, call) =>
      textOrArrayAt(values, 0, call).slice(Math.max(0, integerAt(values, 1, call))),
  },
  {
    name: 'take',
    group,
    parameters: 'value, count',
    least: 2,
    most: 2,
    doc: 'The first so many elements or characters.',
    apply: (values, call) =>
      textOrArrayAt(values, 0, call).slice(0, Math.max(0, integerAt(values, 1, call))),
  },
  {
    name: 'tryGet',
    group,
    parameters: 'value, key, keys…',
    least: 2,
    doc: 'The element or property at the end of the keys, or null where one of them is not there.',
    apply: tryGet,
  },
  {
    name: 'tryIndexFromEnd',
    group,
    parameters: 'array, position',
    least: 2,
    most: 2,
    doc: 'The element at a position counted from the end, or null where there is none.',
    apply: (values, call) => fromEnd(values, call) ?? null,
  },
  {
    name: 'union',
    group,
    parameters: 'value, values…',
    least: 2,
    doc: 'The elements of all arrays, each once, or one object of all objects, nested ones merged and later values winning.',
    apply: union,
  },
]

function concat(values: readonly Json[], call: Call): Json {
  if (values.some(isArray)) {
    const arrays = values.map((_, index) => arrayAt(values, index, call))
    call.quota.produceElements(arrays.reduce((sum, one) => sum + one.length, 0))
    return arrays.flat()
  }
  const texts = values.map((value, index) =>
    typeof value === 'object'
      ? refuseKind(values, index, call, 'a string or an array')
      : textOf(value, call.quota),
  )
  call.quota.produce(texts.reduce((sum, one) => sum + one.length, 0))
  return texts.join('')
}

function contains(values: readonly Json[], call: Call): Json {
  const [container = null, item = null] = values
  if (typeof container === 'string') return positionIn(container, textAt(values, 1, call)) >= 0
  if (isArray(container)) return container.some((one) => areEqual(one, item, call.quota))
  if (isObject(container))
    return memberOf(container, textAt(values, 1, call), call.quota) !== undefined
  return refuseKind(values, 0, call, 'a string, an array or an object')
}

/** For a string: the UTF-16 unit, as everywhere in the language. */
function end(value: string | readonly Json[], index: number): Json {
  if (typeof value === 'string') return value.charAt(index)
  return value[index] ?? null
}

function fromEnd(values: readonly Json[], call: Call): Json | undefined {
  const array = arrayAt(values, 0, call)
  return array[array.length - integerAt(values, 1, call)]
}

function extreme(
  values: readonly Json[],
  call: Call,
  isFirst: (one: number | bigint, two: number | bigint) => boolean,
): Json {
  const integers = values.flat()
  if (integers.length === 0) throw new EvaluationError(`${call.name}() of an empty array`)
  call.quota.spend(integers.length)
  return integers.reduce<number | bigint>((found, one, index) => {
    if (!isInteger(one)) return refuseKind(integers, index, call, 'integers')
    return index === 0 || isFirst(one, found) ? one : found
  }, 0)
}

function range(values: readonly Json[], call: Call): Json {
  const start = integerAt(values, 0, call)
  const count = integerAt(values, 1, call)
  if (count < 0 || count > rangeMax) {
    throw new EvaluationError(`range() makes 0 to ${rangeMax} integers, not ${count}`)
  }
  if (start + count > rangeEnd) {
    throw new EvaluationError(`range() goes no further than ${rangeEnd}`)
  }
  return Array.from({ length: count }, (_, index) => start + index)
}

function tryGet(values: readonly Json[], call: Call): Json {
  let [found = null] = values
  for (const key of values.slice(1)) {
    if (isObject(found) && typeof key === 'string') {
      found = memberOf(found, key, call.quota) ?? null
    } else if (isArray(found) && isInteger(key)) {
      found = found[Number(key)] ?? null
    } else return null
  }
  return found
}
