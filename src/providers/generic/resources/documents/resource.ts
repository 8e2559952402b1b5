/** A type that no provider serves. Its resources are documents in any api-version, and no engine acts on them. */

import Type, { type TSchema } from 'typebox'
import { refuse } from '#kernel/error.ts'
import { isJsonObject, type JsonObject, mergePatch } from '#kernel/patch.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { checkSchema } from '#plane/check.ts'
import type { Action } from '#plane/declare/action.ts'
import type { GetContext } from '#plane/declare/computed.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { defineStored, type StoredType } from '#plane/declare/stored.ts'
import type { UnservedType } from '#plane/declare/unserved.ts'
import type { Version, View } from '#plane/declare/wire.ts'
import type { GenericDependencies } from '../../dependencies.ts'
import { impliedChildren } from '../../domain/computed-properties.ts'
import {
  type GenericDocument,
  itemOf,
  keptBody,
  ownMark,
  shortType,
  shownBody,
  withoutComputed,
} from '../../domain/document.ts'
import { type Filling, fill } from '../../domain/fill.ts'
import { listAnswers } from '../../domain/list-answers.ts'
import type { GivenSchemas } from '../../domain/schemas.ts'

const openBody = Type.Object({})
const openAnswer = Type.Object({ properties: Type.Object({}) }, { additionalProperties: true })
const seedMember = `${ownMark}seed`
const placeMember = `${ownMark}place`
const seedBytes = 32

interface GenericTypeDependencies extends GenericDependencies {
  readonly schemas: GivenSchemas
}

export function genericType(deps: GenericTypeDependencies, type: string): UnservedType {
  return {
    declaration: declarationOf(deps, type),
    action: (name) => (/^list/i.test(name) ? listAction(deps, type, name) : undefined),
    // The model belongs to this provider. Its type is erased as in `defineStored`.
    versionOf: (date) => versionOf(deps, type, date) as unknown as Version<unknown>,
  }
}

function declarationOf(deps: GenericTypeDependencies, type: string): StoredType {
  const isChild = type.split('/').length > 2
  return defineStored<GenericDocument>({
    type,
    description: 'Stored as a document: nothing stands behind it.',
    scope: 'any',
    answerHeaders: { 'x-armature-generic-resource': 'true' },
    isOpen: true,
    countedAs: 'generic',
    tracked: { location: 'as-given' },
    name: { pattern: /^[^\p{Cc}]{1,260}$/u, rule: '1 to 260 characters' },
    movable: true,
    protocol: { bodySyntax: 'exact' },
    versions: [],
    secrets: 'sent-nowhere',
    isImplied: (id, parent) => itemIn(type, id, bodyOf(parent)) !== undefined,
    preparesUndeclared: true,
    prepare: async ({ id }, body: JsonObject) => preparedBody(deps, type, id, body),
    summary: summaryOf,
    envelope: (resource, view) => wireOf(deps, type, resource, view),
    ...(isChild ? { source: { get: (context) => childInParent(deps, type, context) } } : {}),
  })
}

/** The body without computed properties, and with the members that `prepare` adds. */
export function preparedBody(
  deps: GenericDependencies,
  type: string,
  id: ResourceId,
  body: JsonObject,
): JsonObject {
  const seed = deps.seal.seal(deps.ids.secret(seedBytes), id.key)
  const filling = { ...fillingOf(deps, id, textOf(body['location'])), body }
  return { ...withoutComputed(filling, type), [seedMember]: seed, [placeMember]: id.key }
}

export function documentOf(
  given: JsonObject,
  type: string,
  previous: GenericDocument | undefined,
): GenericDocument {
  const { seed, place } = previous ?? {
    seed: String(given[seedMember]),
    place: String(given[placeMember]),
  }
  return { body: keptBody(given, type), seed, place }
}

