/** Definitions on the wire: what was written, with what is usual where something was left out. One shape for each kind. */

import Type, { type TObject, type TProperties } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { Definition } from '../model.ts'

const text = (lengthMax: number) => Type.Optional(Type.String({ maxLength: lengthMax }))
const name = Type.String({ minLength: 1, maxLength: 300 })
const open = Type.Optional(Type.Object({}, { additionalProperties: true }))
const flag = Type.Optional(Type.Boolean())

/** What a kind of definition has. */
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
    url: Type.String({ minLength: 1, maxLength: 2000 }),
    protocol: Type.Enum(['http', 'soap']),
    resourceId: text(2000),
    tls: Type.Optional(
      Type.Object({
        validateCertificateChain: flag,
        validateCertificateName: flag,
      }),
    ),
    properties: open,
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

/** By what stands below a service. */
export const definitionShapes = {
  ...definitionKinds,
  diagnostics: diagnostic,
  'apis/diagnostics': diagnostic,
} as const

/** Answered and not written. */
const answered: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  groups: { builtIn: false },
  policyFragments: { provisioningState: 'Succeeded' },
}
const answeredShapes: Readonly<Record<string, TProperties>> = {
  groups: { builtIn: Type.Boolean({ readOnly: true }) },
  policyFragments: { provisioningState: Type.String({ readOnly: true }) },
}

const usual: Readonly<Record<keyof typeof definitionShapes, Definition>> = {
  apiVersionSets: {},
  products: { subscriptionRequired: true, state: 'notPublished' },
  groups: { type: 'custom' },
  policyFragments: {},
  backends: {},
  diagnostics: { logClientIp: true, httpCorrelationProtocol: 'Legacy' },
  'apis/diagnostics': { logClientIp: true, httpCorrelationProtocol: 'Legacy' },
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
    toModel: ({ properties: given }: { readonly properties: Definition }) => ({
      ...usual[kind],
      ...Object.fromEntries(
        Object.entries(given).filter(([member]) => Object.hasOwn(properties.properties, member)),
      ),
    }),
    fromModel: (model) => ({ properties: { ...answered[kind], ...model } }),
  }
}
