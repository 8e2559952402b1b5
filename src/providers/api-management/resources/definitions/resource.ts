/**
 * Other definitions of a service: version sets, products, groups, policy fragments, backends, diagnostics, tags, schemas
 * and releases of APIs. They are stored and answered; no gateway uses them.
 */

import type { ApiError, Problem } from '#kernel/error.ts'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { GetContext } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Reader, Resource } from '#plane/declare/resource.ts'
import { type DeletionContext, defineStored, type RuleContext } from '#plane/declare/stored.ts'
import {
  builtInGroups,
  groupContract,
  isBuiltInGroup,
  readGroup,
} from '../../domain/built-in-groups.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import {
  deletesAlong,
  deletesAlongOrNone,
  isOwnedBy,
  isSubscribedTo,
  subscriptionsOf,
  subscriptionsTo,
  subscriptionType,
} from '../../domain/deleted-along.ts'
import { idRule, revisionOf } from '../../domain/names.ts'
import { apiManagementErrors, refuseFields } from '../../errors.ts'
import { definitionDates } from '../../published-versions.ts'
import { type Api, versionSetIdOf } from '../apis/model.ts'
import { isLinkTo } from '../links/model.ts'
import { type Subscription, scopeAt } from '../subscriptions/model.ts'
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
  tags: {
    says: 'A word that APIs, operations and products may be marked with.',
    sample: { displayName: 'Pets' },
  },
  'apis/schemas': {
    says: 'A schema of what an API takes and answers.',
    sample: { contentType: 'application/json', document: { value: '{}' } },
  },
  'apis/releases': {
    says: 'What is said of an API’s revision to those who call it, once it is the current one.',
    sample: { notes: 'First' },
  },
}

/** The member that a change of the sample writes. */
const changes: Readonly<Partial<Record<Kind, object>>> = {
  diagnostics: { metrics: true },
  'apis/diagnostics': { metrics: true },
  users: { note: 'changed' },
  tags: { displayName: 'Animals' },
  'apis/schemas': { document: { value: '[]' } },
  'apis/releases': { notes: 'changed' },
}

export function definitions(): readonly ResourceType[] {
  // The keys are those of the record above.
  return (Object.keys(described) as Kind[]).map(definitionType)
}

function definitionType(kind: Kind): ResourceType {
  const type = `ApiManagement/service/${kind}`
  const { says, sample } = described[kind]
  const change = changes[kind] ?? { description: 'changed' }
  return defineStored<Definition>({
    type,
    description: says,
    scope: 'resource-group',
    query: {
      ...countedQuery,
      ...(kind === 'products' || kind === 'users' ? { delete: [deleteSubscriptions] } : {}),
    },
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
    ...(kind === 'groups' ? builtIn : {}),
    ...(kind === 'apiVersionSets' ? { usedBy: refusalWhereUsed } : {}),
    ...(kind === 'products' ? { onlyPutShows: groupsOfProduct, ...withSubscriptions } : {}),
    ...(kind === 'users' ? { onlyPutShows: groupsOfUser, ...withOwnSubscriptions } : {}),
    ...(kind === 'apis/releases' ? { rules: releaseProblems } : {}),
    list: {
      page: countedList<Definition>(
        type,
        {
          name: { type: 'string', read: ({ id }: Resource<Definition>) => nameOf(id) },
          displayName: { type: 'string', read: ({ model }) => textOf(model['displayName']) },
          description: { type: 'string', read: ({ model }) => textOf(model['description']) },
        },
        kind === 'groups'
          ? { unstored: ({ reader, parent }) => builtInGroups(reader, parent) }
          : {},
      ),
    },
    sample: {
      name: (seed) => `definition-${seed}`,
      body: () => ({ properties: sample }),
      changed: () => ({ properties: { ...sample, ...change } }),
      ...(kind === 'loggers' ? { secrets: ['hush-logger'] } : {}),
    },
  })
}

/** Built-in groups are read like others, and stay as they are. */
const builtIn = {
  source: { get: shownBuiltInGroup },
  rules: ({ id }: { readonly id: ResourceId }) =>
    isBuiltInGroup(id) ? [{ path: 'name', message: 'is the name of a built-in group' }] : [],
  deleteRules: ({ id }: { readonly id: ResourceId }) => {
    if (isBuiltInGroup(id)) {
      throw refuseFields([
        { path: 'name', message: 'a built-in group stays as long as its service' },
      ])
    }
  },
}