export function summaryOf({ body }: Pick<GenericDocument, 'body'>): JsonObject {
  return Object.fromEntries(
    ['kind', 'sku', 'plan', 'identity', 'managedBy', 'zones'].flatMap((name) =>
      body[name] === undefined ? [] : [[name, body[name]]],
    ),
  )
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function versionOf(
  deps: GenericTypeDependencies,
  type: string,
  date: string,
): Version<GenericDocument> {
  const body: TSchema = deps.schemas.bodyOf(type, date) ?? openBody
  return {
    date,
    body,
    answer: openAnswer,
    unknownProperties: 'ignore',
    toModel: (given: JsonObject, previous) => documentOf(given, type, previous),
    fromModel: ({ body }) => body,
    withoutSecrets: (given) => keptBody(given as JsonObject, type),
    patch: {
      body: openBody,
      apply(patch: JsonObject, previous) {
        const { location: _, tags: _tags, ...rest } = patch
        const merged = mergePatch(previous.body, keptBody(rest, type))
        if (body !== openBody) checkSchema(body, 'ignore', merged)
        return { ...previous, body: keptBody(merged as JsonObject, type) }
      },
    },
  }
}

function wireOf(
  deps: GenericTypeDependencies,
  type: string,
  resource: Resource<GenericDocument>,
  view: Pick<View, 'location' | 'tags' | 'systemData' | 'state'>,
): object {
  const { id, model } = resource
  const shown = shownBody({ ...fillingOf(deps, id, view.location), body: model.body }, type)
  const properties = isJsonObject(shown['properties']) ? shown['properties'] : {}
  return {
    ...headOf(id),
    ...(view.location === undefined ? {} : { location: view.location }),
    ...(view.tags === undefined ? {} : { tags: view.tags }),
    ...shown,
    properties: { ...properties, provisioningState: view.state },
    systemData: view.systemData,
  }
}

/** The type as the path spelled it. */
function headOf(id: ResourceId): {
  readonly id: string
  readonly name: string
  readonly type: string
} {
  const { namespace = '', types = [] } = id.segments.at(-1) ?? {}
  return { id: id.text, name: nameOf(id), type: [namespace, ...types].join('/') }
}

export function fillingOf(
  { tenantId, publicUrl }: GenericDependencies,
  id: ResourceId,
  location: string | undefined,
): Filling & { readonly body: JsonObject } {
  const host = URL.parse(publicUrl())?.hostname ?? 'localhost'
  return { id, location, tenantId, host, body: {} }
}

/** A child that its parent's body contained, or that exists together with its parent. */
async function childInParent(
  deps: GenericTypeDependencies,
  type: string,
  { id, reader }: GetContext,
): Promise<object | undefined> {
  if ((await reader.get(id)) !== undefined) return undefined
  const found = await parentWith(type, id, reader)
  if (found === undefined) return undefined
  const filling = { ...fillingOf(deps, id, found.parent.location), body: found.item }
  const shown = shownBody(filling, type)
  const properties = isJsonObject(shown['properties']) ? shown['properties'] : {}
  return { ...shown, ...headOf(id), properties: { ...properties, provisioningState: 'Succeeded' } }
}

interface Inside {
  /** The stored resource that contains it. */
  readonly parent: Resource
  readonly item: JsonObject
}

/**
 * The parent that has a child of this id, in its body or always. That parent may itself be in its own parent's
 * body.
 */
async function parentWith(
  type: string,
  id: ResourceId,
  reader: Reader,
): Promise<Inside | undefined> {
  if (type.split('/').length < 3) return undefined
  const parent = await reader.get(parentOf(id))
  const above =
    parent === undefined
      ? await parentWith(type.slice(0, type.lastIndexOf('/')), parentOf(id), reader)
      : { parent, item: bodyOf(parent) }
  const item = above && itemIn(type, id, above.item)
  return item && { ...above, item }
}

/** Only documents of this provider have a body. The model of another provider's parent belongs to that provider. */
function bodyOf(resource: Resource | undefined): JsonObject {
  const { body } = (resource?.model ?? {}) as Partial<GenericDocument>
  return isJsonObject(body) ? body : {}
}

function itemIn(type: string, id: ResourceId, parent: JsonObject): JsonObject | undefined {
  const isImplied = impliedChildren[shortType(type).toLowerCase()]?.test(nameOf(id)) === true
  return itemOf(parent, { id }) ?? (isImplied ? {} : undefined)
}

export function listAction(deps: GenericDependencies, type: string, name: string): Action<unknown> {
  const answer = listAnswers.find(
    (one) =>
      (one.type === '*' || one.type.toLowerCase() === shortType(type).toLowerCase()) &&
      (one.action === '*' || one.action === name.toLowerCase()),
  )
  return {
    method: 'POST',
    description: 'Answers invented values, the same for the life of the resource.',
    revealsSecret: true,
    unstored: true,
    body: openBody,
    bodyOptional: true,
    async run({ id, resource, reader }) {
      // A child in its parent's body has no row and uses the parent's seed.
      const owner = resource ?? (await parentWith(type, id, reader))?.parent
      if (owner === undefined) throw refuse.ResourceNotFound({ id: id.text })
      const model = owner.model as Partial<GenericDocument> | undefined
      const { seed, place } = model ?? {}
      const opened =
        seed === undefined || place === undefined ? undefined : deps.seal.open(seed, place)
      // The keys of a child are its own. Whoever may list them does not learn those of its parent.
      const isOwn = owner.id.key === id.key
      const keySeed = opened === undefined || isOwn ? opened : `${opened} ${id.key}`
      const filling = { ...fillingOf(deps, id, owner.location), keySeed }
      const body = fill(answer?.body ?? {}, filling, name)
      return { status: 200, body: isJsonObject(body) ? body : {} }
    },
  }
}
