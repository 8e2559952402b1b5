/** The wire form of definitions: what was written, with defaults for what was left out. One shape for each kind. */

import Type, { type TObject, type TProperties } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { parentOf } from '#kernel/resource-id.ts'
import { added, relaxed } from '#plane/declare/added.ts'
import type { Version, View } from '#plane/declare/wire.ts'
import type { Definition } from '../model.ts'

const text = (lengthMax: number) => Type.Optional(Type.String({ maxLength: lengthMax }))
const name = Type.String({ minLength: 1, maxLength: 300 })
const open = Type.Optional(Type.Object({}, { additionalProperties: true }))
const flag = Type.Optional(Type.Boolean())

/** The members of each kind of definition. */
const definitionKinds = {
  apiVersionSets: Type.Object({
    displayName: name,
    description: text(10_000),
    versioningScheme: Type.Enum(['Segment', 'Query', 'Header']),
    versionQueryName: text(100),
    versionHeaderName: text(100),
  }),
  products: Type.Object({
    displayName: name,
    description: text(10_000),
    terms: text(10_000),
    subscriptionRequired: flag,
    approvalRequired: flag,
    subscriptionsLimit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    state: Type.Optional(Type.Enum(['notPublished', 'published'])),
  }),
  groups: Type.Object({
    displayName: name,
    description: text(10_000),
    type: Type.Optional(Type.Enum(['custom', 'system', 'external'])),
    externalId: text(1000),
  }),
  policyFragments: Type.Object({
    value: Type.String({ maxLength: 262_144 }),
    description: text(1000),
    format: Type.Optional(Type.Enum(['xml', 'rawxml'])),
  }),
  backends: Type.Object({
    title: text(300),
    description: text(2000),
    url: relaxed(Type.String({ minLength: 1, maxLength: 2000 })),
    protocol: relaxed(Type.Enum(['http', 'soap'])),
    type: added(Type.Enum(['Single', 'Pool'])),
    pool: added(Type.Object({}, { additionalProperties: true })),
    circuitBreaker: added(Type.Object({}, { additionalProperties: true })),
    resourceId: text(2000),
    tls: Type.Optional(
      Type.Object({
        validateCertificateChain: flag,
        validateCertificateName: flag,
      }),
    ),
    properties: open,
  }),
  loggers: Type.Object({
    loggerType: Type.Enum(['applicationInsights', 'azureEventHub', 'azureMonitor']),
    description: text(256),
    // Nothing is logged with it here, so the secrets of a log are not stored: answers name them.
    credentials: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 4096 }), {
        writeOnly: true,
        maxProperties: 20,
      }),
    ),
    isBuffered: flag,
    resourceId: text(2000),
  }),
  users: Type.Object({
    firstName: Type.String({ minLength: 1, maxLength: 100 }),
    lastName: Type.String({ minLength: 1, maxLength: 100 }),
    email: Type.String({ minLength: 1, maxLength: 254 }),
    state: Type.Optional(Type.Enum(['active', 'blocked', 'pending', 'deleted'])),
    note: text(2000),
  }),
  tags: Type.Object({ displayName: Type.String({ minLength: 1, maxLength: 160 }) }),
  'apis/schemas': Type.Object({
    contentType: Type.String({ minLength: 1, maxLength: 200 }),
    document: Type.Optional(
      Type.Object({
        value: text(1_000_000),
        definitions: open,
        components: open,
      }),
    ),
  }),
  'apis/releases': Type.Object({
    apiId: text(2000),
    notes: text(10_000),
  }),
} as const

const diagnostic = Type.Object({
  loggerId: Type.String({ minLength: 1, maxLength: 2000 }),
  alwaysLog: Type.Optional(Type.Enum(['allErrors'])),
  sampling: open,
  frontend: open,
  backend: open,
  logClientIp: flag,
  metrics: flag,
  httpCorrelationProtocol: Type.Optional(Type.Enum(['None', 'Legacy', 'W3C'])),
  verbosity: Type.Optional(Type.Enum(['verbose', 'information', 'error'])),
  operationNameFormat: Type.Optional(Type.Enum(['Name', 'Url'])),
})

/** The shapes, by the name of their collection below a service. */
export const definitionShapes = {
  ...definitionKinds,
  diagnostics: diagnostic,
  'apis/diagnostics': diagnostic,
} as const

