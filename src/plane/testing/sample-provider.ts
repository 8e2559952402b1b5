/**
 * A provider for the plane's tests: the scopes of the `resources` provider, and a long-running type over the sample
 * engine with nested and extension types. It shows that a provider needs nothing but `declare/`.
 */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { defineProvider, type Provider, type ResourceType } from '../declare/provider.ts'
import { defineReconciled, defineReconciler, StepFailure } from '../declare/reconciled.ts'
import { defineStored, type StoredMembers } from '../declare/stored.ts'
import { type SampleEngine, SampleEngineFailure } from './sample-engine.ts'

export interface Widget {
  readonly parts: readonly string[]
  readonly secret: string
  readonly note: string | null
}

type Step = { readonly make: string } | { readonly unmake: string }

const anyName = { pattern: /^[a-zA-Z0-9-]{1,30}$/, rule: '1 to 30 letters, digits and hyphens' }

const widgetBody = Type.Object({
  location: Type.Optional(Type.String()),
  properties: Type.Object({
    parts: Type.Array(Type.String({ minLength: 1, maxLength: 10 }), { maxItems: 5 }),
    secret: Type.Optional(Type.String()),
    note: Type.Optional(Type.String()),
  }),
})

interface WidgetWire {
  readonly properties: {
    readonly parts: string[]
    readonly secret?: string
    readonly note?: string
  }
}

function widgets(engine: SampleEngine, type: string): ResourceType {
  return defineReconciled<Widget>({
    type,
    description: 'Things made of parts.',
    scope: 'resource-group',
    tracked: { location: 'required' },
    name: anyName,
    versions: [
      {
        date: '2024-01-01',
        body: widgetBody,
        answer: Type.Object({ properties: Type.Object({}) }),
        unknownProperties: 'refuse',
        toModel(body: WidgetWire, previous) {
          const { parts, secret, note } = body.properties
          return { parts, secret: secret ?? previous?.secret ?? '', note: note ?? null }
        },
        fromModel: (model, view) => ({
          properties: {
            provisioningState: view.state,
            parts: model.parts,
            ...(model.note === null ? {} : { note: model.note }),
            made: view.observed ?? [],
          },
        }),
        patch: {
          body: Type.Object({
            properties: Type.Optional(Type.Object({ note: Type.Optional(Type.String()) })),
          }),
          apply: (body: { properties?: { note?: string } }, previous) => ({
            ...previous,
            note: body.properties?.note ?? previous.note,
          }),
        },
      },
    ],
    rules({ desired }) {
      return new Set(desired.parts).size === desired.parts.length
        ? []
        : [{ path: 'properties.parts', message: 'names a part twice' }]
    },
    reconcile: defineReconciler<Widget, readonly string[], Step>({
      deadlineSeconds: 60,
      retryAfterSeconds: 1,
      states: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting' },
      async observe({ token }) {
        return translate(() => engine.look(token))
      },
      next({ desired }, made) {
        const wanted = desired?.parts ?? []
        const extra = made.find((part) => !wanted.includes(part))
        if (extra !== undefined) return { kind: 'step', step: { unmake: extra } }
        const missing = wanted.find((part) => !made.includes(part))
        if (missing === undefined) return { kind: 'done' }
        return engine.forbidden.has(missing)
          ? { kind: 'fail', code: 'PartForbidden', message: `no ${missing} can be made` }
          : { kind: 'step', step: { make: missing } }
      },
      async perform({ token }, step) {
        await translate(() =>
          'make' in step ? engine.make(token, step.make) : engine.unmake(token, step.unmake),
        )
      },
    }),
    actions: {
      strip: {
        method: 'POST',
        description: 'Take all parts away',
        writes: true,
        run: async ({ resource }) => ({
          status: 202,
          model: { ...(resource?.model ?? { secret: '', note: null }), parts: [] },
        }),
      },
      count: {
        method: 'GET',
        description: 'Count the parts',
        run: async ({ resource }) => ({
          status: 200,
          body: { count: resource?.model.parts.length ?? 0 },
        }),
      },
      measure: {
        method: 'POST',
        description: 'Measure the parts, and record it elsewhere',
        countsAsRead: true,
        run: async () => ({ status: 200, body: {} }),
      },
    },
    sample: {
      name: (seed) => `widget-${seed}`,
      body: () => ({ location: 'here', properties: { parts: ['a'], secret: 'hush-hush' } }),
      changed: () => ({ location: 'here', properties: { parts: ['a', 'b'], secret: 'hush-hush' } }),
      secrets: ['hush-hush'],
    },
  })
}

