/** Named values, which policies refer to. No policy runs here, so nothing else reads them. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import type { Seal } from '#kernel/ports.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { Action } from '#plane/declare/action.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { definitionDates } from '../../published-versions.ts'
import type { NamedValue } from './model.ts'
import { missingValue, namedValue } from './versions/2021-08-01.ts'

const type = 'ApiManagement/service/namedValues'
const hush = 'hush-named-value'

export function namedValues({ seal }: { readonly seal: Seal }): ResourceType {
  return defineStored<NamedValue>({
    type,
    description:
      'A value that policies speak of by name. A secret one is shown by `listValue` alone.',
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(256),
    movable: true,
    versions: definitionDates.map((date) => namedValue(date, seal)),
    protocol: {
      headStatus: 200,
      anyMatchCreates: true,
      answers: { created: { leadsTo: 'operation' } },
    },
    secrets: 'sent-nowhere',
    prepare: async ({ id }, body: object) => ({ ...body, place: id.key }),
    rules: ({ desired }) => missingValue(desired),
    actions: { listValue: listValue(seal) },
    list: {
      page: countedList<NamedValue>(type, {
        name: { type: 'string', read: ({ id }: Resource<NamedValue>) => nameOf(id) },
        displayName: { type: 'string', read: ({ model }) => model.displayName },
      }),
    },
    sample: {
      name: (seed) => `value-${seed}`,
      body: () => ({ properties: { displayName: 'Key', secret: true, value: hush } }),
      changed: () => ({ properties: { displayName: 'Key', secret: true, value: `${hush}-2` } }),
      secrets: [hush],
    },
  })
}

function listValue(seal: Seal): Action<NamedValue> {
  return {
    method: 'POST',
    description: 'The value, also of a secret one.',
    countsAsRead: true,
    revealsSecret: true,
    answer: Type.Object({ value: Type.Optional(Type.String()) }),
    async run({ resource, id }) {
      if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
      const { value, sealedValue, place } = resource.model
      const shown = sealedValue === undefined ? value : seal.open(sealedValue, place)
      return { status: 200, body: shown === undefined ? {} : { value: shown } }
    },
  }
}
