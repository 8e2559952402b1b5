/** Links to something of the same service: of a product to APIs and groups, and of what has tags to these. */

import { refuse } from '#kernel/error.ts'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Reader, Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { ListContext, ListPage, Version } from '#plane/declare/wire.ts'
import { readGroup } from '../../domain/built-in-groups.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { definitionDates } from '../../published-versions.ts'
import { api } from '../apis/versions/2016-07-07.ts'
import { definition } from '../definitions/versions/2021-08-01.ts'
import { isLinkTo, type LinkTarget, linkTo } from './model.ts'
import { link } from './versions/2021-08-01.ts'

const targets = {
  // The shape that shows a model also made it.
  apis: (date: string) => api(date) as unknown as Version<LinkTarget>,
  groups: (date: string) => definition('groups', date),
  tags: (date: string) => definition('tags', date),
} as const

/** By the place of the link below a service. */
const described = {
  'products/apis': 'APIs that a product offers.',
  'products/groups': 'Groups that see a product.',
  'products/tags': 'Tags of a product.',
  'apis/tags': 'Tags of an API.',
  'apis/operations/tags': 'Tags of an operation.',
} as const

export function links(): readonly ResourceType[] {
  return Object.entries(described).map(([place, description]) => {
    const type = `ApiManagement/service/${place}`
    // The last part of each place is the collection of its targets.
    const word = place.slice(place.lastIndexOf('/') + 1) as keyof typeof targets
    return defineStored<LinkTarget>({
      type,
      description,
      scope: 'resource-group',
      query: countedQuery,
      name: idRule(256),
      movable: true,
      versions: definitionDates.map((date) => link(word, targets[word](date))),
      verbs: ['get', 'list', 'put', 'delete'],
      protocol: {
        anyMatchCreates: true,
        bodyOptional: true,
        ...(word === 'tags' ? { headStatus: 200 } : {}),
      },
      prepare: async ({ id, reader }, body: object) => {
        const place = targetOf(id, word)
        const found = await read[word](reader, place)
        if (found === undefined) throw refuse.ResourceNotFound({ id: place.text })
        return { ...body, target: linkTo(found) }
      },
      source: {
        // Asked before the store: a link is there as long as its target.
        async get({ id, reader }) {
          const target = await read[word](reader, targetOf(id, word))
          const link = await reader.get(id)
          if (target !== undefined && (link === undefined || isLinkTo(link, target)))
            return undefined
          throw refuse.ResourceNotFound({ id: id.text })
        },
      },
      ...(word === 'apis' ? { onlyPutShows: lastChangeOfApi } : {}),
      list: { page: currentPage(type, word) },
    })
  })
}

const read = {
  apis: (reader: Reader, id: ResourceId) => reader.get(id),
  groups: readGroup,
  tags: (reader: Reader, id: ResourceId) => reader.get(id),
} as const

/** A link shows when the definition of its API changed last. */
async function lastChangeOfApi({
  id,
  reader,
}: Context & { readonly id: ResourceId }): Promise<object> {
  const found = await reader.get(targetOf(id, 'apis'))
  const { lastModifiedAt, createdAt } = found?.systemData ?? {}
  const specificationLastUpdated = lastModifiedAt ?? createdAt
  return specificationLastUpdated === undefined ? {} : { specificationLastUpdated }
}

/** Administrators see every product without a link. */
async function administrators({
  reader,
  parent,
}: ListContext): Promise<readonly Resource<LinkTarget>[]> {
  const id = childOf(parent, 'groups', 'administrators')
  if ((await reader.get(id)) !== undefined) return []
  const group = await readGroup(reader, targetOf(id, 'groups'))
  // A definition, as its own shape makes it.
  return group === undefined ? [] : [{ ...group, id, model: group.model as LinkTarget }]
}

/** The API, group or tag that the link is named after. */
function targetOf(id: ResourceId, word: keyof typeof targets): ResourceId {
  let service = id
  while ((service.segments.at(-1)?.types.length ?? 0) > 1) service = parentOf(service)
  return childOf(service, word, nameOf(id))
}

/** Each link with its current target; a link whose target is gone is left out. */
function currentPage(
  type: string,
  word: keyof typeof targets,
): (context: ListContext) => Promise<ListPage<Resource<LinkTarget>>> {
  return countedList<LinkTarget>(
    type,
    { name: { type: 'string', read: ({ id }: Resource<LinkTarget>) => nameOf(id) } },
    {
      ...(word === 'groups' ? { unstored: administrators } : {}),
      async shown({ reader }, item) {
        const target = await read[word](reader, targetOf(item.id, word))
        if (target === undefined || !isLinkTo(item, target)) return undefined
        // Their own shapes made these rows.
        return { ...item, model: target.model as LinkTarget }
      },
    },
  )
}
