/**
 * The tag names of a subscription with their values, each with how many groups and resources carry it. Counted where they
 * are, so that there is nothing to keep in step; names cannot be declared beforehand.
 */

import Type from 'typebox'
import type { ResourceId } from '#kernel/resource-id.ts'
import { type ComputedType, defineComputed } from '#plane/declare/computed.ts'
import type { ListContext } from '#plane/declare/wire.ts'
import { pageOfArray } from '../../domain/page-of-array.ts'
import type { ResourceListDependencies } from '../resource-lists/resource.ts'

const rowsAtOnce = 500

const count = Type.Object({ type: Type.Literal('Total'), value: Type.Integer() })
const tagName = Type.Object({
  id: Type.String(),
  tagName: Type.String(),
  count,
  values: Type.Array(Type.Object({ id: Type.String(), tagValue: Type.String(), count })),
})

interface Counted {
  readonly name: string
  readonly values: Map<string, number>
}

export function tagNames(deps: ResourceListDependencies): ComputedType {
  return defineComputed({
    type: 'Resources/subscriptions/tagNames',
    description: 'The tag names and values in use in a subscription.',
    scope: 'implied',
    apiVersions: ['2021-04-01'],
    answer: tagName,
    source: {
      async list(context) {
        const found = await countTags(context, deps)
        const names = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
        return pageOfArray(
          names.map((one) => show(context.parent, one)),
          context,
        )
      },
    },
  })
}

/** Names are told apart without their case, values with it. Of what lies beyond the bound of a scan nothing is counted. */
async function countTags(
  { parent, reader }: ListContext,
  { listTracked, scanRowsMax }: ResourceListDependencies,
): Promise<ReadonlyMap<string, Counted>> {
  const found = new Map<string, Counted>()
  const add = (tags: Readonly<Record<string, string>> = {}): void => {
    for (const [name, value] of Object.entries(tags)) {
      const known = found.get(name.toLowerCase()) ?? { name, values: new Map() }
      known.values.set(value, (known.values.get(value) ?? 0) + 1)
      found.set(name.toLowerCase(), known)
    }
  }
  const type = 'Resources/subscriptions/resourceGroups'
  for (const { tags } of await reader.list({ type, under: parent, limit: scanRowsMax })) add(tags)
  let after: string | undefined
  for (let seen = 0; seen < scanRowsMax; seen += rowsAtOnce) {
    const from = after === undefined ? {} : { after }
    const page = await listTracked({ under: parent, ...from, limit: rowsAtOnce })
    for (const { resource } of page.items) add(resource.tags)
    after = page.next
    if (after === undefined) break
  }
  return found
}

function show(subscription: ResourceId, { name, values }: Counted): object {
  const id = `${subscription.text}/tagNames/${name}`
  const total = (value: number): object => ({ type: 'Total', value })
  return {
    id,
    tagName: name,
    count: total([...values.values()].reduce((sum, one) => sum + one, 0)),
    values: [...values].map(([value, many]) => ({
      id: `${id}/tagValues/${value}`,
      tagValue: value,
      count: total(many),
    })),
  }
}
