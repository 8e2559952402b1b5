/** `checkMigrationNameAvailability` tells whether a migration of this server can have the name (facts 8.1). */

import Type from 'typebox'
import { childOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Action } from '#plane/declare/action.ts'
import { type PostgresDependencies, types } from '../../../dependencies.ts'
import { migrationName } from '../../../domain/migration-name.ts'

interface Body {
  readonly name: string
  readonly type: string
}

export function nameAvailability({ words }: Pick<PostgresDependencies, 'words'>): Action<never> {
  const action: Action<unknown> = {
    method: 'POST',
    description: 'Tell whether a migration may have a name',
    countsAsRead: true,
    body: Type.Object({
      name: Type.String({ maxLength: 256 }),
      type: Type.String({ maxLength: 256 }),
    }),
    answer: Type.Object({
      name: Type.String(),
      type: Type.String(),
      nameAvailable: Type.Boolean(),
      reason: Type.Optional(Type.String({ description: '`Invalid` or `AlreadyExists`.' })),
      message: Type.Optional(Type.String()),
    }),
    async run({ id, reader }, { name, type }: Body) {
      const requested = { name, type }
      const wanted = qualify(words, types.migrations)
      const no = (reason: string, message: string) => ({
        status: 200,
        body: { ...requested, nameAvailable: false, reason, message },
      })
      if (type.toLowerCase() !== wanted.toLowerCase()) {
        return no('Invalid', `The type must be '${wanted}'.`)
      }
      if (!migrationName.pattern.test(name)) {
        return no('Invalid', `A name is ${migrationName.rule}.`)
      }
      if ((await reader.get(childOf(id, 'migrations', name))) !== undefined) {
        return no('AlreadyExists', `The server has a migration '${name}'.`)
      }
      return { status: 200, body: { ...requested, nameAvailable: true } }
    },
  }
  // The schema above has checked its body.
  return action as Action<never>
}
