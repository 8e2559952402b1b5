/**
 * Whether a name holds a word that nobody may use. No word is reserved here, so what a name may be says its type alone.
 * Any signed-in caller may ask.
 */

import Type, { type Static } from 'typebox'
import { type ActionType, defineActions } from '#plane/declare/action.ts'
import { managerVersions } from '../../published-versions.ts'

const body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256 }),
  type: Type.String({ minLength: 1, maxLength: 256 }),
})

export function checkResourceName(): ActionType {
  return defineActions({
    type: 'Resources/checkResourceName',
    description: 'Whether a name holds a reserved word. None is.',
    scope: 'tenant',
    apiVersions: managerVersions,
    collectionActions: {
      POST: {
        method: 'POST',
        description: 'Tells whether a name holds a reserved word',
        open: true,
        countsAsRead: true,
        body,
        answer: Type.Object({
          name: Type.String(),
          type: Type.String(),
          status: Type.Enum(['Allowed', 'Reserved']),
        }),
        run(_context, { name, type }: Static<typeof body>) {
          return Promise.resolve({ status: 200, body: { name, type, status: 'Allowed' } })
        },
      },
    },
  })
}