async function translate<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SampleEngineFailure) {
      throw new StepFailure('later', 'EngineAway', error.message)
    }
    throw error
  }
}

/** A plain synchronous type with a title as its only property. */
function plain(
  type: string,
  scope: ResourceType['scope'],
  extra: Partial<StoredMembers<{ title: string }>> = {},
): ResourceType {
  return defineStored<{ title: string }>({
    type,
    description: 'A title.',
    scope,
    name: anyName,
    versions: ['2024-01-01', '2024-06-01-preview'].map((date) => ({
      date,
      body: Type.Object({ properties: Type.Object({ title: Type.String({ maxLength: 20 }) }) }),
      answer: Type.Object({ properties: Type.Object({ title: Type.String() }) }),
      unknownProperties: 'ignore' as const,
      toModel: (body: { properties: { title: string } }) => ({ title: body.properties.title }),
      fromModel: (model: { title: string }) => ({ properties: { title: model.title } }),
    })),
    sample: {
      name: (seed) => `one-${seed}`,
      body: () => ({ properties: { title: 'first' } }),
      changed: () => ({ properties: { title: 'second' } }),
    },
    ...extra,
  })
}

/** Subscriptions and groups with only what the plane's tests need. */
function scopes(): Provider {
  const base = {
    description: 'A scope.',
    scope: 'implied',
    tracked: { location: 'required' },
    name: anyName,
  } as const
  const version = (date: string) => ({
    date,
    body: Type.Object({}),
    answer: Type.Object({}),
    unknownProperties: 'ignore' as const,
    toModel: () => ({}),
    fromModel: (_model: object, view: { state: string }) => ({
      properties: { provisioningState: view.state },
    }),
  })
  return defineProvider({
    namespace: 'Resources',
    description: 'Scopes.',
    types: [
      defineStored<object>({
        ...base,
        name: { pattern: /^[0-9a-f-]{36}$/i, rule: 'a UUID' },
        type: 'Resources/subscriptions',
        tracked: { location: 'optional' },
        versions: [version('2020-01-01')],
        container: { createImplicitly: () => ({ model: {} }) },
      }),
      defineStored<object>({
        ...base,
        type: 'Resources/subscriptions/resourceGroups',
        wireType: 'Resources/resourceGroups',
        versions: [version('2021-04-01')],
        container: {
          createImplicitly: () => ({ model: {}, location: 'local' }),
          allowsChildren(group) {
            if (group.state === 'Deleting')
              throw refuse.ResourceGroupBeingDeleted({ name: group.id.text })
          },
        },
      }),
    ],
  })
}

export function sampleProviders(engine: SampleEngine): readonly Provider[] {
  return [
    scopes(),
    defineProvider({
      namespace: 'Sample',
      description: 'Types for tests.',
      types: [
        widgets(engine, 'Sample/widgets'),
        widgets(engine, 'Sample/widgets/gadgets'),
        plain('Sample/widgets/labels', 'resource-group'),
        plain('Sample/notes', 'any', {
          feed: 'notes',
          unique: { key: (id, { title }) => `${id.key}|${title}` },
        }),
        plain('Sample/boards', 'tenant'),
        plain('Sample/tagged', 'subscription', { tracked: { location: 'optional' } }),
      ],
    }),
  ]
}
