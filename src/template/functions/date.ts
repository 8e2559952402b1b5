/** Functions of dates and times, all in UTC. The current time is the deployment's moment. */
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Call, ValueFunction } from './define.ts'
import { formatMoment, momentOf, type ReadMoment, readDuration, readMoment } from './moment.ts'
import { integerAt, textAt } from './values.ts'

const group = 'date'

export const dateFunctions: readonly ValueFunction[] = [
  {
    name: 'dateTimeAdd',
    group,
    parameters: 'base, duration, [format]',
    least: 2,
    most: 3,
    doc: 'The date and time so much later (or earlier, with a minus), in the format or in the form of the base.',
    apply(values, call) {
      const { moment, format } = dateAt(values, 0, call)
      const text = textAt(values, 1, call)
      const duration = readDuration(text)
      if (duration === undefined) {
        throw new EvaluationError(`'${text}' is no ISO 8601 duration, such as P3D or -PT90M`)
      }
      const later = momentOf(moment.seconds + duration.seconds, moment.ticks + duration.ticks)
      return formatMoment(later, formatAt(values, 2, call) ?? format)
    },
  },
  {
    name: 'dateTimeFromEpoch',
    group,
    parameters: 'seconds',
    least: 1,
    most: 1,
    doc: 'The date and time so many seconds after the beginning of 1970, in ISO 8601.',
    apply: (values, call) =>
      formatMoment(momentOf(integerAt(values, 0, call)), "yyyy-MM-dd'T'HH:mm:ss'Z'"),
  },
  {
    name: 'dateTimeToEpoch',
    group,
    parameters: 'dateTime',
    least: 1,
    most: 1,
    doc: 'The seconds from the beginning of 1970 to a date and time.',
    apply: (values, call) => dateAt(values, 0, call).moment.seconds,
  },
  {
    name: 'utcNow',
    group,
    parameters: '[format]',
    least: 0,
    most: 1,
    doc: 'The moment of the deployment, by default as yyyyMMddTHHmmssZ; only in default values of parameters.',
    apply(values, call) {
      const { now } = call.scope.context
      const moment = momentOf(Math.floor(now / 1000), (((now % 1000) + 1000) % 1000) * 10_000)
      return formatMoment(moment, formatAt(values, 0, call) ?? "yyyyMMdd'T'HHmmss'Z'")
    },
  },
]

function dateAt(values: readonly Json[], index: number, call: Call): ReadMoment {
  const text = textAt(values, index, call)
  const read = readMoment(text)
  if (read === undefined) {
    throw new EvaluationError(`'${text}' is no date and time, such as 2026-11-21T06:00:00Z`)
  }
  return read
}

/** Undefined when none is given. */
function formatAt(values: readonly Json[], index: number, call: Call): string | undefined {
  if (values.length <= index) return undefined
  const format = textAt(values, index, call)
  return format === '' ? undefined : format
}
