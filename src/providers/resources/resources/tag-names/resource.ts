/**
 * The tag names of a subscription with their values, each with how many groups and resources carry it: those that were
 * declared beforehand, and those in use, which are counted where they are, so that there is nothing to keep in step. A name
 * that is deleted while something carries it stays in the list.
 */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { ListContext } from '#plane/declare/wire.ts'
import { nextTurn } from '#plane/next-turn.ts'
import { pageOfArray } from '../../domain/page-of-array.ts'
import type { ResourceListDependencies } from '../resource-lists/resource.ts'

const rowsAtOnce = 500
/** Tags looked at, of all groups and resources together. */
const tagsSeenMax = 50_000
const namesType = 'Resources/subscriptions/tagNames'
const valuesType = `${namesType}/tagValues`
const groupsType = 'Resources/subscriptions/resourceGroups'
const version = '2021-04-01'
const rule = 'without any of <>%&\\?/'

const count = Type.Object({ type: Type.Literal('Total'), value: Type.Integer() })
const tagValue = Type.Object({ id: Type.String(), tagValue: Type.String(), count })
const tagName = Type.Object({
  id: Type.String(),
  tagName: Type.String(),
  count,
  values: Type.Array(tagValue),
})

interface Counted {
  readonly name: string
  readonly values: Map<string, number>
}

export function tagNames(deps: ResourceListDependencies): readonly ResourceType[] {
  const shared = {
    scope: 'implied',
    verbs: ['list', 'put', 'delete'],
    protocol: { bodyOptional: true },
  } as const
  const shape = {
    date: version,
    body: Type.Object({}),
    unknownProperties: 'ignore',
    patch: 'none',
    toModel: () => ({}),
  } as const
  return [
    defineStored<object>({
      ...shared,
      type: namesType,
      description: 'The tag names and values of a subscription, declared and in use.',
      name: { pattern: /^[^<>%&\\?/]{1,512}$/, rule: `1 to 512 characters, ${rule}` },
      versions: [{ ...shape, answer: tagName, fromModel: () => ({}) }],
      source: {
        async list(context) {
          const found = await countTags(context.parent, context, deps)
          const names = [...found].sort((a, b) => (a.name < b.name ? -1 : 1))
          const { items, ...rest } = pageOfArray(names, context)
          return { ...rest, items: items.map((one) => show(context.parent, one)) }
        },
      },
      envelope: ({ id }) => show(parentOf(id), { name: nameOf(id), values: new Map() }),
    }),
    defineStored<object>({
      ...shared,
      verbs: ['put', 'delete'],
      type: valuesType,
      description: 'A value of a tag name, declared beforehand.',
      name: { pattern: /^[^<>%&\\?/]{1,256}$/, rule: `1 to 256 characters, ${rule}` },
      versions: [{ ...shape, answer: tagValue, fromModel: () => ({}) }],
      envelope: ({ id }) => showValue(parentOf(id).text, nameOf(id), 0),
      async rules({ id, reader }) {
        const at = parentOf(id)
        if ((await reader.get(at)) !== undefined) return []
        throw refuse.ParentResourceNotFound({ id: at.text })
      },
    }),
  ]
}

/**
 * Names are told apart without their case, values with it. Nothing is counted beyond the bound of a scan, which is as many
 * reads as a scan of its rows takes: each ends at its bound of bytes, too. No names and values are added beyond the
 * bound of characters.
 */
async function countTags(
  parent: ResourceId,
  { reader }: Pick<ListContext, 'reader'>,
  { listTracked, scanRowsMax }: ResourceListDependencies,
): Promise<Iterable<Counted>> {
  const found = createTagCount()
  const rows = (type: string) => reader.each({ type, under: parent, limit: scanRowsMax })
  for await (const { id } of rows(namesType)) found.find(nameOf(id))
  for await (const { id } of rows(valuesType)) found.add(nameOf(parentOf(id)), nameOf(id), 0)
  let left = tagsSeenMax
  const add = ({ tags = {} }: Resource): void => {
    const all = Object.entries(tags)
    left -= all.length
    for (const [name, value] of all) found.add(name, value, 1)
  }
  /** `read` counts what it reads, and resolves to where the next read begins. */
  const scan = async (read: (after: string | undefined) => Promise<string | undefined>) => {
    let after: string | undefined
    for (let seen = 0; seen < scanRowsMax && left > 0; seen += rowsAtOnce) {
      await nextTurn()
      after = await read(after)
      if (after === undefined) return
    }
  }
  const query = { under: parent, limit: rowsAtOnce }
  await scan(async (after) => {
    const page = await reader.page({ ...query, type: groupsType, after })
    page.items.forEach(add)
    return page.next
  })
  await scan(async (after) => {
    const page = await listTracked({ ...query, ...(after === undefined ? {} : { after }) })
    for (const { resource } of page.items) add(resource)
    return page.next
  })
  return found.all()
}

/** Characters of all names and values with their ids and counts, as a list of all of them shows them. */
const charactersMax = 4 * 1024 * 1024
const charactersOfCount = 160

interface TagCount {
  /** Undefined: there is no room for another name. */
  find(name: string): Counted | undefined
  add(name: string, value: string, many: number): void
  all(): Iterable<Counted>
}

function createTagCount(): TagCount {
  const found = new Map<string, Counted>()
  let left = charactersMax
  const hasRoom = (characters: number): boolean => {
    if (left < characters) return false
    left -= characters
    return true
  }
  const find = (name: string): Counted | undefined => {
    const key = name.toLowerCase()
    const known = found.get(key)
    if (known !== undefined || !hasRoom(2 * name.length + charactersOfCount)) return known
    const made = { name, values: new Map() }
    found.set(key, made)
    return made
  }
  return {
    find,
    add(name, value, many) {
      const values = find(name)?.values
      const had = values?.get(value)
      const isNew = had === undefined
      if (isNew && !hasRoom(name.length + 2 * value.length + charactersOfCount)) return
      values?.set(value, (had ?? 0) + many)
    },
    all: () => found.values(),
  }
}

function show(subscription: ResourceId, { name, values }: Counted): object {
  const id = `${subscription.text}/tagNames/${name}`
  return {
    id,
    tagName: name,
    count: total([...values.values()].reduce((sum, one) => sum + one, 0)),
    values: [...values].map(([value, many]) => showValue(id, value, many)),
  }
}

function showValue(name: string, value: string, many: number): object {
  return { id: `${name}/tagValues/${value}`, tagValue: value, count: total(many) }
}

function total(value: number): object {
  return { type: 'Total', value }
}
