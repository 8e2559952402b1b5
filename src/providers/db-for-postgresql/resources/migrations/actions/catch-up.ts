/** Has the target take on what was altered at the source while changes flow; no part of the contract. */

import Type from 'typebox'
import type { DatabaseEngine } from '#engines/databases/engine.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { Action } from '#plane/declare/action.ts'
import { tokenOf } from '#plane/subject.ts'
import { attempt, failed } from '../../../domain/engine-failure.ts'
import { refuseParameters, refusePostgres } from '../../../errors.ts'
import { type Migration, migrationOf } from '../model.ts'

interface Body {
  readonly databases?: readonly string[]
}

const databasesMax = 50

export function migrationCatchUp(engine: DatabaseEngine): Action<Migration> {
  const action: Action<Migration> = {
    method: 'POST',
    description: 'Carry over what was altered at the source of an online migration',
    body: Type.Object({
      databases: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
          maxItems: databasesMax,
          description: 'All whose changes flow, when left out.',
        }),
      ),
    }),
    bodyOptional: true,
    answer: Type.Object({ databases: Type.Array(Type.String()) }),
    async run({ resource }, body: Body | undefined) {
      if (resource === undefined) throw new Error('a stored resource is acted on')
      const { progress } = migrationOf(resource)
      const flowing = (progress?.databases ?? [])
        .filter(({ migrationOperation }) => migrationOperation === 'ReplicatingChanges')
        .map(({ databaseName }) => databaseName)
      const databases = body?.databases ?? flowing
      const wrong = databases.findIndex((name) => !flowing.includes(name))
      if (wrong >= 0) {
        const message = `expected a database whose changes flow (${flowing.join(', ') || 'there is none'})`
        throw refuseParameters([{ path: `databases[${wrong}]`, message }])
      }
      const refuse = (reason: string) =>
        refusePostgres.MigrationStateConflict({
          name: nameOf(resource.id),
          state: progress?.state ?? 'InProgress',
          substate: progress?.subState ?? 'PerformingPreRequisiteSteps',
          reason,
          number: '',
        })
      if (databases.length === 0) throw refuse('the changes of no database flow')
      const token = tokenOf(resource.id, resource.systemData.createdAt)
      const outcome = await attempt(() => engine.catchUp(token, databases))
      if (failed(outcome)) throw refuse(outcome.message)
      return { status: 200, body: { databases } }
    },
  }
  return action
}
