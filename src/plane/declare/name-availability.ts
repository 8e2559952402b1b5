/** `checkNameAvailability`: whether a resource may have a name. A PUT of that name behaves as the answer says. */

import Type from 'typebox'
import { scanForName } from '../resource-by-name.ts'
import { type ActionType, defineActions } from './action.ts'
import type { NameRule } from './wire.ts'

interface NamedType {
  /** `Storage/checkNameAvailability` */
  readonly type: string
  readonly apiVersions: readonly string[]
  readonly name: NameRule
  /**
   * The type whose names are unique in the installation. Without it names are unique per group only, so every valid
   * name is available.
   */
  readonly uniqueAmong?: string
  /** The reason words of the type's API family. */
  readonly reasons?: { readonly invalid: string; readonly taken: string }
}

export function nameAvailability(named: NamedType): ActionType {
  const { invalid, taken } = named.reasons ?? { invalid: 'Invalid', taken: 'AlreadyExists' }
  return defineActions({
    type: named.type,
    description: 'Whether a resource may have a name.',
    scope: 'subscription',
    apiVersions: named.apiVersions,
    collectionActions: {
      POST: {
        method: 'POST',
        description: 'Tells whether a resource may have a name',
        permission: 'read',
        countsAsRead: true,
        body: Type.Object({
          name: Type.String({ maxLength: 256 }),
          type: Type.Optional(Type.String({ maxLength: 256 })),
        }),
        answer: Type.Object({
          name: Type.String(),
          nameAvailable: Type.Boolean(),
          available: Type.Boolean(),
          reason: Type.Optional(Type.Enum([invalid, taken])),
          message: Type.String(),
        }),
        async run({ reader }, { name }: { readonly name: string }) {
          const answer = (isFree: boolean, reason: string | undefined, message: string) => ({
            status: 200,
            body: {
              name,
              nameAvailable: isFree,
              available: isFree,
              ...(reason === undefined ? {} : { reason }),
              message,
            },
          })
          if (!named.name.pattern.test(name)) {
            return answer(false, invalid, `A name is ${named.name.rule}.`)
          }
          const { uniqueAmong } = named
          const isTaken =
            uniqueAmong !== undefined &&
            (await scanForName(reader, uniqueAmong, name.toLowerCase())) !== undefined
          return isTaken
            ? answer(false, taken, `The name '${name}' is taken.`)
            : answer(true, undefined, '')
        },
      },
    },
  })
}
