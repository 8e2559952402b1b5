/**
 * Other definitions of a service: version sets, products, groups, policy fragments, backends, diagnostics. They are
 * stored and answered; no gateway uses them.
 */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { definitionDates } from '../../published-versions.ts'
import type { Definition } from './model.ts'
import { definition, type definitionShapes } from './versions/2021-08-01.ts'

type Kind = keyof typeof definitionShapes

const described: Readonly<Record<Kind, { readonly says: string; readonly sample: object }>> = {
  apiVersionSets: {
    says: 'Versions of an API that belong together, and how a caller names one.',
    sample: { displayName: 'Pets', versioningScheme: 'Segment' },
  },
  products: {
    says: 'APIs that are offered together.',
    sample: { displayName: 'Pets', subscriptionRequired: false },
  },
  groups: {
    says: 'Developers who see the same products.',
    sample: { displayName: 'Keepers', type: 'custom' },
  },
  policyFragments: {
    says: 'A piece that policies include.',
    sample: { value: '<fragment />' },
  },
  backends: {
    says: 'Where an API is carried out.',
    sample: { url: 'https://backend.example', protocol: 'http' },
  },
  loggers: {
    says: 'Where calls are to be logged. Its credentials are named in answers, and kept nowhere.',
    sample: { loggerType: 'azureEventHub', credentials: { connectionString: 'hush-logger' } },
  },
  users: {
    says: 'A developer who subscribes to products. Nobody signs in with it.',
    sample: { firstName: 'Ada', lastName: 'Example', email: 'ada@example.test' },
  },
  diagnostics: {
    says: 'What is to be logged of the calls of a service.',
    sample: { loggerId: '/loggers/one' },
  },
  'apis/diagnostics': {
    says: 'What is to be logged of the calls of an API.',
    sample: { loggerId: '/loggers/one' },
  },
}

export function definitions(): readonly ResourceType[] {
  // The keys are those of the record above.
  return (Object.keys(described) as Kind[]).map(definitionType)
}

function definitionType(kind: Kind): ResourceType {
  const type = `ApiManagement/service/${kind}`
  const { says, sample } = described[kind]
  const change = kind.endsWith('diagnostics')
    ? { metrics: true }
    : kind === 'users'
      ? { note: 'changed' }
      : { description: 'changed' }
  return defineStored<Definition>({
    type,
    description: says,
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(256),
    movable: true,
    versions: definitionDates.map((date) => definition(kind, date)),
    protocol: {
      headStatus: 200,
      anyMatchCreates: true,
      ...(kind === 'policyFragments'
        ? { answers: { created: { leadsTo: 'operation' as const } } }
        : {}),
    },
    ...(kind === 'loggers' ? { secrets: 'not-kept' as const } : {}),
    list: {
      page: countedList<Definition>(type, {
        name: { type: 'string', read: ({ id }: Resource<Definition>) => nameOf(id) },
        displayName: { type: 'string', read: ({ model }) => textOf(model['displayName']) },
        description: { type: 'string', read: ({ model }) => textOf(model['description']) },
      }),
    },
    sample: {
      name: (seed) => `definition-${seed}`,
      body: () => ({ properties: sample }),
      changed: () => ({ properties: { ...sample, ...change } }),
      ...(kind === 'loggers' ? { secrets: ['hush-logger'] } : {}),
    },
  })
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
