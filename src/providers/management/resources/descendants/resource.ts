/** What lies in a management group, at any depth: groups and subscriptions, each with the group that it lies in. */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { types } from '../../domain/hierarchy.ts'
import { placedByGroup, readPlaced } from '../../domain/placed.ts'

const text = Type.String()
const answer = Type.Object({
  id: text,
  name: text,
  type: text,
  properties: Type.Object({ displayName: text, parent: Type.Object({ id: text }) }),
})

export function descendants(tenantId: string): ResourceType {
  return defineComputed({
    type: `${types.groups}/descendants`,
    description: 'The groups and subscriptions in a management group, at any depth.',
    scope: 'tenant',
    apiVersions: ['2020-05-01'],
    bare: true,
    answer,
    source: {
      async list(context) {
        const { parent, cursor, limit } = context
        const all = await readPlaced(context, tenantId)
        const byGroup = placedByGroup(all)
        // Grows while it is walked: what lies in a group comes after the group.
        const found = [...(byGroup.get(parent.key) ?? [])]
        for (const { id } of found) {
          if (found.length > all.length) break
          found.push(...(byGroup.get(id.key) ?? []))
        }
        const from = Number(cursor ?? 0)
        const items = found
          .slice(from, from + limit)
          .map(({ id, wireType: type, displayName, within }) => ({
            id: id.text,
            name: nameOf(id),
            type,
            properties: { displayName, parent: { id: within.text } },
          }))
        return found.length > from + limit ? { items, next: String(from + limit) } : { items }
      },
    },
  })
}
