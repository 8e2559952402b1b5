/**
 * Composite formatting: `{index,width:format}` in a text, with the number formats of the invariant culture. The
 * size of the result is checked before it is made.
 */

import type { EvaluationQuota } from '../evaluation-quota.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import { formatNumber } from './format-number.ts'
import { textOf } from './values.ts'

const itemPattern = /([0-9]{1,6})\s*(?:,\s*(-?[0-9]{1,9})\s*)?(?::((?:[^{}]|\{\{|\}\}){0,200}))?\}/y
const plainPattern = /[^{}]*/y
const widthMax = 1_000_000

export function formatComposite(
  format: string,
  values: readonly Json[],
  quota: EvaluationQuota,
): string {
  let made = ''
  for (const one of readFormat(format)) {
    if (typeof one === 'object' && 'wrong' in one) throw new EvaluationError(one.wrong)
    const text = typeof one === 'string' ? one : textOfItem(one, values, quota)
    quota.produce(text.length)
    made += text
  }
  quota.produce(made.length)
  return made
}

interface Item {
  readonly index: string
  readonly wide: number
  readonly specifier: string
}

/** Plain text, an item, or why nothing more can be read. */
type FormatElement = string | Item | { readonly wrong: string }

/** The last formats that were read: a loop uses the same one for each of its resources. */
const readFormats = new Map<string, readonly FormatElement[]>()
const formatsMax = 100
const formatLengthMax = 1_000

function readFormat(format: string): Iterable<FormatElement> {
  // Of a long one the quota may end the evaluation before all of it is read.
  if (format.length > formatLengthMax) return elementsOf(format)
  const known = readFormats.get(format)
  if (known !== undefined) return known
  const read = [...elementsOf(format)]
  if (readFormats.size >= formatsMax) readFormats.clear()
  readFormats.set(format, read)
  return read
}

function* elementsOf(format: string): Generator<FormatElement> {
  let at = 0
  while (at < format.length) {
    plainPattern.lastIndex = at
    const plain = plainPattern.exec(format)?.[0] ?? ''
    if (plain !== '') yield plain
    const next = at + plain.length
    if (next === format.length) return
    const brace = format[next]
    if (format[next + 1] === brace) {
      yield brace ?? ''
      at = next + 2
      continue
    }
    itemPattern.lastIndex = next + 1
    const found = brace === '}' ? null : itemPattern.exec(format)
    if (found === null) {
      const isSingle = brace === '}'
      const wrong = isSingle ? "has a single '}'" : 'has no item like {0}'
      yield { wrong: `the format ${wrong} at ${next}` }
      return
    }
    const [, index = '', width = '0', specifier = ''] = found
    const plainSpecifier = specifier.replaceAll('{{', '{').replaceAll('}}', '}')
    yield { index, wide: Number(width), specifier: plainSpecifier }
    at = itemPattern.lastIndex
  }
}

function textOfItem(
  { index, wide, specifier }: Item,
  values: readonly Json[],
  quota: EvaluationQuota,
): string {
  const value = values[Number(index)]
  if (value === undefined) {
    throw new EvaluationError(`the format asks for {${index}}; there are ${values.length} values`)
  }
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  const text = isNumber && specifier !== '' ? formatNumber(value, specifier) : textOf(value, quota)
  if (Math.abs(wide) > widthMax) {
    throw new EvaluationError(`the width of an item is at most ${widthMax}`)
  }
  quota.produce(Math.abs(wide))
  return wide < 0 ? text.padEnd(-wide) : text.padStart(wide)
}
