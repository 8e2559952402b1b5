/**
 * Types that another provider serves with its own schema, while published bodies have more properties. Such a body
 * is also stored as a document inside the own model, and is shown with it. The own schema and its rules keep their
 * part.
 */

import type { TSchema } from 'typebox'
import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import { declaredIn } from '#plane/check.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { StoredType } from '#plane/declare/stored.ts'
import type { Version } from '#plane/declare/wire.ts'
import { writeOnlyProperties } from '#plane/secrets.ts'
import type { GenericDependencies } from '../dependencies.ts'
import {
  documentOf,
  fillingOf,
  listAction,
  preparedBody,
  summaryOf,
} from '../resources/documents/resource.ts'
import {
  type GenericDocument,
  keptBody,
  shownBody,
  withoutComputed,
  withoutPaths,
} from './document.ts'

/** Including the actions that answer invented values. */
const documentedTypes: Readonly<Record<string, readonly string[]>> = {
  'ApiManagement/service': [],
  'Sql/servers': [],
  'Storage/storageAccounts': ['listKeys', 'listAccountSas', 'listServiceSas'],
}

/** A model that was stored without generic resources has no document. */
type Beside = Readonly<Partial<GenericDocument>>

/**
 * The name of the member that keeps the document in a prepared body. No published property can have this prefix.
 */
const documentMember = '\u0000document'

export function withDocuments(deps: GenericDependencies, provider: Provider): Provider {
  const types = provider.types.map((type) => {
    const actions = documentedTypes[type.type]
    return type.kind === 'stored' && actions !== undefined
      ? withDocument(deps, type, actions)
      : type
  })
  return { ...provider, types }
}

function withDocument(
  deps: GenericDependencies,
  own: StoredType,
  actions: readonly string[],
): StoredType {
  const { type } = own
  return {
    ...own,
    isOpen: true,
    preparesUndeclared: true,
    async prepare(context, body: JsonObject) {
      // Properties that only an answer computes mean nothing to the own schema either.
      const document = preparedBody(deps, type, context.id, body)
      const prepared = await own.prepare?.(context, document as never)
      return { ...(isJsonObject(prepared) ? prepared : document), [documentMember]: document }
    },
    // The plane hands a model to the type that made it.
    summary: (model) => ({
      ...own.summary?.(model),
      ...summaryOf({ body: {}, ...(model as Beside) }),
    }),
    versions: own.versions.map((one) => versionWith(deps, type, one)),
    actions: {
      ...own.actions,
      ...Object.fromEntries(actions.map((name) => [name, listAction(deps, type, name)])),
    },
  }
}

function versionWith(
  deps: GenericDependencies,
  type: string,
  own: Version<unknown>,
): Version<unknown> {
  const shown = shownNames(own.answer)
  // The properties that the own schema accepts and never shows. They are derived, so no list of names has to be
  // kept.
  const taken = writeOnlyProperties(own.body)
  return {
    ...own,
    answer: opened(own.answer),
    withoutSecrets(body: object) {
      const given = body as JsonObject
      const envelope = Object.entries(given).filter(([name]) => /^(location|tags)$/i.test(name))
      return { ...Object.fromEntries(envelope), ...keptBody(withoutPaths(given, taken), type) }
    },
    toModel(body: JsonObject, previous, context) {
      const { [documentMember]: prepared, ...given } = body
      // What a PATCH brings is not prepared: members that `prepare` adds would be the caller's.
      const isPrepared = isJsonObject(prepared)
      const known = isPrepared ? given : declaredIn(own.body, given)
      const model = own.toModel(known as never, previous, context)
      const before = previous as Beside | undefined
      const document = isPrepared ? prepared : patchedBody(deps, type, given, before)
      if (document === undefined) return model
      const rest = withoutPaths(withoutNames(document, shown), taken)
      const beside = documentOf(rest, type, wholeOf(before))
      return { ...beside, ...(model as object) }
    },
    fromModel(model, view) {
      const { body } = model as Beside
      const shown = own.fromModel(model, view)
      if (body === undefined) return shown
      const filling = fillingOf(deps, view.id, view.location)
      const { properties, ...top } = shownBody({ ...filling, body }, type)
      return {
        ...shown,
        ...top,
        properties: { ...objectOf(properties), ...objectOf(shown['properties']) },
      }
    },
  }
}

/** The answer of an own type, which a document may add any members to. */
function opened(answer: TSchema & { readonly properties?: object }): TSchema {
  const all = objectOf(answer.properties)
  const inner = { ...objectOf(all['properties']), additionalProperties: true }
  return { ...answer, properties: { ...all, properties: inner }, additionalProperties: true }
}

/** The properties of an answer. Those that the own model shows are not stored twice. */
function shownNames({ properties }: TSchema & { readonly properties?: object }): readonly string[] {
  const inner = objectOf(objectOf(properties)['properties'])
  return Object.keys(objectOf(inner['properties']))
}

function withoutNames(body: JsonObject, names: readonly string[]): JsonObject {
  const { properties } = body
  if (!isJsonObject(properties)) return body
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name))
  return { ...body, properties: Object.fromEntries(kept) }
}

/** A body that a merge patch made from an answer. It was not prepared. */
function patchedBody(
  deps: GenericDependencies,
  type: string,
  body: JsonObject,
  before: Beside | undefined,
): JsonObject | undefined {
  const id = parseResourceId(before?.place ?? '')
  if (id === undefined || before?.seed === undefined) return undefined
  return withoutComputed({ ...fillingOf(deps, id, undefined), body }, type)
}

function wholeOf({ body, seed, place }: Beside = {}): GenericDocument | undefined {
  return body === undefined || seed === undefined || place === undefined
    ? undefined
    : { body, seed, place }
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
