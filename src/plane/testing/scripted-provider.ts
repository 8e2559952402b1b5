/**
 * A type for tests whose reconciler is written by the test: it passes `observe`, `next`, `perform` and events. The
 * rest of the type is as plain as possible.
 */

import Type from 'typebox'
import { defineProvider, type Provider } from '../declare/provider.ts'
import { defineReconciled, defineReconciler, type Reconciler } from '../declare/reconciled.ts'

export interface Valve {
  readonly open: boolean
}

export interface ValveScript
  extends Pick<Reconciler<Valve, unknown, string>, 'observe' | 'next'>,
    Partial<
      Pick<
        Reconciler<Valve, unknown, string>,
        'perform' | 'watchEvents' | 'resyncSeconds' | 'background' | 'forget'
      >
    > {}

export const valveDeadlineSeconds = 60

export function scriptedProvider(
  script: ValveScript,
  scope: 'any' | 'resource-group' = 'resource-group',
): Provider {
  return defineProvider({
    namespace: 'Scripted',
    description: 'What a test plays.',
    types: [
      defineReconciled<Valve>({
        type: 'Scripted/valves',
        description: 'Open or shut.',
        scope,
        tracked: { location: 'optional' },
        name: { pattern: /^[a-z0-9-]{1,30}$/, rule: 'letters, digits and hyphens' },
        versions: [
          {
            date: '2024-01-01',
            body: Type.Object({ properties: Type.Object({ open: Type.Boolean() }) }),
            answer: Type.Object({ properties: Type.Object({}) }),
            unknownProperties: 'ignore',
            toModel: (body: { properties: { open: boolean } }) => ({ open: body.properties.open }),
            fromModel: (model, view) => ({
              properties: { open: model.open, provisioningState: view.state },
            }),
          },
        ],
        reconcile: defineReconciler<Valve, unknown, string>({
          deadlineSeconds: valveDeadlineSeconds,
          retryAfterSeconds: 1,
          states: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting' },
          perform: async () => undefined,
          ...script,
        }),
      }),
    ],
  })
}