/** An API shows the set that it belongs to, so the set stays as long as the API. APIs may have megabytes each. */
async function refusalWhereUsed({
  id,
  reader,
  signal,
}: DeletionContext): Promise<ApiError | undefined> {
  const type = 'ApiManagement/service/apis'
  for await (const { id: api, model } of reader.each({ type, under: parentOf(id) })) {
    signal?.throwIfAborted()
    // A row of that type, made by its `toModel`.
    if (versionSetIdOf(api, model as Api)?.key !== id.key) continue
    return apiManagementErrors.refuse.VersionSetInUse({ name: nameOf(id), api: nameOf(api) })
  }
  return undefined
}

const deleteSubscriptions = 'deleteSubscriptions'

/** A subscription to a product that is gone would be to nothing. */
const withSubscriptions = deletesAlongOrNone<Definition>({
  type: subscriptionType,
  parameter: deleteSubscriptions,
  find: ({ id, reader }) => subscriptionsTo(reader, id),
  // A row of subscriptions, made by its `toModel`.
  isOne: ({ id }, found) => scopeAt(found.id, found.model as Subscription).toLowerCase() === id.key,
  isAnyLeft: ({ id, reader }) => isSubscribedTo(reader, id),
  whyNot: () =>
    'Product cannot be deleted since it has existing subscriptions: delete them before it, or all of them with deleteSubscriptions=true',
})

/** Without the parameter, they stay: nobody signs in with a user. */
const withOwnSubscriptions = deletesAlong<Definition>({
  type: subscriptionType,
  parameter: deleteSubscriptions,
  find: ({ id, reader }) => subscriptionsOf(reader, id),
  isOne: ({ id }, found) => isOwnedBy(id, found),
})

async function shownBuiltInGroup({ id, reader, words }: GetContext): Promise<object | undefined> {
  if (!isBuiltInGroup(id)) return undefined
  const found = await readGroup(reader, id)
  if (found === undefined) return undefined
  // Its model is a definition of that file.
  const properties = found.model as Definition
  const type = qualify(words, 'ApiManagement/service/groups')
  return { id: found.id.text, name: nameOf(found.id), type, properties }
}

/** Administrators see every product; other groups are linked to it. */
async function groupsOfProduct({
  id,
  reader,
}: Context & { readonly id: ResourceId }): Promise<object> {
  const type = 'ApiManagement/service/products/groups'
  const links = await reader.list({ type, under: id, limit: shownGroupsMax })
  const byName = new Map(links.map((link) => [nameOf(link.id).toLowerCase(), link]))
  return groupsNamed(reader, id, ['administrators', ...byName.keys()], (group) => {
    const link = byName.get(nameOf(group.id).toLowerCase())
    return link === undefined || isLinkTo(link, group)
  })
}

/** Of one product, in the answer of its PUT. */
const shownGroupsMax = 100

/** Every user is a developer. */
function groupsOfUser({ id, reader }: Context & { readonly id: ResourceId }): Promise<object> {
  return groupsNamed(reader, id, ['developers'])
}

/**
 * A release is of the current revision, named with or without its number. Another one would have to become the current one
 * by it, with its operations: see the README.
 */
async function releaseProblems({
  id,
  reader,
  desired,
}: RuleContext<Definition>): Promise<readonly Problem[]> {
  const api = parentOf(id)
  const found = await reader.get(api)
  const given = textOf(desired['apiId'])
  if (found === undefined || given === undefined) return []
  // A row of that type, made by its `toModel`.
  const { apiRevision } = found.model as Api
  const at = childOf(parentOf(api), 'apis', given.replace(/^.*\/apis\//i, ''))
  const isCurrent = [api.key, `${api.key};rev=${apiRevision}`].includes(at.key)
  if (revisionOf(api) === undefined && isCurrent) return []
  const message = `only the current revision is released: '${nameOf(found.id)}' or its revision ${apiRevision}`
  return [{ path: 'properties.apiId', message }]
}

async function groupsNamed(
  reader: Reader,
  sibling: ResourceId,
  names: readonly string[],
  isShown = (_group: Resource): boolean => true,
): Promise<object> {
  const found = await Promise.all(
    [...new Set(names)].map((name) =>
      readGroup(reader, childOf(parentOf(sibling), 'groups', name)),
    ),
  )
  const groups = found.filter((group) => group !== undefined).filter(isShown)
  return { groups: groups.map(groupContract) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
