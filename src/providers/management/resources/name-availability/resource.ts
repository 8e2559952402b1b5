/** Answers whether a management group may have a name: to whoever may ask at the root, as it tells which there are. */

import Type from 'typebox'
import { type ActionType, defineActions } from '#plane/declare/action.ts'
import { groupIdOf, groupName, groupNameRule } from '../../domain/hierarchy.ts'

export function nameAvailability(tenantId: string): ActionType {
  return defineActions({
    type: 'Management/checkNameAvailability',
    description: 'Whether a management group may have a name.',
    scope: 'tenant',
    apiVersions: ['2020-05-01'],
    collectionActions: {
      POST: {
        method: 'POST',
        description: 'Tells whether a management group may have a name',
        countsAsRead: true,
        body: Type.Object({
          name: Type.String({ maxLength: 256 }),
          type: Type.Optional(Type.String({ maxLength: 256 })),
        }),
        answer: Type.Object({
          nameAvailable: Type.Boolean(),
          reason: Type.Optional(Type.Enum(['Invalid', 'AlreadyExists'])),
          message: Type.Optional(Type.String()),
        }),
        async run({ reader, words }, { name }: { readonly name: string }) {
          const body = (reason: string, message: string): object => ({
            nameAvailable: false,
            reason,
            message,
          })
          if (!groupName.test(name)) {
            return { status: 200, body: body('Invalid', `A name is ${groupNameRule}.`) }
          }
          const at = groupIdOf(words, name)
          const isTenants = at.key === groupIdOf(words, tenantId).key
          const isTaken = isTenants || (await reader.get(at)) !== undefined
          const taken = body('AlreadyExists', `The management group '${name}' is there.`)
          return { status: 200, body: isTaken ? taken : { nameAvailable: true } }
        },
      },
    },
  })
}