/** Answered, but not writable. */
const answered: Readonly<Record<string, (model: Definition, view: View) => Definition>> = {
  groups: () => ({ builtIn: false }),
  policyFragments: () => ({ provisioningState: 'Succeeded' }),
  'apis/schemas': () => ({ provisioningState: 'Succeeded' }),
  'apis/releases': (_model, { id, systemData: { createdAt, lastModifiedAt } }) => ({
    apiId: parentOf(id).text,
    createdDateTime: createdAt,
    updatedDateTime: lastModifiedAt ?? createdAt,
  }),
  users: ({ email }, { systemData }) => ({
    registrationDate: systemData.createdAt,
    identities: [{ provider: 'Basic', id: email }],
  }),
}
/** In the answer of a PUT. */
const shownGroups = added(
  Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Type.Optional(Type.String()),
      builtIn: Type.Boolean(),
      type: Type.String(),
      externalId: Type.Optional(Type.String()),
    }),
    { readOnly: true },
  ),
)
const answeredShapes: Readonly<Record<string, TProperties>> = {
  groups: { builtIn: Type.Boolean({ readOnly: true }) },
  policyFragments: { provisioningState: Type.String({ readOnly: true }) },
  'apis/schemas': { provisioningState: Type.String({ readOnly: true }) },
  'apis/releases': {
    createdDateTime: Type.Optional(Type.String({ readOnly: true })),
    updatedDateTime: Type.Optional(Type.String({ readOnly: true })),
  },
  loggers: { credentials: Type.Optional(Type.Record(Type.String(), Type.String())) },
  products: { groups: shownGroups },
  users: {
    groups: shownGroups,
    registrationDate: Type.String({ readOnly: true }),
    identities: Type.Array(Type.Object({ provider: Type.String(), id: Type.String() })),
  },
}

/** The parts of a call that a log leaves out unless a diagnostic says otherwise: its query values. */
const masked = { request: { dataMasking: { queryParams: [{ value: '*', mode: 'Hide' }] } } }
const usualDiagnostic = {
  logClientIp: true,
  httpCorrelationProtocol: 'Legacy',
  frontend: masked,
  backend: masked,
}

const usual: Readonly<Record<keyof typeof definitionShapes, Definition>> = {
  apiVersionSets: {},
  products: { subscriptionRequired: true, state: 'notPublished' },
  groups: { type: 'custom' },
  policyFragments: {},
  backends: {},
  loggers: { isBuffered: true },
  users: { state: 'active' },
  diagnostics: usualDiagnostic,
  'apis/diagnostics': usualDiagnostic,
  tags: {},
  'apis/schemas': {},
  'apis/releases': {},
}

/** What is stored instead of secrets: the name that an answer uses for each. */
function withoutSecrets({ credentials, ...rest }: Definition): Definition {
  if (credentials === undefined) return rest
  const names = Object.keys(credentials as object)
  return {
    ...rest,
    credentials: Object.fromEntries(names.map((name) => [name, `{{Logger-Credentials-${name}}}`])),
  }
}

/** A pool of backends has no address of its own. */
function backendProblems({ properties }: { readonly properties: Definition }): readonly Problem[] {
  if (properties['type'] === 'Pool') return []
  return ['url', 'protocol']
    .filter((name) => properties[name] === undefined)
    .map((name) => ({ path: `properties.${name}`, message: 'is required' }))
}

export function definition(kind: keyof typeof definitionShapes, date: string): Version<Definition> {
  const properties: TObject = definitionShapes[kind]
  const body = Type.Object({ properties })
  return {
    date,
    body,
    answer: Type.Object({
      properties: Type.Object({ ...properties.properties, ...answeredShapes[kind] }),
    }),
    unknownProperties: 'ignore',
    ...(kind === 'backends' ? { problems: backendProblems } : {}),
    toModel: ({ properties: given }: { readonly properties: Definition }) =>
      withoutSecrets({
        ...usual[kind],
        ...Object.fromEntries(
          Object.entries(given).filter(([member]) => Object.hasOwn(properties.properties, member)),
        ),
      }),
    fromModel: (model, view) => ({ properties: { ...answered[kind]?.(model, view), ...model } }),
  }
}
