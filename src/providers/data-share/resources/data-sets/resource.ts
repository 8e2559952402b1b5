/** Data sets: what of a share's owner is shared. Of all fourteen kinds; who makes one may use what it names. */

import Type from 'typebox'
import { type Principal, writerOf } from '#kernel/principal.ts'
import { added, addedEach } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { proxyName, type ShareDependencies, types, version } from '../../dependencies.ts'
import {
  type Kind,
  type KindProperties,
  kindNames,
  kindProblems,
  placeFields,
  ruleOf,
} from '../../domain/kinds.ts'
import { requireLinkedAuthorization } from '../../domain/linked-authorization.ts'

export interface DataSet {
  readonly kind: Kind
  readonly dataSetId: string
  readonly properties: KindProperties
  /** Its right to what is named is asked at each synchronization. */
  readonly writer?: Principal
}

export const kindSchema = Type.Unsafe<Kind>({ type: 'string', enum: [...kindNames] })

interface Body {
  readonly kind: Kind
  readonly properties: KindProperties
}

export function pick(kind: Kind, given: KindProperties): KindProperties {
  const { required, optional = [] } = ruleOf(kind)
  const names = [
    ...required,
    ...optional,
    ...(kind === 'KustoTable' ? ['tableLevelSharingProperties'] : []),
  ]
  return Object.fromEntries(
    names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  )
}

/** Characters of a member whose shape is open: many data sets are read at once. */
const openMax = 64 * 1024

function sharingProblems({ tableLevelSharingProperties: given = null }: KindProperties) {
  const path = 'properties.tableLevelSharingProperties'
  const message = `has more than ${openMax} characters`
  return JSON.stringify(given).length > openMax ? [{ path, message }] : []
}

export function dataSets({ ids, places }: Pick<ShareDependencies, 'ids' | 'places'>): ResourceType {
  return defineStored<DataSet>({
    type: types.dataSets,
    description: 'Files, folders or tables that a share shares.',
    scope: 'resource-group',
    name: proxyName,
    protocol: { answers: { created: { leadsTo: 'resource' } } },
    versions: [
      {
        date: version,
        body: Type.Object({ kind: kindSchema, properties: Type.Object({}) }),
        problems: ({ kind, properties }: Body) => [
          ...kindProblems(kind, properties),
          ...sharingProblems(properties),
        ],
        answer: Type.Object({
          kind: kindSchema,
          // Which of them, the kind says.
          properties: Type.Object({
            ...addedEach(placeFields),
            tableLevelSharingProperties: added(Type.Object({}, { additionalProperties: true })),
            dataSetId: Type.String(),
          }),
        }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel: ({ kind, properties }: Body, previous, { principal }) => ({
          kind,
          writer: writerOf(principal, previous?.writer),
          dataSetId: previous?.dataSetId ?? ids.uuid(),
          properties: pick(kind, properties),
        }),
        fromModel: ({ kind, dataSetId, properties }) => ({
          kind,
          properties: {
            ...properties,
            ...(kind === 'SqlDBTable' && properties['schemaName'] === undefined
              ? { schemaName: 'dbo' }
              : {}),
            dataSetId,
          },
        }),
      },
    ],
    async prepare(context, body: Body) {
      // What is shared in place refers to an engine that is not here: nothing is used, so nothing is asked.
      if (ruleOf(body.kind).family === 'none') return body
      await requireLinkedAuthorization(context, places, 'source', body)
      return body
    },
    sample: {
      name: (seed) => `set-${seed}`,
      body: () => ({
        kind: 'KustoCluster',
        properties: {
          kustoClusterResourceId: '/subscriptions/a/providers/Vendor.Kusto/clusters/one',
        },
      }),
      changed: () => ({
        kind: 'KustoCluster',
        properties: {
          kustoClusterResourceId: '/subscriptions/a/providers/Vendor.Kusto/clusters/two',
        },
      }),
    },
  })
}
