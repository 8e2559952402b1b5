/** Steps that are due later, by the installation's clock. They survive a restart. */

import Type from 'typebox'
import { parseDuration } from '#kernel/filter/moments.ts'
import type { Ids } from '#kernel/ports.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Sql } from '#stores/store.ts'
import { refuseHealth } from '../errors.ts'
import { eventBodyOf, type StepName, stepBody, stepNames } from './event.ts'
import { type Asking, refuseEvent, type Step } from './lifecycle.ts'

/** Of one subscription, or of the installation itself: nobody keeps others from theirs. */
const stepsMax = 10_000

/** One entry of a timeline: the time after now, the step, and its body. */
const entryOf = (words: VendorWords) =>
  Type.Union([
    Type.Object(
      {
        after: Type.String({ pattern: '^P', maxLength: 40 }),
        step: Type.Unsafe<StepName>({ type: 'string', enum: ['publish', 'update'] }),
        body: eventBodyOf(words),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        after: Type.String({ pattern: '^P', maxLength: 40 }),
        step: Type.Unsafe<StepName>({
          type: 'string',
          enum: stepNames.filter((name) => name !== 'publish' && name !== 'update'),
        }),
        body: stepBody,
      },
      { additionalProperties: false },
    ),
  ])

export const timelineBody = (words: VendorWords) =>
  Type.Object(
    { steps: Type.Array(entryOf(words), { minItems: 1, maxItems: 1000 }) },
    { additionalProperties: false },
  )

export interface Timeline {
  readonly steps: readonly {
    readonly after: string
    readonly step: StepName
    readonly body: Step['body']
  }[]
}

export interface DueStep {
  readonly id: string
  readonly trackingId: string
  readonly owner: string
  readonly by: string
  readonly dueAt: number
  readonly step: Step
}

interface StoredStep extends Step {
  readonly owner: string
  readonly by: string
  readonly trackingId: string
}

/** Throws for an invalid duration, or when too many steps wait already. */
export async function keepTimeline(
  sql: Sql,
  ids: Ids,
  requested: Required<Asking>,
  timeline: Timeline,
): Promise<readonly number[]> {
  const due = timeline.steps.map((one) => parseDuration(one.after))
  const wrong = due.flatMap((length, at) =>
    length === undefined || length < 0
      ? [{ path: `steps[${at}].after`, message: 'expected an ISO 8601 length of time, like PT5M' }]
      : [],
  )
  if (wrong.length > 0) throw refuseEvent(wrong)
  const { trackingId, owner, by } = requested
  const waitingOf = 'select count(*) as n from health_steps where owner = ?'
  const [waiting] = await sql.all(waitingOf, owner)
  if (Number(waiting?.['n'] ?? 0) + due.length > stepsMax) {
    throw refuseHealth.TooManySteps({ limit: stepsMax })
  }
  const times = due.map((length) => requested.now + Math.round(length ?? 0))
  await sql.transact(async (tx) => {
    for (const [position, { step, body }] of timeline.steps.entries()) {
      const kept: StoredStep = { name: step, body, owner, by, trackingId }
      await tx.run(
        `insert into health_steps (id, tracking_id, due_at, position, owner, step)
          values (?, ?, ?, ?, ?, ?)`,
        ...[ids.uuid(), trackingId.toLowerCase(), times[position] ?? requested.now, position],
        ...[owner, JSON.stringify(kept)],
      )
    }
  })
  return times
}

/** The next step, in order of time and of the timeline. */
export async function nextStep(sql: Sql): Promise<DueStep | undefined> {
  const [row] = await sql.all(
    'select id, due_at, step from health_steps order by due_at, position limit 1',
  )
  if (row === undefined) return undefined
  // Only `keepTimeline` writes this.
  const { name, body, owner, by, trackingId } = JSON.parse(String(row['step'])) as StoredStep
  return {
    id: String(row['id']),
    dueAt: Number(row['due_at']),
    owner,
    by,
    trackingId,
    step: { name, body },
  }
}
