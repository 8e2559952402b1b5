/** The groups and subscriptions that the caller may read, each with the group that it lies in: one list for all levels. */

import Type from 'typebox'
import { nameOf, parentOf, rootId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { type ActionContext, type ActionType, defineActions } from '#plane/declare/action.ts'
import { pageOfItems } from '#plane/declare/answers.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { groupIdOf, types } from '../../domain/hierarchy.ts'
import type { ManagementGroup } from '../management-groups/model.ts'

/** As many of each kind as are looked through. */
const entitiesMax = 1000

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
          const [groups, places, subscriptions] = await Promise.all(
            [types.groups, types.subscriptions, 'Resources/subscriptions'].map((type) =>
              context.reader.list({ type, under: rootId, limit: entitiesMax }),
            ),
          )
          const placed = new Map(
            places?.map(({ id }) => [nameOf(id).toLowerCase(), parentOf(id).text]),
          )
          const root = groupIdOf(context.words, tenantId).text
          const shown = await Promise.all([
            ...(groups ?? []).map((one) => {
              // A row of this type, made by its `toModel`.
              const { displayName, parent } = one.model as ManagementGroup
              const within = parent === undefined ? root : groupIdOf(context.words, parent).text
              const type = qualify(context.words, types.groups)
              return show(context, one, {
                type,
                action: types.groups,
                displayName,
                within,
                tenantId,
              })
            }),
            ...(subscriptions ?? []).map((one) => {
              // Rows of that type have this member.
              const { displayName } = one.model as { readonly displayName: string }
              const within = placed.get(nameOf(one.id).toLowerCase()) ?? root
              const action = 'Resources/subscriptions'
              const type = '/subscriptions'
              return show(context, one, { type, action, displayName, within, tenantId })
            }),
          ])
          return { status: 200, body: { value: shown.flat() } }
        },
      },
    },
  })
}

interface Shown {
  readonly type: string
  readonly action: string
  readonly displayName: string
  readonly within: string
  readonly tenantId: string
}

/** Nothing of what the caller may not read. */
async function show(
  { may }: ActionContext<unknown>,
  { id }: Resource,
  { type, action, displayName, within, tenantId }: Shown,
): Promise<readonly object[]> {
  if (!(await may(`${action}/read`, id))) return []
  const permission = (await may(`${action}/write`, id)) ? 'edit' : 'view'
  const properties = { tenantId, displayName, parent: { id: within }, permission }
  return [{ id: id.text, name: nameOf(id), type, properties }]
}
