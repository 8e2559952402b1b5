/** Functions of strings. Positions and lengths count UTF-16 units. */
import { positionIn, splitBy } from '#kernel/text-search.ts'
import { isArray } from '../fields.ts'
import { guid, uniqueString } from '../names.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import { base64Of, textOfBase64 } from './base64.ts'
import type { Call, ValueFunction } from './define.ts'
import { formatComposite } from './format.ts'
import { parsed } from './object.ts'
import {
  arrayAt,
  folded,
  integerAt,
  refuseKind,
  textAt,
  textOf,
  textOrIntegerAt,
} from './values.ts'

const group = 'string'

export const stringFunctions: readonly ValueFunction[] = [
  {
    name: 'base64',
    group,
    parameters: 'text',
    least: 1,
    most: 1,
    doc: 'The UTF-8 bytes of the text in base 64.',
    apply: (values, call) => base64Of(textAt(values, 0, call), call.quota),
  },
  {
    name: 'base64ToJson',
    group,
    parameters: 'base64',
    least: 1,
    most: 1,
    doc: 'The value of the JSON text that base 64 holds.',
    apply: (values, call) => parsed(textOfBase64(textAt(values, 0, call), call), call),
  },
  {
    name: 'base64ToString',
    group,
    parameters: 'base64',
    least: 1,
    most: 1,
    doc: 'The text whose UTF-8 bytes base 64 holds.',
    apply: (values, call) => textOfBase64(textAt(values, 0, call), call),
  },
  {
    name: 'endsWith',
    group,
    parameters: 'text, part',
    least: 2,
    most: 2,
    doc: 'Whether the text ends with the part, without regard to case.',
    apply: (values, call) =>
      folded(textAt(values, 0, call)).endsWith(folded(textAt(values, 1, call))),
  },
  {
    name: 'fail',
    group,
    parameters: 'message',
    least: 1,
    most: 1,
    doc: 'Refuses the deployment with the message.',
    apply(values, call) {
      throw new EvaluationError(textAt(values, 0, call) || 'the template refuses, without a reason')
    },
  },
  {
    name: 'format',
    group,
    parameters: 'format, values…',
    least: 1,
    doc: 'The format with its items {index,width:format} replaced by the values.',
    apply(values, call) {
      return formatComposite(textAt(values, 0, call), values.slice(1), call.quota)
    },
  },
  {
    name: 'guid',
    group,
    parameters: 'text, texts…',
    least: 1,
    doc: 'A UUID that depends on all the texts, and is the same for the same ones.',
    apply: (values, call) => guid(seeds(values, call)),
  },
  {
    name: 'join',
    group,
    parameters: 'array, delimiter',
    least: 2,
    most: 2,
    doc: 'The elements as one text, with the delimiter between them.',
    apply(values, call) {
      const parts = arrayAt(values, 0, call).map((one) => textOf(one, call.quota))
      const delimiter = textAt(values, 1, call)
      const between = Math.max(0, parts.length - 1) * delimiter.length
      call.quota.produce(parts.reduce((sum, one) => sum + one.length, between))
      return parts.join(delimiter)
    },
  },
  {
    name: 'like',
    group,
    parameters: 'text, pattern',
    least: 2,
    most: 2,
    doc: 'Whether the text matches the pattern, in which * stands for any characters, without regard to case.',
    apply: like,
  },
  {
    name: 'newGuid',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'A new UUID; only in default values of parameters.',
    apply: (_, { scope }) => scope.context.uuid(),
  },
  {
    name: 'padLeft',
    group,
    parameters: 'value, length, [character]',
    least: 2,
    most: 3,
    doc: 'The text or integer, filled on the left with a character (by default a space) up to the length.',
    apply(values, call) {
      const text = textOrIntegerAt(values, 0, call)
      const length = integerAt(values, 1, call)
      const character = values.length > 2 ? textAt(values, 2, call) : ' '
      if (length < 0) throw new EvaluationError(`${call.name}() expects a length of 0 or more`)
      if (character.length !== 1) {
        throw new EvaluationError(`${call.name}() fills with exactly one character`)
      }
      call.quota.produce(length)
      return text.padStart(length, character)
    },
  },
  {
    name: 'replace',
    group,
    parameters: 'text, old, new',
    least: 3,
    most: 3,
    doc: 'The text with every occurrence of the old part replaced by the new one.',
    apply: replace,
  },
  {
    name: 'split',
    group,
    parameters: 'text, delimiters',
    least: 2,
    most: 2,
    doc: 'The parts between the delimiters, which are one string or an array of them.',
    apply: split,
  },
  {
    name: 'startsWith',
    group,
    parameters: 'text, part',
    least: 2,
    most: 2,
    doc: 'Whether the text begins with the part, without regard to case.',
    apply: (values, call) =>
      folded(textAt(values, 0, call)).startsWith(folded(textAt(values, 1, call))),
  },
  {
    name: 'string',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'The value as text: strings as they are, truth values as True and False, the rest as JSON.',
    apply: ([value = null], call) => textOf(value, call.quota),
  },
  {
    name: 'substring',
    group,
    parameters: 'text, start, [length]',
    least: 2,
    most: 3,
    doc: 'The part of the text from the start on, so long or up to the end; it has to lie inside.',
    apply: substring,
  },
  {
    name: 'toLower',
    group,
    parameters: 'text',
    least: 1,
    most: 1,
    doc: 'The text in lower case.',
    apply: (values, call) => textAt(values, 0, call).toLowerCase(),
  },
  {
    name: 'toUpper',
    group,
    parameters: 'text',
    least: 1,
    most: 1,
    doc: 'The text in upper case.',
    apply: (values, call) => upperCase(textAt(values, 0, call)),
  },
  {
    name: 'trim',
    group,
    parameters: 'text',
    least: 1,
    most: 1,
    doc: 'The text without white space at its ends.',
    apply: (values, call) => textAt(values, 0, call).trim(),
  },
  {
    name: 'uniqueString',
    group,
    parameters: 'text, texts…',
    least: 1,
    doc: 'Thirteen letters and digits that depend on all the texts, and are the same for the same ones.',
    apply: (values, call) => uniqueString(seeds(values, call)),
  },
]

