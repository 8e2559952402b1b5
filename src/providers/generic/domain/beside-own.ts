/**
 * Types that another provider serves by a shape of its own, where bodies of the family say more: such a body is kept as a
 * document too, within the own model, and shown with it. What the own shape knows, and its rules, stay its own.
 */

import type { TSchema } from 'typebox'
import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
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

/** With the actions that answer invented values. */
const documentedTypes: Readonly<Record<string, readonly string[]>> = {
  'ApiManagement/service': [],
  'Sql/servers': [],
  'Storage/storageAccounts': ['listKeys', 'listAccountSas', 'listServiceSas'],
}

/** A model that was stored without generic resources has no document. */
type Beside = Readonly<Partial<GenericDocument>>

/** In front of nothing that a body could be called: what is kept of a prepared body. */
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
      // What only an answer computes says nothing to the own shape either.
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
  // What the own shape takes and never shows: no list of names has to know it.
  const taken = writeOnlyProperties(own.body)
  return {
    ...own,
    withoutSecrets(body: object) {
      const given = body as JsonObject
      const envelope = Object.entries(given).filter(([name]) => /^(location|tags)$/i.test(name))
      return { ...Object.fromEntries(envelope), ...keptBody(withoutPaths(given, taken), type) }
    },
    toModel(body: JsonObject, previous, context) {
      const { [documentMember]: prepared, ...given } = body
      const model = own.toModel(given as never, previous, context)
      const before = previous as Beside | undefined
      const document = isJsonObject(prepared) ? prepared : patchedBody(deps, type, given, before)
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

/** Of the properties of an answer: what the own model shows is not kept twice. */
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

/** What a merge patch made of an answer; it was not prepared. */
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
