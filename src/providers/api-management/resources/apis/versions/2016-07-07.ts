/**
 * The wire form of APIs: one shape in every version (facts 3.2, decision 0016). A PUT may contain an OpenAPI
 * or Swagger document.
 */

import Type, { type Static } from 'typebox'
import { type Problem, refuse } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { revisionOf } from '../../../domain/names.ts'
import { importFormats } from '../../../domain/openapi/import.ts'
import { maybe } from '../../operations/versions/shapes.ts'
import { type Api, apiKinds, protocols } from '../model.ts'

const text = (lengthMax: number) => maybe(Type.String({ maxLength: lengthMax }))
const open = maybe(Type.Object({}, { additionalProperties: true }))

/** The members of an API in bodies and answers. */
const kept = {
  path: Type.String({ maxLength: 400 }),
  displayName: maybe(Type.String({ minLength: 1, maxLength: 300 })),
  description: text(10_000),
  serviceUrl: text(2000),
  protocols: maybe(Type.Array(Type.Enum([...protocols]), { maxItems: protocols.length })),
  apiRevision: maybe(Type.String({ minLength: 1, maxLength: 100 })),
  apiRevisionDescription: text(256),
  apiVersion: text(100),
  apiVersionDescription: text(256),
  apiVersionSetId: text(2000),
  apiVersionSet: open,
  subscriptionRequired: maybe(Type.Boolean()),
  subscriptionKeyParameterNames: maybe(Type.Object({ header: text(256), query: text(256) })),
  type: Type.Optional(Type.Enum([...apiKinds])),
  authenticationSettings: open,
  contact: maybe(Type.Object({ name: text(256), url: text(2000), email: text(256) })),
  license: maybe(Type.Object({ name: text(256), url: text(2000) })),
  termsOfServiceUrl: text(2000),
  sourceApiId: text(2000),
}
/** The length of a document in characters. */
const documentMax = 4_000_000

const properties = Type.Object(kept)
const body = Type.Object({
  properties: Type.Object({
    ...properties.properties,
    format: added(
      Type.String({ maxLength: 40, description: `Of \`value\`: ${importFormats.join(', ')}.` }),
    ),
    value: added(Type.String({ maxLength: documentMax, description: 'A document to import.' })),
    apiType: added(
      Type.Enum([...apiKinds], { description: 'What is made: `type`, where that is left out.' }),
    ),
  }),
})
export type ApiBody = Static<typeof body> & {
  /** Its id, where it was there when the body was prepared: what it is made of was not looked at. */
  readonly notCopied?: string
}
type Body = ApiBody

/** Of an export (`?export=true`), which has no other members but a copy of these for the published command line. */
const exported = {
  format: added(Type.String({ readOnly: true })),
  value: added(Type.Object({}, { additionalProperties: true, readOnly: true })),
}

const answer = Type.Object({
  ...exported,
  properties: Type.Object({
    ...kept,
    isCurrent: Type.Boolean({ readOnly: true }),
    isOnline: Type.Boolean({ readOnly: true }),
    isAgent: added(Type.Boolean({ readOnly: true })),
    effectivePath: added(Type.String({ readOnly: true })),
    provisioningState: Type.String({ readOnly: true }),
  }),
})

/** The default names for a subscription's key (the published defaults). */
const keyNames = { header: 'Ocp-Apim-Subscription-Key', query: 'subscription-key' }

export function api(date: string): Version<Api> {
  return {
    date,
    body,
    answer,
    unknownProperties: 'ignore',
    problems({ properties: given }: Body) {
      return [...otherDocuments(given), ...documentProblems(given), ...openProblems(given)]
    },
    toModel({ properties: given, notCopied }: Body, previous: Api | undefined): Api {
      if (notCopied !== undefined && previous === undefined)
        throw refuse.Conflict({ id: notCopied })
      const model: Record<string, unknown> = {}
      for (const name of Object.keys(kept)) {
        const value = Reflect.get(given, name)
        if (value !== undefined && value !== null) model[name] = value
      }
      model['apiRevision'] ??= '1'
      model['subscriptionRequired'] ??= true
      model['type'] ??= given.apiType ?? 'http'
      if (given.authenticationSettings) {
        model['authenticationSettings'] = withLists(given.authenticationSettings)
      }
      // Validated by the schema of the same members; required ones were checked or set above.
      return model as unknown as Api
    },
    fromModel: (model, { id, state }) => ({
      properties: {
        displayName: nameOf(id),
        authenticationSettings: {},
        subscriptionKeyParameterNames: keyNames,
        ...model,
        isCurrent: revisionOf(id) === undefined,
        isOnline: true,
        isAgent: false,
        effectivePath: effectivePath(model),
        provisioningState: state,
      },
    }),
  }
}

/** Newer clients read a list where older ones wrote the only setting. */
function withLists(written: object): object {
  const settings: Readonly<Record<string, unknown>> = { ...written }
  const lists = { oAuth2: 'oAuth2AuthenticationSettings', openid: 'openidAuthenticationSettings' }
  const added = Object.entries(lists).flatMap(([one, list]) =>
    isJsonObject(settings[one]) && settings[list] === undefined ? [[list, [settings[one]]]] : [],
  )
  return { ...settings, ...Object.fromEntries(added) }
}

/** Characters of a member whose shape is open: many of them may be read at once. */
const openMax = 64 * 1024

function openProblems(given: Body['properties']): readonly Problem[] {
  return (['authenticationSettings', 'apiVersionSet'] as const)
    .filter((name) => JSON.stringify(given[name] ?? null).length > openMax)
    .map((name) => ({ path: `properties.${name}`, message: `has more than ${openMax} characters` }))
}

/** Documents of kinds that are not served are refused instead of lost. */
function otherDocuments(given: Body['properties']): readonly Problem[] {
  const message = 'only OpenAPI documents are imported'
  const hasSelector = (Reflect.get(given, 'wsdlSelector') ?? null) !== null
  const { value, apiType = 'http' } = given
  const isOther = value !== undefined && apiType !== 'http'
  return [
    ...(hasSelector ? [{ path: 'properties.wsdlSelector', message }] : []),
    ...(isOther ? [{ path: 'properties.apiType', message }] : []),
  ]
}

/** What is wrong with the document itself is said when it is read. */
function documentProblems({ format, value }: Body['properties']): readonly Problem[] {
  if (format === undefined && value === undefined) return []
  if (!importFormats.some((known) => known === format?.toLowerCase())) {
    const message = `expected ${importFormats.join(' or ')}: the document itself, OpenAPI 3 or Swagger 2`
    return [{ path: 'properties.format', message }]
  }
  if (value !== undefined) return []
  return [{ path: 'properties.value', message: 'expected the document' }]
}

/** The path for callers: a version that is a path segment is appended. */
function effectivePath({ path, apiVersion }: Api): string {
  const base = path.replace(/^\//, '')
  return apiVersion === undefined ? base : `${base}/${apiVersion}`
}
