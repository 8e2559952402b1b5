/**
 * Management groups: scopes above subscriptions. Rights that are given at one reach what lies in it, so a move asks for
 * the right to give rights to what is moved.
 */

import { nameOf, type ResourceId, rootId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { GetContext } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Reader } from '#plane/declare/resource.ts'
import { defineStored, type RuleContext } from '#plane/declare/stored.ts'
import {
  depthMax,
  groupIdOf,
  groupName,
  groupNameRule,
  levelsOf,
  parentNameOf,
  parentNames,
  requireRight,
  types,
} from '../../domain/hierarchy.ts'
import { type Placed, placedByGroup, readPlaced } from '../../domain/placed.ts'
import { refuseManagement } from '../../errors.ts'
import type { ManagementGroup } from './model.ts'
import {
  type GroupBody,
  type GroupNaming,
  type Preparation,
  placeIn,
  showProperties,
  v2020_05_01,
} from './versions/2020-05-01.ts'

export function managementGroups(naming: GroupNaming): ResourceType {
  const { words, tenantId } = naming
  const isTenants = (id: ResourceId): boolean => id.key === groupIdOf(words, tenantId).key
  const refuseTenants = (id: ResourceId): Error =>
    refuseManagement.TenantManagementGroup({ name: nameOf(id) })
  return defineStored<ManagementGroup>({
    type: types.groups,
    description: 'Scopes above subscriptions, each in another one or in the tenant.',
    scope: 'tenant',
    feed: 'authorization',
    name: {
      pattern: groupName,
      rule: groupNameRule,
    },
    versions: [v2020_05_01(naming)],
    // Published clients take a 201, and a 200 of a DELETE, for a failure.
    protocol: {
      answers: {
        created: { status: 200 },
        deleted: { status: 202, leadsTo: 'operation', body: 'none' },
      },
    },
    isImplied: isTenants,
    query: { get: ['$expand', '$recurse'] },
    source: {
      async get(context) {
        const { id, query, reader } = context
        const isExpanded = /^children$/i.test(query.get('$expand') ?? '')
        if (!isTenants(id) && !isExpanded) return undefined
        const row = isTenants(id) ? undefined : await reader.get(id)
        if (row === undefined && !isTenants(id)) return undefined
        // Rows of this type were made by its `toModel`.
        const model = (row?.model as ManagementGroup | undefined) ?? tenantsGroup
        return {
          id: id.text,
          name: nameOf(id),
          type: qualify(words, types.groups),
          properties: {
            ...showProperties(model, naming, nameOf(id), row?.systemData),
            ...(isExpanded ? { children: await childrenOf(context, tenantId) } : {}),
          },
        }
      },
    },
    prepare: async (context, given: GroupBody) => ({
      ...given,
      ...(await preparationOf(context, given, tenantId)),
    }),
    async rules(context) {
      if (isTenants(context.id)) throw refuseTenants(context.id)
      await requireMove(context)
      await requireRoom(context)
      return []
    },
    async deleteRules({ id, reader }) {
      if (isTenants(id)) throw refuseTenants(id)
      const child = await childOf(reader, id)
      if (child === undefined) return
      throw refuseManagement.ManagementGroupNotEmpty({ name: nameOf(id), child })
    },
    container: {},
    sample: {
      name: (seed) => `sample-group-${seed}`,
      body: (seed) => ({ properties: { displayName: `Sample ${seed}` } }),
      changed: (seed) => ({ properties: { displayName: `Sample ${seed}, renamed` } }),
    },
  })
}

/** Every process has their places in memory, and a move reads all of them. */
const groupsMax = 10_000

async function requireRoom({ previous, reader }: RuleContext<ManagementGroup>): Promise<void> {
  const query = { type: types.groups, under: rootId, limit: groupsMax }
  if (previous !== undefined || (await reader.hasRoom(query))) return
  throw refuseManagement.ManagementGroupQuotaExceeded({ limit: groupsMax })
}

const tenantsGroup: ManagementGroup = { displayName: 'Tenant Root Group' }

/** What lies in a group; with `$recurse`, each with what lies in it. */
async function childrenOf(context: GetContext, tenantId: string): Promise<readonly object[]> {
  const isDeep = /^true$/i.test(context.query.get('$recurse') ?? '')
  const byGroup = placedByGroup(await readPlaced(context, tenantId))
  const show = (at: ResourceId, depth: number): readonly object[] =>
    (byGroup.get(at.key) ?? []).map(({ id, wireType, displayName }: Placed) => {
      const below = depth < depthMax ? show(id, depth + 1) : []
      const children = isDeep && below.length > 0 ? { children: below } : {}
      return { id: id.text, name: nameOf(id), type: wireType, displayName, ...children }
    })
  return show(context.id, 0)
}

/** Rights are asked for outside of the transaction; the rules see to it that it is the same move. */
async function preparationOf(
  context: Context & { readonly id: ResourceId },
  given: GroupBody,
  tenantId: string,
): Promise<Preparation> {
  const { id, reader, words } = context
  const ownName = nameOf(id)
  // Rows of this type were made by its `toModel`.
  const current = (await reader.get(id))?.model as ManagementGroup | undefined
  const from = current?.parent
  const to = placeIn(given, tenantId, current).parent
  if (current !== undefined && from === to) return { ownName, move: undefined }
  const write = `${types.groups}/write`
  await requireRight(context, write, groupIdOf(words, to ?? tenantId))
  if (current !== undefined) {
    await requireRight(context, write, groupIdOf(words, from ?? tenantId))
    await requireRight(context, 'Authorization/roleAssignments/write', id)
  }
  return { ownName, move: { from, to } }
}

/** Throws where the new place is none, or nobody has asked whether the caller may move the group there. */
async function requireMove(context: RuleContext<ManagementGroup>): Promise<void> {
  const { id, desired, previous, reader } = context
  if (desired.isUnchecked) throw refuseManagement.ManagementGroupMoved({ name: nameOf(id) })
  if (previous !== undefined && previous.parent === desired.parent) return
  const own = nameOf(id).toLowerCase()
  const levels = previous === undefined ? 1 : levelsOf(own, await parentNames(reader))
  await requirePlace(reader, context, own, levels)
}

async function requirePlace(
  reader: Reader,
  { desired, words }: Pick<RuleContext<ManagementGroup>, 'desired' | 'words'>,
  own: string,
  levels: number,
): Promise<void> {
  let at = desired.parent
  for (let depth = levels; at !== undefined; depth++) {
    if (!groupName.test(at)) throw refuseManagement.ParentManagementGroupNotFound({ name: at })
    if (at === own) throw refuseManagement.ManagementGroupCircle({ name: own })
    if (depth >= depthMax) throw refuseManagement.ManagementGroupDepth({ limit: depthMax })
    if ((await reader.get(groupIdOf(words, at))) === undefined) {
      throw refuseManagement.ParentManagementGroupNotFound({ name: at })
    }
    at = await parentNameOf(reader, words, at)
  }
}

async function childOf(reader: Reader, id: ResourceId): Promise<string | undefined> {
  const [subscription] = await reader.list({ type: types.subscriptions, under: id, limit: 1 })
  if (subscription !== undefined) return subscription.id.text
  const name = nameOf(id).toLowerCase()
  const above = id.text.slice(0, id.text.lastIndexOf('/'))
  for (const [child, parent] of await parentNames(reader)) {
    if (parent === name) return `${above}/${child}`
  }
  return undefined
}
