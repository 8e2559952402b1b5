/** Mappings: where a consumer's copy of a data set goes. What nothing would be copied for is refused here. */

import Type from 'typebox'
import { type Principal, writerOf } from '#kernel/principal.ts'
import { isWithin, parentOf } from '#kernel/resource-id.ts'
import { addedEach } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled, defineReconciler } from '#plane/declare/reconciled.ts'
import { proxyName, type ShareDependencies, types, version } from '../../dependencies.ts'
import {
  type Kind,
  type KindProperties,
  kindProblems,
  mappingRefusal,
  pairRefusal,
  placeFields,
  type Resolved,
} from '../../domain/kinds.ts'
import { requireLinkedAuthorization } from '../../domain/linked-authorization.ts'
import { grantedShare } from '../../domain/share-of.ts'
import { refuseShare } from '../../errors.ts'
import { findDataSet } from '../consumer-source-data-sets/resource.ts'
import { type DataSet, kindSchema, pick } from '../data-sets/resource.ts'

export interface DataSetMapping {
  readonly kind: Kind
  readonly dataSetId: string
  readonly dataSetKey: string
  readonly outputType?: 'Csv' | 'Parquet'
  readonly properties: KindProperties
  /** What it names, for finding those that would write to the same place. */
  readonly target: { readonly place: string; readonly path: string }
  /** Its right to what is named is asked at each synchronization. */
  readonly writer?: Principal
}

interface Body {
  readonly kind: Kind
  readonly properties: KindProperties & {
    readonly dataSetId: string
    readonly outputType?: 'Csv' | 'Parquet'
  }
  /** Put in by `prepare`. */
  readonly found?: Pick<DataSetMapping, 'dataSetKey' | 'target'>
}

const resyncSeconds = 600
const siblingsMax = 5000

export function dataSetMappings(deps: ShareDependencies): ResourceType {
  const { reader, grants, places } = deps
  return defineReconciled<DataSetMapping>({
    type: types.mappings,
    description: 'Where the copy of a data set goes.',
    scope: 'resource-group',
    name: proxyName,
    versions: [
      {
        date: version,
        body: Type.Object({
          kind: kindSchema,
          properties: Type.Object({
            dataSetId: Type.String({ minLength: 1, maxLength: 100 }),
            outputType: Type.Optional(Type.Union([Type.Literal('Csv'), Type.Literal('Parquet')])),
          }),
        }),
        problems({ kind, properties }: Body) {
          const refusal = mappingRefusal(kind)
          if (refusal !== undefined) {
            return [{ path: 'kind', message: refusal, code: 'DataSetKindNotSupported' }]
          }
          return kindProblems(kind, properties)
        },
        answer: Type.Object({
          kind: kindSchema,
          // Which of them, the kind says.
          properties: Type.Object({
            ...addedEach({ ...placeFields, outputType: Type.String() }),
            dataSetId: Type.String(),
            dataSetMappingStatus: Type.String(),
            provisioningState: Type.String(),
          }),
        }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel({ kind, properties, found }: Body, previous, { principal }) {
          if (found === undefined) throw new Error('a mapping is prepared')
          const { dataSetId, outputType } = properties
          return {
            kind,
            dataSetId: dataSetId.toLowerCase(),
            ...(outputType === undefined ? {} : { outputType }),
            properties: pick(kind, properties),
            ...found,
            writer: writerOf(principal, previous?.writer),
          }
        },
        fromModel: ({ kind, dataSetId, outputType, properties }, { state, observed }) => ({
          kind,
          properties: {
            ...properties,
            dataSetId,
            ...(outputType === undefined ? {} : { outputType }),
            // Written by the reconciler below.
            dataSetMappingStatus: (observed as Seen | undefined)?.status ?? 'Ok',
            provisioningState: state,
          },
        }),
      },
    ],
    async prepare(context, body: Body) {
      const { dataSetId, outputType } = body.properties
      const share = await grantedShare(deps, await grants.grantAt(parentOf(context.id).key))
      const source =
        share === undefined ? undefined : await findDataSet(reader, share.id.key, dataSetId)
      if (source === undefined) throw refuseShare.DataSetNotFound({ id: dataSetId })
      const refusal = pairRefusal(source.model.kind, body.kind, outputType)
      if (refusal !== undefined) throw refuseShare.DataSetKindNotSupported({ reason: refusal })
      const target = await requireLinkedAuthorization(context, places, 'target', body)
      return { ...body, found: { dataSetKey: source.id.key, target: placeOf(target) } }
    },
    async rules({ id, desired, reader: inside }) {
      // Only mappings of the same account are compared: others are told apart by what is in the target at their first
      // write.
      const others = inside.each({
        type: types.mappings,
        under: parentOf(parentOf(id)),
        limit: siblingsMax,
      })
      for await (const other of others) {
        if (other.id.key === id.key) continue
        // Rows of this type hold this model.
        const { target } = other.model as DataSetMapping
        if (target.place === desired.target.place && overlap(target.path, desired.target.path)) {
          throw refuseShare.DataSetMappingConflict({ id: other.id.text })
        }
      }
      return []
    },
    reconcile: defineReconciler<DataSetMapping, Seen, never>({
      deadlineSeconds: 60,
      retryAfterSeconds: 1,
      resyncSeconds,
      states: { creating: 'Creating', updating: 'Creating', deleting: 'Deleting' },
      async observe({ id, model }) {
        const { dataSetKey } = model
        const share = await grantedShare(deps, await grants.grantAt(parentOf(id).key))
        const isOfShare = share !== undefined && isWithin(dataSetKey, share.id.key)
        const source = isOfShare ? await reader.get(dataSetKey) : undefined
        // The key is of that type, so is its model.
        const same = (source?.model as DataSet | undefined)?.dataSetId === model.dataSetId
        return { status: same ? 'Ok' : 'Broken' }
      },
      next: () => ({ kind: 'done' }),
      perform: async () => undefined,
      watchEvents: (wake, signal) => deps.wakes.onWake(wake, signal),
    }),
  })
}

interface Seen {
  readonly status: 'Ok' | 'Broken'
}

export function placeOf(resolved: Resolved): DataSetMapping['target'] {
  return resolved.kind === 'objects'
    ? { place: `${resolved.account.key}|${resolved.container}`, path: resolved.path }
    : {
        place: `${resolved.server.key}|${resolved.database}`,
        path: `${resolved.schema}.${resolved.table}`,
      }
}

function overlap(left: string, right: string): boolean {
  if (left === '' || right === '') return true
  return `${left}/`.startsWith(`${right}/`) || `${right}/`.startsWith(`${left}/`)
}
