/** Schedules of settings and triggers: hourly or daily, counted from a moment. */

import Type from 'typebox'
import { added } from '#plane/declare/added.ts'

export interface Setting {
  readonly createdAt: string
  readonly userName: string
  readonly recurrenceInterval: 'Day' | 'Hour'
  readonly synchronizationTime: string
}

/** In milliseconds. */
export const intervals: Readonly<Record<Setting['recurrenceInterval'], number>> = {
  Day: 86_400_000,
  Hour: 3_600_000,
}

export const moment = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,7})?)?(Z|[+-]\\d\\d:\\d\\d)$',
  description: 'A moment, RFC 3339.',
})

export const schedule = Type.Object({
  recurrenceInterval: Type.Union([Type.Literal('Day'), Type.Literal('Hour')]),
  synchronizationTime: moment,
})

export function momentProblems(body: {
  readonly properties: { readonly synchronizationTime: string }
}) {
  return Number.isNaN(Date.parse(body.properties.synchronizationTime))
    ? [{ path: 'properties.synchronizationTime', message: 'expected a moment that exists' }]
    : []
}

export const settingAnswer = Type.Object({
  kind: Type.String(),
  properties: Type.Object({
    ...schedule.properties,
    createdAt: added(Type.String()),
    provisioningState: added(Type.String()),
    userName: added(Type.String()),
  }),
})

export function settingToWire(model: Setting, { state }: { readonly state: string }) {
  return { kind: 'ScheduleBased', properties: { ...model, provisioningState: state } }
}
