/** The wire form of deployment stacks in 2024-03-01 and in the versions that known clients send. */

import Type, { type Static } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { added } from '#plane/declare/added.ts'
import type { Version, View } from '#plane/declare/wire.ts'
import { showStack } from '../../../domain/stacks/show.ts'
import type { DeploymentStack, StackProgress } from '../model.ts'

const action = Type.Enum(['delete', 'detach'])
/**
 * They are compared at each write of what hundreds of stacks may deny. Actions have some forty characters; two hundred may be
 * named.
 */
const excludedCharactersMax = 16 * 1024

/** The language parses the template and its parameters, and reports problems in more detail. */
export const stackBody = Type.Object({
  location: Type.Optional(Type.String({ maxLength: 100 })),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  properties: Type.Object({
    actionOnUnmanage: Type.Object({
      resources: action,
      resourceGroups: Type.Optional(action),
      managementGroups: Type.Optional(action),
    }),
    denySettings: Type.Object({
      mode: Type.Enum(['denyDelete', 'denyWriteAndDelete', 'none']),
      excludedPrincipals: Type.Optional(
        Type.Array(Type.String({ format: 'uuid' }), { maxItems: 5 }),
      ),
      excludedActions: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { maxItems: 200 }),
      ),
      applyToChildScopes: Type.Optional(Type.Boolean()),
    }),
    deploymentScope: Type.Optional(Type.String({ maxLength: 2000 })),
    description: Type.Optional(Type.String({ maxLength: 4096 })),
    bypassStackOutOfSyncError: Type.Optional(Type.Boolean()),
  }),
})

const reference = Type.Object({ id: Type.String() })
const answer = Type.Object({
  location: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  properties: Type.Object({
    provisioningState: Type.String(),
    correlationId: Type.String(),
    deploymentId: Type.String(),
    deploymentScope: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    duration: Type.String(),
    actionOnUnmanage: Type.Object({}),
    denySettings: Type.Object({}),
    parameters: Type.Object({}),
    outputs: Type.Optional(Type.Object({})),
    resources: Type.Array(
      Type.Object({ id: Type.String(), status: Type.String(), denyStatus: Type.String() }),
    ),
    deletedResources: Type.Array(reference),
    detachedResources: Type.Array(reference),
    failedResources: Type.Array(Type.Object({ id: Type.String(), error: Type.Object({}) })),
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        details: added(Type.Array(Type.Object({}, { additionalProperties: true }))),
      }),
    ),
  }),
})

/** The body after `prepare`. */
export interface PreparedStack {
  readonly stack: DeploymentStack
}

const v2024_03_01: Version<DeploymentStack> = {
  date: '2024-03-01',
  body: stackBody,
  answer,
  unknownProperties: 'ignore',
  patch: 'none',
  problems({ properties: { denySettings } }: Static<typeof stackBody>): readonly Problem[] {
    const { excludedActions = [] } = denySettings
    const characters = excludedActions.reduce((sum, { length }) => sum + length, 0)
    if (characters <= excludedCharactersMax) return []
    const message = `all of them together may have no more than ${excludedCharactersMax} characters`
    return [{ path: 'properties.denySettings.excludedActions', message }]
  },
  // Only its own template knows what is secure in it, so arguments and template are recorded nowhere.
  withoutSecrets(body: object) {
    const { properties, ...rest } = body as { readonly properties?: unknown }
    if (!isJsonObject(properties)) return rest
    const kept = Object.entries(properties).filter(
      ([name]) => !/^(parameters|externalInputs|template)$/i.test(name),
    )
    return { ...rest, properties: Object.fromEntries(kept) }
  },
  toModel: ({ stack }: PreparedStack, previous) => ({
    ...stack,
    memberId: previous?.memberId ?? stack.memberId,
  }),
  fromModel(model: DeploymentStack, { state, observed }: View) {
    // Only the reconciler of this type writes it.
    const progress = isJsonObject(observed) ? (observed as unknown as StackProgress) : undefined
    return showStack(model, state, progress)
  },
}

export const stackVersions: readonly Version<DeploymentStack>[] = [
  { ...v2024_03_01, date: '2022-08-01-preview' },
  v2024_03_01,
]
