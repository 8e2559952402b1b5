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
  const parts: string[] = []
  let size = 0
  let at = 0
  const add = (part: string): void => {
    size += part.length
    quota.produce(part.length)
    parts.push(part)
  }
  while (at < format.length) {
    plainPattern.lastIndex = at
    const plain = plainPattern.exec(format)?.[0] ?? ''
    if (plain !== '') add(plain)
    const next = at + plain.length
    if (next === format.length) break
    const brace = format[next]
    if (format[next + 1] === brace) {
      add(brace ?? '')
      at = next + 2
    } else {
      if (brace === '}') throw new EvaluationError(`the format has a single '}' at ${next}`)
      itemPattern.lastIndex = next + 1
      const found = itemPattern.exec(format)
      if (found === null) {
        throw new EvaluationError(`the format has no item like {0} at ${next}`)
      }
      add(item(found, values, quota))
      at = itemPattern.lastIndex
    }
  }
  quota.produce(size)
  return parts.join('')
}

function item(
  [, index, width, specifier]: RegExpExecArray,
  values: readonly Json[],
  quota: EvaluationQuota,
): string {
  const value = values[Number(index)]
  if (value === undefined) {
    throw new EvaluationError(`the format asks for {${index}}; there are ${values.length} values`)
  }
  const plain = specifier?.replaceAll('{{', '{').replaceAll('}}', '}') ?? ''
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  const text = isNumber && plain !== '' ? formatNumber(value, plain) : textOf(value, quota)
  const wide = Number(width ?? 0)
  if (Math.abs(wide) > widthMax) {
    throw new EvaluationError(`the width of an item is at most ${widthMax}`)
  }
  quota.produce(Math.abs(wide))
  return wide < 0 ? text.padEnd(-wide) : text.padStart(wide)
}
