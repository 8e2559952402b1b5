/** The groups and subscriptions that the caller may read, each with the group that it lies in: one list for all levels. */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { type ActionType, defineActions } from '#plane/declare/action.ts'
import { pageOfItems } from '#plane/declare/answers.ts'
import { readPlaced } from '../../domain/placed.ts'

const text = Type.String()
const entity = Type.Object({
  id: text,
  name: text,
  type: text,
  properties: Type.Object({
    tenantId: text,
    displayName: text,
    parent: Type.Object({ id: text }),
    permission: Type.Enum(['view', 'edit']),
  }),
})

export function entities(tenantId: string): ActionType {
  return defineActions({
    type: 'Management/getEntities',
    description: 'The groups and subscriptions that the caller may read.',
    scope: 'tenant',
    apiVersions: ['2020-05-01'],
    collectionActions: {
      POST: {
        method: 'POST',
        description: 'Lists groups and subscriptions with what they lie in',
        open: true,
        countsAsRead: true,
        answer: pageOfItems(entity),
        async run(context) {
          const shown = (await readPlaced(context, tenantId)).map(
            async ({ id, wireType: type, action, displayName, within }) => {
              const permission = (await context.may(`${action}/write`, id)) ? 'edit' : 'view'
              const properties = { tenantId, displayName, parent: { id: within.text }, permission }
              return { id: id.text, name: nameOf(id), type, properties }
            },
          )
          return { status: 200, body: { value: await Promise.all(shown) } }
        },
      },
    },
  })
}
