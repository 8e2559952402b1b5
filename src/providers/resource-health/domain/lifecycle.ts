/** Checks and stores steps of an event: by operators, by timelines, by signals. */

import type { Problem } from '#kernel/error.ts'
import type { SqlTx } from '#stores/store.ts'
import { refuseHealth } from '../errors.ts'
import type { HealthEvent, StepName, WrittenEvent, WrittenStep } from './event.ts'
import type { EventStore } from './event-store.ts'
import {
  annotated,
  type Changed,
  mitigated,
  published,
  reported,
  resolved,
  updated,
} from './event-transitions.ts'

export interface Step {
  readonly name: StepName
  readonly body: WrittenEvent | WrittenStep
}

export interface Asking {
  readonly trackingId: string
  /** `/`, or the key of the subscription of the request; events of others do not exist there. */
  readonly owner: string
  readonly now: number
  /** The id of the principal; the installation itself when left out. */
  readonly by?: string
}

/** Throws the refusals. `also` runs in the same transaction. */
export function takeStep(
  eventStore: EventStore,
  { trackingId, owner, now, by = 'system' }: Asking,
  step: Step,
  also?: (tx: SqlTx) => Promise<void>,
): Promise<HealthEvent> {
  return eventStore.change(
    trackingId,
    (event) => {
      if (step.name === 'publish') {
        if (event !== undefined) throw refuseHealth.EventExists({ name: trackingId })
        return accepted(published({ trackingId, owner, by }, step.body as WrittenEvent, now))
      }
      // The installation's operator may change every event, a subscription's only its own.
      if (event === undefined || (owner !== '/' && event.owner !== owner)) {
        throw refuseHealth.EventNotFound({ name: trackingId })
      }
      if (event.properties.status === 'Resolved' && step.name !== 'annotate') {
        throw refuseHealth.EventResolved({ name: trackingId })
      }
      return { ...accepted(changed(event, step, now, by === 'system')), changedBy: by }
    },
    also,
  )
}

/** The body was validated by the schema of the step's name. */
function changed(event: HealthEvent, { name, body }: Step, now: number, isOwn: boolean): Changed {
  switch (name) {
    case 'publish':
    case 'update':
      return updated(event, body as WrittenEvent, now)
    case 'mitigate':
      return mitigated(event, body as WrittenStep, now)
    case 'resolve':
      return resolved(event, body as WrittenStep, now)
    case 'annotate':
      return (isOwn ? reported : annotated)(event, body as WrittenStep, now)
  }
}

function accepted(change: Changed): HealthEvent {
  if (change.ok) return change.event
  throw refuseEvent(change.problems)
}

export function refuseEvent(problems: readonly Problem[]): Error {
  const reason = problems.map((one) => `${one.path} ${one.message}`).join('; ')
  return refuseHealth.InvalidEvent(
    { reason },
    {
      details: problems.map(({ path, message }) => ({
        code: 'InvalidEvent',
        target: path,
        message,
      })),
    },
  )
}
