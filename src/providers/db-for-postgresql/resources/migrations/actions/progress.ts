/** The worker's progress in bytes and per table. The contract does not have this action. */

import Type from 'typebox'
import type { DatabaseEngine } from '#engines/databases/engine.ts'
import type { Action } from '#plane/declare/action.ts'
import { type Migration, tokenOfMigration } from '../model.ts'

const count = Type.Integer({ minimum: 0 })

const tableShape = Type.Object({
  name: Type.String({ description: '`schema.table`, quoted where SQL would need it.' }),
  state: Type.String({ description: '`queued`, `loading`, `completed` or `errored`.' }),
  bytesTotal: count,
  bytesCopied: count,
  bytesPerSecond: Type.Number(),
  rows: Type.Optional(count),
  message: Type.Optional(Type.String()),
})

export function migrationProgress(engine: DatabaseEngine): Action<Migration> {
  return {
    method: 'GET',
    description: 'Show bytes and tables of a migration while a worker is at it',
    permission: 'read',
    answer: Type.Object({
      worker: Type.String({ description: '`none`, `running`, `lost` or `ended`.' }),
      message: Type.String(),
      databases: Type.Array(
        Type.Object({
          name: Type.String(),
          phase: Type.String(),
          bytesTotal: count,
          bytesCopied: count,
          bytesPerSecond: Type.Number(),
          bytesBehind: Type.Optional(count),
          tables: Type.Array(tableShape),
        }),
      ),
    }),
    async run({ resource }) {
      if (resource === undefined) throw new Error('a stored resource is acted on')
      const { worker, message, databases } = await engine.observe(tokenOfMigration(resource))
      return { status: 200, body: { worker, message, databases } }
    },
  }
}
