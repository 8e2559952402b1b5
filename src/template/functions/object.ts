/** Functions that make objects and take them apart. Objects have no prototype: every name is data. */
import { isObject, objectOf } from '../fields.ts'
import { lineColumn } from '../json.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Call, ValueFunction } from './define.ts'
import { readLenientJson } from './read-json.ts'
import { arrayAt, compareText, objectAt, refuseKind, textAt } from './values.ts'

const group = 'object'

export const objectFunctions: readonly ValueFunction[] = [
  {
    name: 'createObject',
    group,
    parameters: 'key, value, more…',
    least: 0,
    doc: 'An object of keys and values in turns.',
    apply(values, call) {
      if (values.length % 2 === 1) {
        throw new EvaluationError(`${call.name}() takes keys and values in turns; one is missing`)
      }
      call.quota.produceElements(values.length)
      return objectOf(
        values.flatMap((value, index) =>
          index % 2 === 1 ? [[textAt(values, index - 1, call), value] as const] : [],
        ),
      )
    },
  },
  {
    name: 'items',
    group,
    parameters: 'object',
    least: 1,
    most: 1,
    doc: 'An array of the properties as objects of key and value, in the order of the keys.',
    apply(values, call) {
      const object = objectAt(values, 0, call)
      return sortedKeys(object, call).map((key) =>
        objectOf([
          ['key', key],
          ['value', object[key] ?? null],
        ]),
      )
    },
  },
  {
    name: 'json',
    group,
    parameters: 'text',
    least: 1,
    most: 1,
    doc: 'The value that a JSON text says.',
    apply(values, call) {
      const text = textAt(values, 0, call)
      call.quota.produce(text.length)
      call.quota.spend(text.length)
      return parsed(text, call)
    },
  },
  {
    name: 'null',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'Null; a property of a resource that is null counts as absent.',
    apply: () => null,
  },
  {
    name: 'objectKeys',
    group,
    parameters: 'object',
    least: 1,
    most: 1,
    doc: 'The names of the properties, in order.',
    apply: (values, call) => sortedKeys(objectAt(values, 0, call), call),
  },
  {
    name: 'shallowMerge',
    group,
    parameters: 'objects',
    least: 1,
    most: 1,
    doc: 'One object of the properties of all objects in an array, where later ones win whole.',
    apply(values, call) {
      const objects = arrayAt(values, 0, call)
      const made = new Map<string, Json>()
      const spelled = new Map<string, string>()
      for (const one of objects) {
        if (!isObject(one)) return refuseKind(values, 0, call, 'an array of objects')
        for (const [name, value] of Object.entries(one)) {
          call.quota.spend(1)
          const own = spelled.get(name.toLowerCase()) ?? name
          spelled.set(name.toLowerCase(), own)
          made.set(own, value)
        }
      }
      call.quota.produceElements(made.size)
      return objectOf(made)
    },
  },
]

function sortedKeys(object: { readonly [name: string]: Json }, call: Call): readonly string[] {
  const keys = Object.keys(object)
  call.quota.spend(keys.length * 4)
  return keys.sort(compareText)
}

/** For functions that read JSON out of other things too. */
export function parsed(text: string, call: Call): Json {
  const read = readLenientJson(text)
  if (read.ok) return read.value
  const { line, column } = lineColumn(text, read.at)
  throw new EvaluationError(
    `${call.name}() got no JSON: ${read.message} (line ${line}, column ${column})`,
  )
}