/** Letters that would become several stay as they are. */
function upperCase(text: string): string {
  const upper = text.toUpperCase()
  if (upper.length === text.length) return upper
  return text.replace(/\P{ASCII}+|\p{ASCII}+/gu, (run) => {
    const made = run.toUpperCase()
    if (made.length === run.length) return made
    return Array.from(run, (one) => {
      const other = one.toUpperCase()
      return other.length === one.length ? other : one
    }).join('')
  })
}

/** Hashing visits every byte. */
function seeds(values: readonly Json[], call: Call): readonly string[] {
  const texts = values.map((_, index) => textOrIntegerAt(values, index, call))
  call.quota.spend(texts.reduce((sum, one) => sum + one.length, 0))
  return texts
}

function replace(values: readonly Json[], call: Call): Json {
  const text = textAt(values, 0, call)
  const old = textAt(values, 1, call)
  const made = textAt(values, 2, call)
  if (old === '') throw new EvaluationError(`${call.name}() cannot replace an empty string`)
  const parts = splitBy(text, old)
  call.quota.produce(text.length + (parts.length - 1) * (made.length - old.length))
  return parts.join(made)
}

function split(values: readonly Json[], call: Call): Json {
  const text = textAt(values, 0, call)
  const [, given = null] = values
  const delimiters = typeof given === 'string' ? [given] : delimitersOf(values, call)
  if (delimiters.length === 1) {
    const [only = ''] = delimiters
    return only === '' ? [text] : splitBy(text, only)
  }
  const compared = delimiters.reduce((sum, one) => sum + one.length, 0)
  call.quota.spend(text.length * (compared + 1))
  const made: string[] = []
  let start = 0
  let at = 0
  while (at < text.length) {
    // The first of the delimiters that stands here; empty ones never do.
    const found = delimiters.find((one) => one !== '' && text.startsWith(one, at))
    if (found === undefined) {
      at += 1
    } else {
      made.push(text.slice(start, at))
      at += found.length
      start = at
    }
  }
  return [...made, text.slice(start)]
}

/** The parts between the stars, each as early as it stands; the last one at the end. */
function like(values: readonly Json[], call: Call): Json {
  const text = folded(textAt(values, 0, call))
  const [first = '', ...parts] = folded(textAt(values, 1, call)).split('*')
  const last = parts.pop()
  if (last === undefined) return text === first
  call.quota.spend(text.length + parts.length)
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = positionIn(text, part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

function delimitersOf(values: readonly Json[], call: Call): readonly string[] {
  const given = values[1] ?? null
  if (!isArray(given)) return refuseKind(values, 1, call, 'a string or an array of strings')
  call.quota.spend(given.length)
  return given.map((_, index) => textAt(given, index, call))
}

function substring(values: readonly Json[], call: Call): Json {
  const text = textAt(values, 0, call)
  const start = integerAt(values, 1, call)
  const length = values.length > 2 ? integerAt(values, 2, call) : text.length - start
  if (start < 0 || length < 0 || start + length > text.length) {
    throw new EvaluationError(
      `the text has ${text.length} characters, not ${length} from ${start} on`,
    )
  }
  return text.slice(start, start + length)
}
