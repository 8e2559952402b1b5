/** Management groups on the wire, as published. */

import Type from 'typebox'
import { isJsonObject } from '#kernel/patch.ts'
import { nameOf, parseResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { groupIdOf } from '../../../domain/hierarchy.ts'
import type { ManagementGroup } from '../model.ts'

export interface GroupNaming {
  readonly words: VendorWords
  readonly tenantId: string
}

/** What `prepare` puts in. */
export interface Preparation {
  readonly ownName?: string
  /** From where to where the caller may move it; undefined where it need not be asked. */
  readonly move?: { readonly from: string | undefined; readonly to: string | undefined } | undefined
}

export interface GroupBody extends Preparation {
  readonly properties?: {
    readonly displayName?: string | null
    readonly details?: { readonly parent?: { readonly id?: string | null } | null } | null
  } | null
}

interface GroupPatch extends Pick<GroupBody, 'properties'> {
  readonly displayName?: string | null
  readonly parentGroupId?: string | null
}

const nullable = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))
const text = Type.String({ maxLength: 500 })
const parent = Type.Object({ id: nullable(text) })

const properties = nullable(
  Type.Object({
    displayName: nullable(text),
    details: nullable(Type.Object({ parent: nullable(parent) })),
  }),
)

/** One that lies in a group; with `$recurse` it has `children` of the same shape. */
const child = Type.Object(
  { id: Type.String(), name: Type.String(), type: Type.String(), displayName: Type.String() },
  { additionalProperties: true },
)

const answer = Type.Object({
  properties: Type.Object({
    tenantId: Type.String(),
    displayName: Type.String(),
    children: added(Type.Array(child)),
    details: Type.Object({
      version: Type.Integer(),
      updatedTime: Type.Optional(Type.String()),
      parent: Type.Optional(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          displayName: added(Type.String()),
        }),
      ),
    }),
  }),
})

/** The name in `/providers/{namespace}/managementGroups/{name}`, or a name alone, in lower case. */
function nameIn(given: string): string {
  const id = given.startsWith('/') ? parseResourceId(given) : undefined
  return (id === undefined ? given : nameOf(id)).toLowerCase()
}

function placedIn(given: string, tenantId: string): { readonly parent?: string } {
  const name = nameIn(given)
  return name === '' || name === tenantId.toLowerCase() ? {} : { parent: name }
}

/** A group stays where it is when nobody says where. */
export function placeIn(
  { properties }: GroupBody,
  tenantId: string,
  previous: ManagementGroup | undefined,
): { readonly parent?: string } {
  const given = properties?.details?.parent?.id
  return given == null ? keptPlace(previous) : placedIn(given, tenantId)
}

export function v2020_05_01({ words, tenantId }: GroupNaming): Version<ManagementGroup> {
  return {
    date: '2020-05-01',
    body: Type.Object({ properties }),
    answer,
    unknownProperties: 'ignore',
    toModel(body: GroupBody, previous) {
      const { properties, ownName = '', move } = body
      const where = placeIn(body, tenantId, previous)
      const displayName = properties?.displayName ?? previous?.displayName ?? ownName
      const isChecked =
        (previous !== undefined && previous.parent === where.parent) ||
        (move !== undefined && move.from === previous?.parent && move.to === where.parent)
      return { displayName, ...where, ...(isChecked ? {} : { isUnchecked: true }) }
    },
    fromModel(model, { id, systemData }) {
      return { properties: showProperties(model, { words, tenantId }, nameOf(id), systemData) }
    },
    patch: {
      // The published members, and those of a PUT: somebody who sends these believes the group is moved.
      body: Type.Object({
        displayName: nullable(text),
        parentGroupId: nullable(text),
        properties: added(properties),
      }),
      apply(given: GroupPatch, previous) {
        const { properties, parentGroupId = properties?.details?.parent?.id } = given
        const displayName = given.displayName ?? properties?.displayName
        const where =
          parentGroupId == null ? keptPlace(previous) : placedIn(parentGroupId, tenantId)
        const isMoved = where.parent !== previous.parent
        return {
          displayName: displayName ?? previous.displayName,
          ...where,
          ...(isMoved ? { isUnchecked: true } : {}),
        }
      },
    },
  }
}

function keptPlace(previous: ManagementGroup | undefined): { readonly parent?: string } {
  return previous?.parent === undefined ? {} : { parent: previous.parent }
}

/** The group of the tenant lies in nothing. */
export function showProperties(
  { displayName, parent: name }: ManagementGroup,
  { words, tenantId }: GroupNaming,
  own: string,
  systemData?: unknown,
): object {
  const above = name ?? tenantId
  const updated = isJsonObject(systemData) ? systemData['lastModifiedAt'] : undefined
  return {
    tenantId,
    displayName,
    details: {
      version: 1,
      ...(typeof updated === 'string' ? { updatedTime: updated } : {}),
      ...(own.toLowerCase() === tenantId.toLowerCase()
        ? {}
        : { parent: { id: groupIdOf(words, above).text, name: above, displayName: above } }),
    },
  }
}
