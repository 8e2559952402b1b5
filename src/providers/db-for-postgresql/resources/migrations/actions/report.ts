/** The result of a migration, also after its worker's record is removed. The contract does not have this action. */

import Type from 'typebox'
import type { DatabaseEngine, DatabaseReport, ServerAddress } from '#engines/databases/engine.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { isoTime } from '../../../dependencies.ts'
import {
  type Migration,
  migrationOf,
  type Progress,
  type ServerMetadata,
  tokenOfMigration,
} from '../model.ts'

const count = Type.Integer({ minimum: 0 })

const databaseShape = Type.Object({
  name: Type.String(),
  outcome: Type.String({ description: '`succeeded`, `failed`, `canceled`, or where it is.' }),
  attempts: count,
  startedOn: Type.Optional(Type.String()),
  endedOn: Type.Optional(Type.String()),
  bytesCopied: count,
  appliedChanges: Type.Integer({ minimum: 0, description: 'Row changes after the copy.' }),
  pauseMilliseconds: Type.Optional(
    Type.Integer({ minimum: 0, description: 'So long nobody could write, at the cutover.' }),
  ),
  verified: Type.Optional(
    Type.Object({
      how: Type.String({ description: '`none`, `counts` or `checksums`.' }),
      tables: count,
      rows: count,
    }),
  ),
  leftOut: Type.Array(Type.String({ description: 'What did not come along, and why.' })),
  message: Type.String(),
  tables: Type.Array(
    Type.Object({
      name: Type.String(),
      rows: count,
      bytes: count,
      milliseconds: count,
      compared: added(
        Type.Object({
          how: Type.String({ description: '`counts` or `checksums`, the same at both ends.' }),
          rows: count,
          milliseconds: count,
        }),
      ),
    }),
  ),
  tablesNotShown: count,
})

const serverShape = Type.Object({
  address: Type.String({ description: '`host:port`.' }),
  version: Type.Optional(Type.String({ description: 'Its major version.' })),
})

export function migrationReport(engine: DatabaseEngine): Action<Migration> {
  return {
    method: 'GET',
    description: 'Show what has come of a migration, table by table',
    permission: 'read',
    answer: Type.Object({
      name: Type.String(),
      mode: Type.String(),
      state: Type.String(),
      source: added(serverShape),
      target: added(serverShape),
      databases: Type.Array(databaseShape),
    }),
    async run({ resource }) {
      if (resource === undefined) throw new Error('a stored resource is acted on')
      const { model, progress } = migrationOf(resource)
      const token = tokenOfMigration(resource)
      const databases = progress?.report ?? (await engine.report(token))
      const body = {
        name: nameOf(resource.id),
        mode: model.mode,
        state: progress?.state ?? 'InProgress',
        ...serversOf(progress),
        databases: databases.map(show),
      }
      return { status: 200, body }
    },
  }
}

/** Where the worker was sent. */
function serversOf(progress: Progress | undefined): object {
  const { plan, source, target } = progress ?? {}
  if (plan === undefined) return {}
  const shown = ({ host, port }: ServerAddress, metadata: ServerMetadata | undefined) => ({
    address: `${host}:${port}`,
    ...(metadata === undefined ? {} : { version: metadata.version }),
  })
  return { source: shown(plan.source, source), target: shown(plan.target, target) }
}

function show({ startedAt, endedAt, ...database }: DatabaseReport): object {
  return {
    ...database,
    ...(startedAt === undefined ? {} : { startedOn: isoTime(startedAt) }),
    ...(endedAt === undefined ? {} : { endedOn: isoTime(endedAt) }),
  }
}
