/** Deployments on the wire, version 2025-03-01 (template facts 5), and the versions that known clients send, of one shape. */

import Type from 'typebox'
import { isJsonObject } from '#kernel/patch.ts'
import { added } from '#plane/declare/added.ts'
import type { Version, View } from '#plane/declare/wire.ts'
import { showDeployment } from '../../../domain/deployments/show.ts'
import type { Deployment, Progress } from '../model.ts'

/** Lenient: what is inside is read by the language, which says more of what is wrong. */
export const deploymentBody = Type.Object({
  location: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  properties: Type.Object({
    mode: Type.Optional(
      Type.Unsafe<string>({ type: 'string', pattern: '^([Ii]ncremental|[Cc]omplete)$' }),
    ),
  }),
})

const answer = Type.Object({
  location: Type.Optional(Type.String()),
  properties: Type.Object({
    provisioningState: Type.String(),
    correlationId: Type.String(),
    timestamp: Type.String(),
    duration: Type.String(),
    mode: Type.String(),
    templateHash: Type.String(),
    parameters: Type.Object({}),
    outputs: Type.Optional(Type.Object({})),
    outputResources: Type.Array(Type.Object({ id: Type.String() })),
    providers: added(Type.Array(Type.Object({}, { additionalProperties: true }))),
    templateLink: added(
      Type.Object({
        uri: added(Type.String()),
        id: added(Type.String()),
        contentVersion: added(Type.String()),
      }),
    ),
    onErrorDeployment: added(
      Type.Object({
        type: Type.String(),
        deploymentName: Type.String(),
        provisioningState: added(Type.String()),
      }),
    ),
    debugSetting: added(Type.Object({ detailLevel: Type.String() })),
    validationLevel: added(Type.String()),
    dependencies: added(Type.Array(Type.Object({}, { additionalProperties: true }))),
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        details: added(Type.Array(Type.Object({}, { additionalProperties: true }))),
      }),
    ),
  }),
})

/** A body as `prepare` hands it on. */
export interface PreparedBody {
  readonly deployment: Deployment
}

const v2025_03_01: Version<Deployment> = {
  date: '2025-03-01',
  body: deploymentBody,
  answer,
  unknownProperties: 'ignore',
  patch: 'none',
  toModel: (body: PreparedBody) => body.deployment,
  fromModel(model: Deployment, view: View) {
    // Written by the reconciler of this type alone.
    const progress = isJsonObject(view.observed)
      ? (view.observed as unknown as Progress)
      : undefined
    return showDeployment(model, view.state, progress)
  },
}

export const deploymentVersions: readonly Version<Deployment>[] = [
  '2020-06-01',
  '2020-10-01',
  '2021-01-01',
  '2021-04-01',
  '2022-09-01',
  '2024-03-01',
  '2024-11-01',
  '2025-03-01',
  '2025-04-01',
].map((date) => (date === v2025_03_01.date ? v2025_03_01 : { ...v2025_03_01, date }))
