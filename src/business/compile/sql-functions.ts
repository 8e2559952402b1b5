/** Writes the functions of filters as SQL for each store. */

import { decimalUnit } from '../entity.ts'
import type { CallExpression } from './expression.ts'
import {
  bare,
  castNames,
  computed,
  type Dialect,
  type Fragment,
  joined,
  nothing,
  parameter,
} from './fragment.ts'

/** A call whose arguments `values` writes. */
export function callOf(
  dialect: Dialect,
  call: CallExpression,
  values: () => readonly Fragment[],
): Fragment {
  const isPostgres = dialect === 'postgres'
  // A null constant makes the result null; the stores would not know its type.
  if (call.arguments.some((one) => one.kind === 'null')) {
    return bare(
      isPostgres ? `null::${call.kind === 'boolean' ? 'boolean' : castNames[call.kind]}` : 'null',
    )
  }
  const [first = nothing, second = nothing, third] = values()
  switch (call.name) {
    case 'real':
      return realOf(dialect, call, first)
    case 'contains':
      return joined(isPostgres ? '(strpos(' : '(instr(', first, ', ', second, ') > 0)')
    case 'startswith':
      return joined('(substr(', first, ', 1, length(', second, ')) = ', second, ')')
    case 'endswith': {
      const from = joined('length(', first, ') - length(', second, ')')
      const tail = joined('substr(', first, ', ', from, ' + 1) = ', second)
      return joined('(', from, ' >= 0 and ', tail, ')')
    }
    case 'tolower':
      return joined('lower(', first, isPostgres ? ' collate "C")' : ')')
    case 'toupper':
      return joined('upper(', first, isPostgres ? ' collate "C")' : ')')
    case 'trim':
      return joined(
        isPostgres ? 'btrim(' : 'trim(',
        first,
        ', ',
        parameter(dialect, 'text', ' \t\n\r'),
        ')',
      )
    case 'concat':
      return joined('(', first, ' || ', second, ')')
    case 'length':
      return joined('length(', first, ')')
    case 'indexof':
      return joined(isPostgres ? '(strpos(' : '(instr(', first, ', ', second, ') - 1)')
    case 'substring': {
      const from = joined(positionOf(dialect, second), ' + 1')
      if (third === undefined) return joined('substr(', first, ', ', from, ')')
      return joined('substr(', first, ', ', from, ', ', positionOf(dialect, third), ')')
    }
    case 'round':
      // Halves round away from zero. One store's own function does so; the other's does not.
      if (!isPostgres) return joined('round(', first, ')')
      return computed('sign(v0) * floor(abs(v0) + 0.5)', first)
    case 'floor':
      return joined('floor(', first, ')')
    case 'ceiling':
      return joined('ceil(', first, ')')
    default:
      return partOfMoment(dialect, call, first)
  }
}

function realOf(dialect: Dialect, call: CallExpression, value: Fragment): Fragment {
  const double = dialect === 'postgres' ? 'double precision' : 'real'
  const number = joined('cast(', value, ` as ${double})`)
  if (call.arguments[0]?.kind !== 'decimal') return number
  return joined('(', number, ` / cast(${decimalUnit}.0 as ${double}))`)
}

/** A position in a text, kept within what both stores accept. */
function positionOf(dialect: Dialect, value: Fragment): Fragment {
  return dialect === 'postgres'
    ? joined('cast(least(greatest(', value, ', 0), 1000000) as integer)')
    : joined('cast(min(max(', value, ', 0), 1000000) as integer)')
}

/** Parts of dates, which are text, and of moments, which are milliseconds. */
function partOfMoment(dialect: Dialect, call: CallExpression, value: Fragment): Fragment {
  const isMoment = call.arguments[0]?.kind === 'moment'
  const isPostgres = dialect === 'postgres'
  const text = !isMoment
    ? value
    : isPostgres
      ? joined('to_char(to_timestamp(', value, " / 1000.0) at time zone 'UTC', 'YYYY-MM-DD')")
      : joined("strftime('%Y-%m-%d', ", value, " / 1000.0, 'unixepoch')")
  const digits = (from: number, length: number): Fragment =>
    joined('cast(substr(', text, `, ${from}, ${length}) as ${isPostgres ? 'bigint' : 'integer'})`)
  // Milliseconds of the day, also for moments before 1970.
  const day = 86_400_000
  const whole = isPostgres ? value : joined('cast(', value, ' as integer)')
  const time = joined('((', whole, ` % ${day}) + ${day}) % ${day}`)
  switch (call.name) {
    case 'date':
      return text
    case 'year':
      return digits(1, 4)
    case 'month':
      return digits(6, 2)
    case 'day':
      return digits(9, 2)
    case 'hour':
      return joined('((', time, ') / 3600000)')
    case 'minute':
      return joined('(((', time, ') / 60000) % 60)')
    case 'second':
      return joined('(((', time, ') / 1000) % 60)')
    default:
      throw new Error(`No SQL is known for ${call.name}.`)
  }
}
