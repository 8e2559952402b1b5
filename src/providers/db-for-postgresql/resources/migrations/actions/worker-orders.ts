/**
 * Orders to the worker that the contract does not have: catch up with the source, and start failed databases again.
 */

import Type from 'typebox'
import type { DatabaseEngine } from '#engines/databases/engine.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type {
  ActionContext,
  ActionOutcome,
  ReadingAction,
  WritingAction,
} from '#plane/declare/action.ts'
import { attempt, failed } from '../../../domain/engine-failure.ts'
import { refuseParameters, refusePostgres } from '../../../errors.ts'
import {
  type DatabaseState,
  type Migration,
  migrationOf,
  type Progress,
  tokenOfMigration,
} from '../model.ts'

interface Body {
  readonly databases?: readonly string[]
}

interface WorkerOrder {
  readonly description: string
  /** True for databases that the order can name. */
  isMeant(database: DatabaseState): boolean
  /** The condition in words, after "a database". */
  readonly which: string
  order(migration: string, databases: readonly string[]): Promise<void>
  /** The model that is stored instead if the migration has ended. Left out if nothing can be done then. */
  readonly afterEnd?: (
    model: Migration,
    progress: Progress,
    databases: readonly string[],
  ) => Migration
}

const databasesMax = 50

/** It runs inside a transaction or outside. */
type Order = Omit<ReadingAction<Migration>, 'run' | 'writes'> & {
  run(
    context: Pick<ActionContext<Migration>, 'resource'>,
    body: never,
  ): Promise<ActionOutcome<Migration>>
}

export function migrationCatchUp(engine: DatabaseEngine): ReadingAction<Migration> {
  return orderOf({
    description: 'Carry over what was altered at the source of an online migration',
    isMeant: ({ migrationOperation }) => migrationOperation === 'ReplicatingChanges',
    which: 'whose changes flow',
    order: (migration, databases) => engine.catchUp(migration, databases),
  })
}

export function migrationRetry(engine: DatabaseEngine): WritingAction<Migration> {
  const order = orderOf({
    description:
      'Begin databases anew that have failed, while the others of the migration go on, or after its end',
    // One that is being cleaned up is begun anew after that.
    isMeant: ({ migrationState }) => migrationState === 'Failed',
    which: 'that has failed',
    order: (migration, databases) => engine.retry(migration, databases),
    afterEnd: inAnotherRound,
  })
  return { ...order, writes: true }
}

/** Earlier orders for these databases are over. A cutover has to be asked for again. */
function inAnotherRound(
  model: Migration,
  progress: Progress,
  databases: readonly string[],
): Migration {
  const without = (list: readonly string[] | 'all'): readonly string[] =>
    (list === 'all' ? (model.databases ?? []) : list).filter((name) => !databases.includes(name))
  const { cutover, cancel } = model.asked
  return {
    ...model,
    asked: { cutover: without(cutover), cancel: without(cancel) },
    round: { number: (progress.round ?? 0) + 1, databases },
  }
}

function orderOf({ description, isMeant, which, order, afterEnd }: WorkerOrder): Order {
  return {
    method: 'POST',
    description,
    body: Type.Object({
      databases: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
          maxItems: databasesMax,
          description: `Every one ${which}, when left out.`,
        }),
      ),
    }),
    bodyOptional: true,
    answer: Type.Object({ databases: Type.Array(Type.String()) }),
    async run({ resource }, body: Body | undefined) {
      if (resource === undefined) throw new Error('a stored resource is acted on')
      const { model, progress } = migrationOf(resource)
      const refuse = (reason: string) =>
        refusePostgres.MigrationStateConflict({
          name: nameOf(resource.id),
          state: progress?.state ?? 'InProgress',
          substate: progress?.subState ?? 'PerformingPreRequisiteSteps',
          reason,
          number: '',
        })
      const meant = (progress?.databases ?? []).filter(isMeant).map((one) => one.databaseName)
      const databases = body?.databases ?? meant
      const wrong = databases.findIndex((name) => !meant.includes(name))
      if (wrong >= 0) {
        const message = `expected a database ${which} (${meant.join(', ') || 'there is none'})`
        throw refuseParameters([{ path: `databases[${wrong}]`, message }])
      }
      if (databases.length === 0) throw refuse(`there is no database ${which}`)
      if (progress?.isSettled === true) {
        if (afterEnd === undefined) throw refuse('it is at its end')
        if (model.round !== undefined && model.round.number > (progress.round ?? 0)) {
          throw refuse(`${model.round.databases.join(', ')} are being begun anew already`)
        }
        return { status: 200, body: { databases }, model: afterEnd(model, progress, databases) }
      }
      const token = tokenOfMigration(resource)
      const outcome = await attempt(() => order(token, databases))
      if (failed(outcome)) throw refuse(outcome.message)
      return { status: 200, body: { databases } }
    },
  }
}
